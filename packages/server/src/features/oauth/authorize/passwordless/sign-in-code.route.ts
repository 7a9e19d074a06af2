/** email-code, with a sign-in: sends a code or a link to the address of the sign-in page, and takes the code. */
import { type EmailCode, findEmailCode } from "../../../../core/email-codes/email-codes.store.ts";
import { offersMail } from "../../../../core/organisations/sign-in-methods.ts";
import { isEmail } from "../../../../core/users/user.ts";
import type { PageForm } from "../../../../http/form-body.ts";
import { continueFlow, flowPath, hasValidCsrfToken, redirectTo, show, type Visit } from "../browser.ts";
import { withEmail, withoutEmail } from "../flow.ts";
import { flowPage } from "../page-request.ts";
import { ownFactors } from "../sign-in/own-factors.ts";
import { continueWithEmail } from "../sign-in/password-session.ts";
import { showLogin } from "../sign-in/show-login.ts";
import { type CurrentFlow, readSealedFlow } from "../take-step.ts";
import { type EmailCodeFailure, emailCodePage } from "./email-code.page.ts";
import { checkSignInCode, codeKey, type MailSignInDeps, sendSignInMail } from "./sign-in-code.ts";

export async function showSignInCode(deps: MailSignInDeps, visit: Visit, sealed: string): Promise<void> {
  const current = await readSealedFlow(deps, visit, sealed);
  if (!current) return;
  const sent = await findSent(deps, visit);
  // Nothing waits in this browser: the sign-in begins again.
  return sent ? showPage(deps, visit, { current, sent }) : continueFlow(deps, visit, current.flow);
}

const findSent = (deps: MailSignInDeps, visit: Visit): Promise<EmailCode | undefined> =>
  findEmailCode(deps.database.query, codeKey(deps, visit));

export async function receiveSignInCode(deps: MailSignInDeps, visit: Visit, form: PageForm): Promise<void> {
  const { values } = form;
  const current = await readSealedFlow(deps, visit, values.get("flow"));
  if (!current) return;
  const sent = await findSent(deps, visit);
  const email = (values.get("email") ?? "").trim().slice(0, 300);
  if (!hasValidCsrfToken(deps, visit, form)) return showExpired(deps, visit, { current, sent }, email);
  // What the organisation has closed meanwhile, and what was typed by hand.
  if (!offersMail(visit.organisation.settings)) return continueFlow(deps, visit, current.flow);
  switch (values.get("act")) {
    case "send":
    case "send-link":
      return send(deps, visit, { current, sent: undefined }, email, values.get("act") === "send-link");
    case "resend":
      if (!sent) return continueFlow(deps, visit, current.flow);
      return send(deps, visit, { current, sent }, sent.email, sent.linkHash !== null);
    case "other":
      return continueFlow(deps, visit, withoutEmail(current.flow));
    default:
      if (!sent) return continueFlow(deps, visit, current.flow);
      return checkCode(deps, visit, { current, sent }, values.get("email-code") ?? "");
  }
}

interface Here {
  readonly current: CurrentFlow;
  readonly sent: EmailCode | undefined;
}

function showExpired(deps: MailSignInDeps, visit: Visit, { current, sent }: Here, email: string) {
  const failure = { error: "session-expired", status: 403 } as const;
  if (sent && email === "") return showPage(deps, visit, { current, sent }, failure);
  return showLogin(deps, visit, { ...current, email, ...failure });
}

async function send(
  deps: MailSignInDeps,
  visit: Visit,
  { current, sent }: Here,
  email: string,
  wantsLink: boolean,
): Promise<void> {
  const { signInMethods } = visit.organisation.settings;
  if (
    !isEmail(email) ||
    !signInMethods.includes(wantsLink ? "magicLink" : "emailCode") ||
    !deps.outbox.isOpen
  )
    return continueFlow(deps, visit, current.flow);
  const flow = withEmail(current.flow, email);
  const own = await ownFactors(deps, visit, current, email);
  if (own.kind === "closed")
    return redirectTo(visit, flowPath(deps, visit, `connections/${own.connectionId}/start`, flow));
  const limited = await sendSignInMail(deps, visit, { ...current, flow }, { email, hasLink: wantsLink });
  if (!limited) return redirectTo(visit, flowPath(deps, visit, "email-code", flow));
  const failure = { error: "rate-limited", status: 429, ...limited } as const;
  if (sent) return showPage(deps, visit, { current, sent }, failure);
  return showLogin(deps, visit, { flow, request: current.request, email, ...failure });
}

async function checkCode(
  deps: MailSignInDeps,
  visit: Visit,
  here: Here & { readonly sent: EmailCode },
  typed: string,
): Promise<void> {
  const account = await checkSignInCode(deps, visit, here.current, typed);
  if (typeof account === "string") return showPage(deps, visit, here, { error: account, status: 401 });
  return continueWithEmail(deps, visit, here.current, account);
}

interface Shown {
  readonly error?: EmailCodeFailure;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
}

async function showPage(
  deps: MailSignInDeps,
  visit: Visit,
  { current, sent }: Here & { readonly sent: EmailCode },
  { status = 200, ...failure }: Shown = {},
): Promise<void> {
  const { page: frame, redirectsElsewhere } = flowPage(deps, visit, current, undefined, "email-code");
  const { signInCode, recovery, connections } = frame.messages;
  const names = { email: sent.email, organisation: frame.organisation.name };
  const isLink = sent.linkHash !== null;
  const page = emailCodePage({
    ...frame,
    hidden: { csrf: frame.csrf, flow: frame.flow },
    heading: recovery.sentHeading,
    sentTo: sent.email,
    sent: isLink ? signInCode.sentLink(names) : signInCode.sentCode(names),
    codeLabel: isLink ? signInCode.codeOfLink : connections.emailCode.code,
    ...failure,
  });
  return show(visit, frame, page, { status, redirectsElsewhere });
}
