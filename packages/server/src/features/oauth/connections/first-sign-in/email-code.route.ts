/** GET and POST email-code: the code for an address that an identity provider's word is not enough for. The same for every address. */
import type { FastifyInstance } from "fastify";
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import { deleteEmailCode, findEmailCode } from "../../../../core/email-codes/email-codes.store.ts";
import { takeEmailCode } from "../../../../core/email-codes/email-codes.ts";
import { isEmail } from "../../../../core/users/user.ts";
import { parsedForm, parseQuery } from "../../../../http/form-body.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import {
  browserRoute,
  hasValidCsrfToken,
  orgPath,
  pageFormOptions,
  redirectTo,
  show,
  type Visit,
} from "../../authorize/browser.ts";
import { type EmailCodeFailure, emailCodePage } from "../../authorize/passwordless/email-code.page.ts";
import { receiveSignInCode, showSignInCode } from "../../authorize/passwordless/sign-in-code.route.ts";
import type { ConnectionDeps } from "../connection-visit.ts";
import { showConnectionError } from "../show-connection-error.ts";
import { continueProven, sendCode } from "./continue-resolved.ts";
import { endPending, type PendingVisit, pendingPage, readPending } from "./pending-visit.ts";

export function emailCodeRoutes(app: FastifyInstance, deps: ConnectionDeps): void {
  app.get("/oauth/:org/email-code", browserRoute(deps, showEmailCode));
  app.post("/oauth/:org/email-code", pageFormOptions, browserRoute(deps, receiveEmailCode));
}

/** With a sign-in in its address it is the code that signs in; else the one of a first sign-in at an identity provider. */
async function showEmailCode(deps: ConnectionDeps, visit: Visit): Promise<void> {
  const sealed = parseQuery(visit.request).values.get("flow");
  if (sealed !== undefined) return showSignInCode(deps, visit, sealed);
  const here = await readPending(deps, visit);
  if (!here) return;
  if (here.pending.email !== null) return redirectTo(visit, orgPath(visit.organisation, "link-account"));
  return showPage(deps, visit, here, {});
}

async function receiveEmailCode(deps: ConnectionDeps, visit: Visit): Promise<void> {
  const form = parsedForm(visit.request);
  if (form.values.has("flow")) return receiveSignInCode(deps, visit, form);
  const here = await readPending(deps, visit);
  if (!here) return;
  const again = () => redirectTo(visit, orgPath(visit.organisation, "email-code"));
  if (here.pending.email !== null) return again();
  if (!hasValidCsrfToken(deps, visit, form))
    return showPage(deps, visit, here, { error: "session-expired", status: 403 });
  const email = (form.values.get("email") ?? "").trim().slice(0, 300);
  switch (form.values.get("act")) {
    case "send":
      return send(deps, visit, here, email);
    case "resend": {
      const before = await findEmailCode(deps.database.query, here.pending);
      return before ? send(deps, visit, here, before.email) : again();
    }
    case "other":
      await deleteEmailCode(deps.database.query, here.pending);
      return again();
    default:
      return checkCode(deps, visit, here, form.values.get("email-code") ?? "");
  }
}

async function send(deps: ConnectionDeps, visit: Visit, here: PendingVisit, email: string): Promise<void> {
  const { connection, current, pending } = here;
  if (!isEmail(email)) return showPage(deps, visit, here, { email, error: "invalid-email", status: 422 });
  const { holderHash } = pending;
  const limited = await sendCode(deps, visit, { connection, holderHash, email, current });
  if (limited) return showPage(deps, visit, here, { email, error: "rate-limited", status: 429, ...limited });
  return redirectTo(visit, orgPath(visit.organisation, "email-code"));
}

async function checkCode(
  deps: ConnectionDeps,
  visit: Visit,
  here: PendingVisit,
  typed: string,
): Promise<void> {
  const { connection, current, pending } = here;
  const { orgId, holderHash } = pending;
  const act = { orgId, actor: "anonymous", address: addressOf(visit.request), target: connection.id };
  const code = typed.replaceAll(/[\s-]/g, "");
  const taken = await takeEmailCode(deps, { ...act, holderHash, code });
  if (typeof taken === "string") return showPage(deps, visit, here, { error: taken, status: 401 });
  try {
    await continueProven(deps, visit, here, taken.email);
  } catch (error) {
    if (!(error instanceof ConnectionSignInFailure)) throw error;
    await endPending(deps, visit, here);
    await showConnectionError(deps, visit, { connection, failure: error, flow: current.flow });
  }
}

interface Shown {
  readonly email?: string;
  readonly error?: EmailCodeFailure;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
}

async function showPage(
  deps: ConnectionDeps,
  visit: Visit,
  here: PendingVisit,
  { status = 200, email, ...failure }: Shown,
): Promise<void> {
  const sent = await findEmailCode(deps.database.query, here.pending);
  const { frame, redirectsElsewhere } = pendingPage(deps, visit, here, "email-code");
  const text = frame.messages.connections.emailCode;
  const page = emailCodePage({
    ...frame,
    hidden: { csrf: frame.csrf },
    heading: text.heading,
    codeLabel: text.code,
    ask: text.ask({ connection: frame.connection.name, organisation: frame.organisation.name }),
    sentTo: sent?.email,
    email: email ?? here.pending.identity.user.email,
    ...failure,
  });
  return show(visit, frame, page, { status, redirectsElsewhere });
}
