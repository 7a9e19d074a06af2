/** The first page of a sign-in: password or passkey, and the choice among accounts. */
import { requestOptions } from "../../../../core/second-factors/passkeys/passkeys.ts";
import type { SignedIn } from "../../../../core/sessions/session.ts";
import { passkeyScript } from "../../../../html/scripts.ts";
import {
  type BrowserDeps,
  formBinding,
  orgPath,
  pageFrame,
  pageOrganisation,
  show,
  type Visit,
  whoIsThere,
} from "../browser.ts";
import type { Flow } from "../flow.ts";
import { destinationOf, type PageRequest } from "../page-request.ts";
import type { AuthorizationRequest } from "../request/authorization-request.ts";
import { accountPage } from "./account.page.ts";
import { type LoginFailure, loginPage } from "./login.page.ts";

export interface LoginShown {
  readonly flow: Flow;
  readonly request: AuthorizationRequest | PageRequest;
  /** What was typed; never the password. */
  readonly email?: string | undefined;
  readonly error?: LoginFailure;
  readonly retryAfterSeconds?: number;
  readonly status?: number;
}

/** A page may lie open for a while before a passkey is chosen from it. */
const CHALLENGE_MS = 60 * 60_000;

export async function showLogin(deps: BrowserDeps, visit: Visit, shown: LoginShown): Promise<void> {
  const { organisation } = visit;
  const { flow, request } = shown;
  const again = await whoConfirms(deps, visit, request);
  const frame = pageFrame(visit, request.uiLocales, again);
  const { application, leadsAway } = destinationOf(request, organisation, frame.messages);
  const { browser, csrf } = formBinding(deps, visit);
  const page = loginPage({
    ...frame,
    organisation: pageOrganisation(organisation),
    application,
    action: orgPath(organisation, "login"),
    csrf,
    flow: deps.flows.seal(flow),
    recoveryUri: `${orgPath(organisation, "recovery")}?flow=${deps.flows.seal(flow)}`,
    email: shown.email ?? request.loginHint ?? again?.email,
    isAgain: again !== undefined,
    passkey: passkeyRequest(deps, organisation.id, browser),
    script: passkeyScript.path,
    ...(shown.error === undefined ? {} : { error: shown.error }),
    ...(shown.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: shown.retryAfterSeconds }),
  });
  if (shown.retryAfterSeconds !== undefined)
    visit.reply.header("retry-after", String(shown.retryAfterSeconds));
  return show(visit, frame, page, {
    status: shown.status ?? 200,
    leadsAway,
  });
}

/** Whoever is signed in, on the way to a page of our own that asks for a fresh sign-in. */
async function whoConfirms(
  deps: BrowserDeps,
  visit: Visit,
  request: LoginShown["request"],
): Promise<SignedIn["user"] | undefined> {
  if (!("page" in request) || !request.isConfirmation) return undefined;
  return (await whoIsThere(deps, visit))?.user;
}

/** Any passkey that the browser has for us: it says whose it is. */
function passkeyRequest({ secondFactors, clock }: BrowserDeps, orgId: string, browser: string): string {
  const { challenges, relyingParty } = secondFactors;
  const challenge = challenges.issue({ orgId, use: "sign-in", browser }, clock() + CHALLENGE_MS);
  return JSON.stringify(requestOptions({ relyingParty, challenge, userVerification: "required" }));
}

export async function showAccountChoice(
  deps: BrowserDeps,
  visit: Visit,
  { flow, request }: Pick<LoginShown, "flow" | "request">,
  { user }: SignedIn,
): Promise<void> {
  const frame = pageFrame(visit, request.uiLocales, user);
  const { application, leadsAway } = destinationOf(request, visit.organisation, frame.messages);
  const name = [user.firstname, user.surname].filter((part) => part !== "").join(" ");
  const page = accountPage({
    ...frame,
    organisation: pageOrganisation(visit.organisation),
    application,
    action: orgPath(visit.organisation, "authorize"),
    csrf: formBinding(deps, visit).csrf,
    flow: deps.flows.seal(flow),
    user: { email: user.email, ...(name === "" ? {} : { name }) },
  });
  return show(visit, frame, page, { leadsAway });
}
