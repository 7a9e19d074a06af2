/** Shows the pages of a sign-in without a second factor: login, the choice of account, and "not assigned". */
import type { Application } from "../../../../core/applications/application.ts";
import { listSignInButtons } from "../../../../core/connections/connections.store.ts";
import { hasRoutedDomain, servedKinds } from "../../../../core/domains/routed-sign-in.ts";
import type { Organisation } from "../../../../core/organisations/organisation.ts";
import {
  isMailMethod,
  offersMail,
  offersPasskeySignIn,
  type SignInMethod,
} from "../../../../core/organisations/sign-in-methods.ts";
import { factorOwner } from "../../../../core/second-factors/factor-status.ts";
import { requestOptions } from "../../../../core/second-factors/passkeys/passkeys.ts";
import { findFactorSummary } from "../../../../core/second-factors/second-factors.store.ts";
import type { SignedIn } from "../../../../core/sessions/session.ts";
import type { User } from "../../../../core/users/user.ts";
import { signInScript } from "../../../../html/scripts.ts";
import {
  type BrowserDeps,
  currentSession,
  flowPath,
  formBinding,
  orgPath,
  pageApplication,
  pageFrame,
  show,
  type Visit,
} from "../browser.ts";
import { type Flow, identifiedEmail, withAnotherAccount, withoutEmail } from "../flow.ts";
import { type FlowRequest, flowPage } from "../page-request.ts";
import { accountPage } from "./account.page.ts";
import { type LoginFailure, loginPage } from "./login.page.ts";
import { notAssignedPage } from "./not-assigned.page.ts";

export interface LoginState extends FlowRequest {
  readonly email?: string | undefined;
  readonly error?: LoginFailure;
  readonly unknownCredential?: string | undefined;
  readonly retryAfterSeconds?: number;
  readonly status?: number;
  /** A password came with the address: what is shown again is the second page. */
  readonly hasPassword?: boolean;
  /** The form of break-glass administrators: no email, no connection. */
  readonly isBreakGlass?: boolean;
}

/** The page may stay open for a while before a passkey is used. */
const CHALLENGE_MS = 60 * 60_000;

export async function showLogin(deps: BrowserDeps, visit: Visit, state: LoginState): Promise<void> {
  const { flow, request, email, hasPassword = false, status = 200, isBreakGlass = false } = state;
  const { error, unknownCredential, retryAfterSeconds } = state;
  const confirming =
    "page" in request && request.isConfirmation ? await currentSession(deps, visit) : undefined;
  const shared = flowPage(
    deps,
    visit,
    { flow, request },
    confirming?.user,
    isBreakGlass ? "break-glass" : "login",
  );
  const { redirectsElsewhere } = shared;
  const known = identifiedEmail(flow) ?? confirming?.user.email ?? (hasPassword ? email : undefined);
  const isEmailFirst = !isBreakGlass && (await asksEmailFirst(deps, visit.organisation));
  const page = loginPage({
    ...shared.page,
    stage: isEmailFirst ? (known === undefined ? "email" : "methods") : undefined,
    mailAction: orgPath(visit.organisation, "email-code"),
    otherAddressUri: confirming ? undefined : flowPath(deps, visit, "authorize", withoutEmail(flow)),
    recoveryUri: isBreakGlass ? undefined : flowPath(deps, visit, "recovery", flow),
    email: (isEmailFirst ? known : undefined) ?? email ?? request.loginHint ?? confirming?.user.email,
    methods: isBreakGlass ? breakGlassMethods(visit.organisation) : offeredMethods(deps, visit.organisation),
    signUpUri: offersSignUp(visit.organisation, confirming, isBreakGlass)
      ? flowPath(deps, visit, "sign-up", withoutEmail(flow))
      : undefined,
    isReauthentication: confirming !== undefined,
    isPasskeyFirst: confirming !== undefined && (await hasPasskey(deps, confirming.user)),
    connections: isBreakGlass ? [] : await connectionLinks(deps, visit, flow),
    passkey: passkeyOptions(deps, visit.organisation.id, shared.browser),
    script: signInScript.path,
    ...{ error, retryAfterSeconds },
    signals: unknownCredential === undefined ? undefined : unknownPasskey(deps, unknownCredential),
  });
  if (retryAfterSeconds !== undefined) visit.reply.header("retry-after", String(retryAfterSeconds));
  return show(visit, shared.page, page, { status, redirectsElsewhere, leadsUpstream: isEmailFirst });
}

/** Whether the page asks for the address alone: what signs it in may depend on it, or be an email to it. */
export const asksEmailFirst = async (
  { database }: BrowserDeps,
  { id, settings }: Organisation,
): Promise<boolean> => offersMail(settings) || hasRoutedDomain(database.query, id);

const offersSignUp = (
  { settings }: Organisation,
  confirming: SignedIn | undefined,
  isBreakGlass: boolean,
): boolean => settings.signUp.mode !== "off" && confirming === undefined && !isBreakGlass;

/** Emails only where there is a mail server, unless nothing else is left. */
function offeredMethods({ outbox }: BrowserDeps, { settings }: Organisation): readonly SignInMethod[] {
  const { signInMethods } = settings;
  const withoutMail = signInMethods.filter((method) => !isMailMethod(method));
  return outbox.isOpen || withoutMail.length === 0 ? signInMethods : withoutMail;
}

/** Whatever else is offered: who has the password must have a second factor as well. */
const breakGlassMethods = ({ settings }: Organisation): readonly SignInMethod[] =>
  offersPasskeySignIn(settings) ? ["password", "passkey"] : ["password"];

async function connectionLinks(deps: BrowserDeps, visit: Visit, flow: Flow) {
  const { id: orgId } = visit.organisation;
  const offered = await listSignInButtons(deps.database.query, orgId, servedKinds);
  return offered.map(({ id, name }) => ({
    ...{ id, name, uri: flowPath(deps, visit, `connections/${id}/start`, flow) },
  }));
}

const unknownPasskey = ({ secondFactors: { relyingParty } }: BrowserDeps, credentialId: string) => ({
  signalUnknownCredential: { rpId: relyingParty.id, credentialId },
});

async function hasPasskey({ database }: BrowserDeps, user: User): Promise<boolean> {
  return (await findFactorSummary(database.query, factorOwner(user))).passkeys > 0;
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
  current: FlowRequest,
  { user }: SignedIn,
): Promise<void> {
  const { page: shared, redirectsElsewhere } = flowPage(deps, visit, current, user, "authorize");
  const name = [user.firstname, user.surname].filter((part) => part !== "").join(" ");
  const page = accountPage({ ...shared, user: { email: user.email, ...(name === "" ? {} : { name }) } });
  return show(visit, shared, page, { redirectsElsewhere });
}

interface DeniedUser extends FlowRequest {
  readonly user: User;
  readonly application?: Application;
}

/** For a user who is not assigned to the application, in every flow: OAuth, federation, device. */
export async function showNotAssigned(
  deps: BrowserDeps,
  visit: Visit,
  { flow, request, user, application = request.application }: DeniedUser,
): Promise<void> {
  if (!application) throw new Error("a page without an application denies no user");
  const frame = pageFrame(visit, request.uiLocales, user);
  const prompts = request.prompts.filter((prompt) => prompt === "consent");
  const action = orgPath(visit.organisation, "authorize");
  const hasClient = !("page" in request);
  const page = notAssignedPage({
    ...frame,
    application: pageApplication(application),
    user: { email: user.email },
    contacts: application.settings.contacts,
    otherAccountUri: flowPath(deps, visit, "authorize", withAnotherAccount(flow, prompts, deps.clock())),
    ...(hasClient
      ? { back: { action, csrf: formBinding(deps, visit).csrf, flow: deps.flows.seal(flow) } }
      : {}),
  });
  return show(visit, frame, page, { status: 403, redirectsElsewhere: true });
}
