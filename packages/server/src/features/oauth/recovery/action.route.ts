/**
 * The links of registrations, invitations, roaming and changed addresses: GET shows a button, POST completes the action
 * once. A password that was chosen here signs in: the link proved the mailbox. The second factor is still decided as at
 * every sign-in.
 */
import type { FastifyInstance } from "fastify";
import { type OpenedAction, openAction } from "../../../core/actions/actions.ts";
import { completeAction } from "../../../core/actions/complete-action.ts";
import { needsNewPassword } from "../../../core/actions/user-action.ts";
import type { Connection } from "../../../core/connections/connection.ts";
import { findConnection } from "../../../core/connections/connections.store.ts";
import { isEnforced } from "../../../core/domains/enforced-sign-in.ts";
import { takesPasswords } from "../../../core/organisations/sign-in-methods.ts";
import { PASSWORD_MAX_LENGTH, passwordFault } from "../../../core/passwords/password-policy.ts";
import { emailKey } from "../../../core/users/user.ts";
import { findSignInAccount } from "../../../core/users/users.store.ts";
import { quoted } from "../../../html/displayed-name.ts";
import { parsedForm } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { retryAfterFullQueue } from "../../../page-kit/full-queue.ts";
import {
  type BrowserDeps,
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
import { pageFlow } from "../authorize/page-request.ts";
import { continueWithEmail, continueWithPassword } from "../authorize/sign-in/password-session.ts";
import { readFlow } from "../authorize/take-step.ts";
import { invitedStartUri } from "../connections/first-sign-in/invited.ts";
import { type ActionPurpose, actionPage, type PageActionType } from "./action.page.ts";
import { showBrokenLink } from "./link.ts";
import { donePage, type NewPasswordFailure } from "./new-password.page.ts";
import { formFields, loadRecoveryContext } from "./recovery-context.ts";

export function actionPageRoutes(app: FastifyInstance, deps: PasswordDeps): void {
  app.get("/oauth/:org/action/:id/:type", browserRoute(deps, showAction));
  app.post("/oauth/:org/action/:id/:type", pageFormOptions, browserRoute(deps, complete));
}

interface PageAction extends OpenedAction {
  readonly type: PageActionType;
}

async function showAction(deps: PasswordDeps, visit: Visit): Promise<void> {
  const opened = await openPageAction(deps, visit);
  if (!opened || (await providerOf(deps, opened)) === "gone")
    return showBrokenLink(deps, visit, "VerifyEmail");
  return showForm(deps, visit, opened);
}

/** Where an invitation is accepted; undefined: here. */
async function providerOf(
  { database }: BrowserDeps,
  { action: { orgId, data } }: PageAction,
): Promise<Connection | "gone" | undefined> {
  const { connectionId: id } = data;
  if (id === undefined) return undefined;
  const connection = await findConnection(database.query, { orgId, id });
  return connection?.enabled ? connection : "gone";
}

async function complete(deps: PasswordDeps, visit: Visit): Promise<void> {
  const form = parsedForm(visit.request);
  const opened = await openPageAction(deps, visit);
  if (!opened) return showBrokenLink(deps, visit, "VerifyEmail");
  if (!hasValidCsrfToken(deps, visit, form))
    return showForm(deps, visit, opened, { error: "session-expired", status: 403 });
  const { action, id, about } = opened;
  const provider = await providerOf(deps, opened);
  if (provider === "gone") return showBrokenLink(deps, visit, "VerifyEmail");
  if (provider) return redirectTo(visit, invitedStartUri(deps, visit, { id, connectionId: provider.id }));
  const asksPassword = asksForPassword(visit, action);
  const password = asksPassword ? (form.values.get("password") ?? "") : undefined;
  const { passwordMinLength: minLength } = visit.organisation.settings;
  const fault = password === undefined ? undefined : await passwordFault(password, { minLength, about });
  if (fault) return showForm(deps, visit, opened, { error: fault, status: 422 });
  const userAgent = visit.request.headers["user-agent"];
  const origin = { address: addressOf(visit.request), ...(userAgent === undefined ? {} : { userAgent }) };
  try {
    const hashed: { passwordHash?: string } =
      password === undefined
        ? {}
        : { passwordHash: await deps.passwords.hash(password, visit.organisation.id) };
    const isWithoutPassword = !asksPassword;
    const isCompleted = await completeAction(deps, { action, id, origin, isWithoutPassword, ...hashed });
    if (!isCompleted) return await showBrokenLink(deps, visit, "VerifyEmail");
    const { passwordHash = null } = hashed;
    if (needsNewPassword(action) && (await signIn(deps, visit, opened, passwordHash))) return;
    return await showCompleted(deps, visit, opened);
  } catch (error) {
    const retryAfterSeconds = retryAfterFullQueue(deps, visit, error);
    return showForm(deps, visit, opened, { error: "busy", status: 503, retryAfterSeconds });
  }
}

/** Not where the organisation has closed passwords: the mailbox signs in there. */
const asksForPassword = ({ organisation }: Visit, action: OpenedAction["action"]): boolean =>
  needsNewPassword(action) && takesPasswords(organisation.settings);

/**
 * A session that the browser has stays: nobody becomes somebody else by a link. People of a domain that is enforced sign in by
 * its connection.
 * @returns false when no sign-in step was shown
 */
async function signIn(
  deps: BrowserDeps,
  visit: Visit,
  { action }: OpenedAction,
  passwordHash: string | null,
): Promise<boolean> {
  const { organisation } = visit;
  if (await currentSession(deps, visit)) return false;
  if (await isEnforced(deps.database.query, organisation.id, action.data.email)) return false;
  const account = await findSignInAccount(deps.database.query, organisation.id, emailKey(action.data.email));
  // Of nobody else, and not changed since.
  if (account?.passwordHash !== passwordHash || account.user.disabledAt !== null) return false;
  const page = { place: "account", path: orgPath(organisation, "account") } as const;
  const current = await readFlow(deps, visit, pageFlow(organisation.id, page, deps.clock()));
  if (current && passwordHash === null) await continueWithEmail(deps, visit, current, account);
  else if (current) await continueWithPassword(deps, visit, current, account);
  return true;
}

/** Undefined for an action of another organisation, and for password resets, which have their own page. */
async function openPageAction(
  deps: BrowserDeps,
  { organisation, request }: Visit,
): Promise<PageAction | undefined> {
  const { id = "", type = "" } = request.params as { id?: string; type?: string };
  const opened = await openAction(deps, { id, type });
  if (!opened || opened === "expired" || opened.organisation.id !== organisation.id) return undefined;
  const { action } = opened;
  return action.type === "ResetPassword" || action.type === "SignUp"
    ? undefined
    : { ...opened, type: action.type };
}

async function showForm(
  deps: BrowserDeps,
  visit: Visit,
  opened: PageAction,
  failure: { error?: NewPasswordFailure; status?: number; retryAfterSeconds?: number } = {},
): Promise<void> {
  const { id, type, action, reader } = opened;
  const context = await loadRecoveryContext(deps, visit, undefined, reader);
  const { status = 200, ...shown } = failure;
  const provider = await providerOf(deps, opened);
  const page = actionPage({
    ...context,
    ...shown,
    connection: typeof provider === "object" ? provider.name : undefined,
    action: orgPath(visit.organisation, `action/${id}/${type}`),
    hidden: formFields(deps, visit),
    purpose: purposeOf(visit, opened),
    email: action.data.email,
    newEmail: action.data.newEmail,
    password: asksForPassword(visit, action)
      ? { leastLength: visit.organisation.settings.passwordMinLength, mostLength: PASSWORD_MAX_LENGTH }
      : undefined,
  });
  return show(visit, context, page, { status });
}

function purposeOf(visit: Visit, { type, action }: PageAction): ActionPurpose {
  if (type === "AcceptInvitation" && action.data.connectionId !== undefined) return "InvitationByConnection";
  if (asksForPassword(visit, action)) return action.data.registration ? "Registration" : type;
  return type === "AcceptInvitation" ? "InvitationByEmail" : type;
}

async function showCompleted(deps: BrowserDeps, visit: Visit, opened: PageAction): Promise<void> {
  const context = await loadRecoveryContext(deps, visit, undefined, opened.reader);
  const text = context.messages.action[purposeOf(visit, opened)];
  const name = quoted(context.messages, context.organisation.name);
  return show(
    visit,
    context,
    donePage({
      ...context,
      heading: text.doneHeading,
      text: text.done({ organisation: name }),
      isSignedIn: (await currentSession(deps, visit)) !== undefined,
    }),
  );
}
