/** Shows the first page of a sign-in: password or passkey, or the choice of account. */
import { requestOptions } from "../../../../core/second-factors/passkeys/passkeys.ts";
import type { SignedIn } from "../../../../core/sessions/session.ts";
import { passkeyScript } from "../../../../html/scripts.ts";
import {
  type BrowserDeps,
  flowPath,
  formBinding,
  orgPath,
  pageFrame,
  show,
  type Visit,
  whoIsThere,
} from "../browser.ts";
import type { Flow } from "../flow.ts";
import { type PageRequest, signInDestination } from "../page-request.ts";
import type { AuthorizationRequest } from "../request/authorization-request.ts";
import { accountPage } from "./account.page.ts";
import { type LoginFailure, loginPage } from "./login.page.ts";

export interface LoginState {
  readonly flow: Flow;
  readonly request: AuthorizationRequest | PageRequest;
  readonly email?: string | undefined;
  readonly error?: LoginFailure;
  readonly retryAfterSeconds?: number;
  readonly status?: number;
}

/** The page may stay open for a while before a passkey is used. */
const CHALLENGE_MS = 60 * 60_000;

export async function showLogin(
  deps: BrowserDeps,
  visit: Visit,
  { flow, request, email, status = 200, ...failure }: LoginState,
): Promise<void> {
  const { organisation } = visit;
  const confirming = "page" in request && request.isConfirmation ? await whoIsThere(deps, visit) : undefined;
  const frame = pageFrame(visit, request.uiLocales, confirming?.user);
  const { application, leadsAway } = signInDestination(request, organisation, frame.messages);
  const { browser, csrf } = formBinding(deps, visit);
  const page = loginPage({
    ...frame,
    application,
    action: orgPath(organisation, "login"),
    csrf,
    flow: deps.flows.seal(flow),
    recoveryUri: flowPath(deps, visit, "recovery", flow),
    email: email ?? request.loginHint ?? confirming?.user.email,
    isReauthentication: confirming !== undefined,
    passkey: passkeyOptions(deps, organisation.id, browser),
    script: passkeyScript.path,
    ...failure,
  });
  if (failure.retryAfterSeconds !== undefined)
    visit.reply.header("retry-after", String(failure.retryAfterSeconds));
  return show(visit, frame, page, { status, leadsAway });
}

/** Accepts any passkey of this server: the passkey identifies the user. */
function passkeyOptions({ secondFactors, clock }: BrowserDeps, orgId: string, browser: string): string {
  const { challenges, relyingParty } = secondFactors;
  const challenge = challenges.issue({ orgId, use: "sign-in", browser }, clock() + CHALLENGE_MS);
  return JSON.stringify(requestOptions({ relyingParty, challenge, userVerification: "required" }));
}

export async function showAccountChoice(
  deps: BrowserDeps,
  visit: Visit,
  { flow, request }: Pick<LoginState, "flow" | "request">,
  { user }: SignedIn,
): Promise<void> {
  const frame = pageFrame(visit, request.uiLocales, user);
  const { application, leadsAway } = signInDestination(request, visit.organisation, frame.messages);
  const name = [user.firstname, user.surname].filter((part) => part !== "").join(" ");
  const page = accountPage({
    ...frame,
    application,
    action: orgPath(visit.organisation, "authorize"),
    csrf: formBinding(deps, visit).csrf,
    flow: deps.flows.seal(flow),
    user: { email: user.email, ...(name === "" ? {} : { name }) },
  });
  return show(visit, frame, page, { leadsAway });
}
