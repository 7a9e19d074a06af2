/**
 * GET and POST sign-up/{id}, behind the link in the email: a name, a password and the terms. The link proves the address, and works
 * once; only now is there an account, or a sign-up that waits for an administrator. GET changes nothing, because mail scanners
 * follow links, and tells later what has become of it.
 */
import { sha256Base64url } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { findOpenAction } from "../../../core/actions/actions.ts";
import type { UserAction } from "../../../core/actions/user-action.ts";
import { takesPasswords } from "../../../core/organisations/sign-in-methods.ts";
import { PASSWORD_MAX_LENGTH, passwordFault } from "../../../core/passwords/password-policy.ts";
import { completeSignUp, type SignUpOutcome } from "../../../core/sign-ups/complete-sign-up.ts";
import { maySignUp } from "../../../core/sign-ups/may-sign-up.ts";
import { findSignUpOfLink, type SignUpState } from "../../../core/sign-ups/sign-ups.store.ts";
import { emailKey, isPersonName } from "../../../core/users/user.ts";
import { findSignInAccount, findUserByEmail } from "../../../core/users/users.store.ts";
import { type PageForm, parsedForm } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { retryAfterFullQueue } from "../../../page-kit/full-queue.ts";
import {
  browserRoute,
  currentSession,
  hasValidCsrfToken,
  orgPath,
  type PasswordDeps,
  pageFormOptions,
  redirectTo,
  show,
  type Visit,
} from "../authorize/browser.ts";
import { continueWithEmail, continueWithPassword } from "../authorize/sign-in/password-session.ts";
import { readFlow } from "../authorize/take-step.ts";
import { showBrokenLink } from "../recovery/link.ts";
import { formFields, loadRecoveryContext } from "../recovery/recovery-context.ts";
import { type CompletionFailure, completionPage, signUpStatePage } from "./complete.page.ts";
import { accountFlow, isHolder, requireSignUp, withoutCreate } from "./sign-up-flow.ts";

export function completeSignUpRoute(app: FastifyInstance, deps: PasswordDeps): void {
  app.get("/oauth/:org/sign-up/:id", browserRoute(deps, showLink));
  app.post("/oauth/:org/sign-up/:id", pageFormOptions, browserRoute(deps, complete));
}

interface SignUpLink {
  readonly id: string;
  readonly action: UserAction;
}

/** Undefined too where the organisation has closed sign-up for the address since, or has an account of it. */
async function openSignUpLink(deps: PasswordDeps, { organisation, request }: Visit) {
  const { id = "" } = request.params as { id?: string };
  const { query } = deps.database;
  const action = await findOpenAction(query, deps, { orgId: organisation.id, type: "SignUp", id });
  if (!action) return undefined;
  const { email } = action.data;
  if ((await maySignUp(query, organisation, email)).kind !== "allowed") return undefined;
  const isTaken = await findUserByEmail(query, organisation.id, emailKey(email));
  return isTaken ? undefined : { id, action };
}

async function showLink(deps: PasswordDeps, visit: Visit): Promise<void> {
  const link = await openSignUpLink(deps, visit);
  return link ? showForm(deps, visit, link) : showUsedLink(deps, visit);
}

const shownStates: Readonly<Record<SignUpState, "created" | "waiting" | "rejected">> = {
  approved: "created",
  waiting: "waiting",
  rejected: "rejected",
};

async function showUsedLink(deps: PasswordDeps, visit: Visit): Promise<void> {
  const { organisation, request } = visit;
  const { id = "" } = request.params as { id?: string };
  const key = { orgId: organisation.id, linkHash: sha256Base64url(id) };
  const signUp = await findSignUpOfLink(deps.database.query, key);
  if (!signUp || signUp.expiresAt <= deps.clock()) return showBrokenLink(deps, visit, "SignUp");
  return showState(deps, visit, shownStates[signUp.state], signUp);
}

async function showState(
  deps: PasswordDeps,
  visit: Visit,
  state: "created" | "waiting" | "rejected",
  { email, locale }: { readonly email: string; readonly locale: string | null },
): Promise<void> {
  const context = await loadRecoveryContext(deps, visit, undefined, { locale });
  return show(visit, context, signUpStatePage({ ...context, state, email }));
}

interface Typed {
  readonly firstname: string;
  readonly surname: string;
  readonly password: string;
  readonly isTermsAccepted: boolean;
}

const readTyped = ({ values }: PageForm, version: string | undefined): Typed => ({
  firstname: (values.get("firstname") ?? "").trim().slice(0, 200),
  surname: (values.get("surname") ?? "").trim().slice(0, 200),
  password: values.get("password") ?? "",
  // Of the version that was shown.
  isTermsAccepted: values.get("terms-accept") === "yes" && values.get("terms-version") === version,
});

async function complete(deps: PasswordDeps, visit: Visit): Promise<void> {
  requireSignUp(visit.organisation);
  const link = await openSignUpLink(deps, visit);
  if (!link) return showUsedLink(deps, visit);
  const { settings, id: orgId } = visit.organisation;
  const form = parsedForm(visit.request);
  const typed = readTyped(form, settings.signUp.terms?.version);
  if (!hasValidCsrfToken(deps, visit, form))
    return showForm(deps, visit, link, { ...typed, error: "session-expired", status: 403 });
  const fault = await findFault(visit, link, typed);
  if (fault) return showForm(deps, visit, link, { ...typed, error: fault, status: 422 });
  try {
    const passwordHash = takesPasswords(settings) ? await deps.passwords.hash(typed.password, orgId) : null;
    return await answer(deps, visit, link, await finish(deps, visit, link, { ...typed, passwordHash }));
  } catch (error) {
    const retryAfterSeconds = retryAfterFullQueue(deps, visit, error);
    return showForm(deps, visit, link, { ...typed, error: "busy", status: 503, retryAfterSeconds });
  }
}

async function findFault(
  { organisation: { settings } }: Visit,
  { action: { data } }: SignUpLink,
  { firstname, surname, password, isTermsAccepted }: Typed,
): Promise<CompletionFailure | undefined> {
  if (![firstname, surname].every((name) => name !== "" && isPersonName(name))) return "name";
  const about = [data.email, firstname, surname];
  const limits = { minLength: settings.passwordMinLength, about };
  const fault = takesPasswords(settings) ? await passwordFault(password, limits) : undefined;
  return fault ?? (settings.signUp.terms && !isTermsAccepted ? "terms" : undefined);
}

async function finish(
  deps: PasswordDeps,
  visit: Visit,
  { id, action }: SignUpLink,
  { firstname, surname, passwordHash }: Typed & { readonly passwordHash: string | null },
): Promise<SignUpOutcome> {
  const { organisation, request } = visit;
  const { terms } = organisation.settings.signUp;
  const { messages } = await loadRecoveryContext(deps, visit, undefined, undefined);
  return completeSignUp(deps, {
    ...{ organisation, action, id, firstname, surname, passwordHash, locale: messages.locale },
    address: addressOf(request),
    terms: terms && { version: terms.version, acceptedAt: deps.clock() },
  });
}

async function answer(
  deps: PasswordDeps,
  visit: Visit,
  link: SignUpLink,
  outcome: SignUpOutcome,
): Promise<void> {
  const { organisation } = visit;
  switch (outcome.kind) {
    case "void":
      return showBrokenLink(deps, visit, "SignUp");
    case "waiting":
      return redirectTo(visit, orgPath(organisation, `sign-up/${link.id}`));
    case "created":
      if (await signIn(deps, visit, link)) return;
      return showState(deps, visit, "created", { email: link.action.data.email, locale: null });
  }
}

/**
 * Where the browser is the one that has asked, its sign-in goes on; another one gets to the account, unless somebody is signed in
 * there: nobody becomes somebody else by a link.
 * @returns false when no answer was sent
 */
async function signIn(deps: PasswordDeps, visit: Visit, { action }: SignUpLink): Promise<boolean> {
  const { organisation } = visit;
  const { email, holderHash, flow: sealed } = action.data;
  const isOwn = isHolder(deps, visit, holderHash);
  if (!isOwn && (await currentSession(deps, visit))) return false;
  const asked = isOwn ? deps.flows.open(sealed, organisation.id, deps.clock()) : undefined;
  const account = await findSignInAccount(deps.database.query, organisation.id, emailKey(email));
  if (!account) return false;
  const flow = asked ? withoutCreate(asked) : accountFlow(deps, visit);
  const current = await readFlow(deps, visit, flow);
  if (current && account.passwordHash === null) await continueWithEmail(deps, visit, current, account);
  else if (current) await continueWithPassword(deps, visit, current, account);
  return true;
}

interface FormState extends Partial<Typed> {
  readonly error?: CompletionFailure;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
}

async function showForm(
  deps: PasswordDeps,
  visit: Visit,
  { id, action }: SignUpLink,
  {
    status = 200,
    password: _,
    firstname = "",
    surname = "",
    isTermsAccepted = false,
    ...shown
  }: FormState = {},
): Promise<void> {
  const { settings } = visit.organisation;
  const { terms } = settings.signUp;
  const context = await loadRecoveryContext(deps, visit, action.data.flow, undefined);
  const version = terms ? [{ name: "terms-version", value: terms.version }] : [];
  const page = completionPage({
    ...{ ...context, ...shown, firstname, surname, isTermsAccepted, terms, email: action.data.email },
    action: orgPath(visit.organisation, `sign-up/${id}`),
    hidden: [...formFields(deps, visit), ...version],
    password: takesPasswords(settings)
      ? { leastLength: settings.passwordMinLength, mostLength: PASSWORD_MAX_LENGTH }
      : undefined,
  });
  return show(visit, context, page, { status });
}
