/**
 * The links of registrations, invitations, roaming and new addresses: GET shows a button, because mail scanners follow
 * links; POST does it, once. It signs nobody in.
 */
import type { FastifyInstance } from "fastify";
import { completeAction } from "../../../core/actions/complete-action.ts";
import { type OpenedAction, openAction } from "../../../core/actions/opened-action.ts";
import { needsNewPassword } from "../../../core/actions/user-action.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { type PasswordHasher, PasswordQueueFull } from "../../../core/passwords/password-hasher.ts";
import { PASSWORD_MAX_LENGTH, passwordFault } from "../../../core/passwords/password-policy.ts";
import { formOf, type PageForm } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import { type BrowserDeps, isOwnForm, orgPath, ownForm, show, type Visit } from "../authorize/browser.ts";
import { type ActionFailure, actionPage, type PageActionType } from "./action.page.ts";
import { donePage } from "./new-password.page.ts";
import { showBrokenLink } from "./opened-link.ts";
import { hiddenOf, surroundings } from "./recovery-context.ts";

export interface ActionPageDeps extends BrowserDeps {
  readonly passwords: PasswordHasher;
}

export function actionPageRoutes(app: FastifyInstance, deps: ActionPageDeps): void {
  app.get(
    "/oauth/:org/action/:id/:type",
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      const opened = await openHere(deps, visit);
      if (opened) await showForm(deps, visit, opened, {});
      else await showBrokenLink(deps, visit, "VerifyEmail");
      return visit.reply;
    }),
  );
  app.post(
    "/oauth/:org/action/:id/:type",
    ownForm,
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      await processForm(deps, visit, formOf(visit.request));
      return visit.reply;
    }),
  );
}

interface OpenedHere extends OpenedAction {
  readonly type: PageActionType;
}

/** Undefined for another organisation's, and for those that have a page of their own. */
async function openHere(
  deps: BrowserDeps,
  { organisation, request }: Visit,
): Promise<OpenedHere | undefined> {
  const { id = "", type = "" } = request.params as { id?: string; type?: string };
  const opened = await openAction(deps, { id, type });
  if (!opened || opened === "expired" || opened.organisation.id !== organisation.id) return undefined;
  const { action } = opened;
  if (action.type === "ResetPassword") return undefined;
  return { ...opened, type: action.type };
}

async function processForm(deps: ActionPageDeps, visit: Visit, form: PageForm): Promise<void> {
  const opened = await openHere(deps, visit);
  if (!opened) return showBrokenLink(deps, visit, "VerifyEmail");
  const again = (shown: FormShown) => showForm(deps, visit, opened, shown);
  if (!isOwnForm(deps, visit, form)) return again({ error: "session-expired", status: 403 });
  const password = needsNewPassword(opened.type) ? (form.values.get("password") ?? "") : undefined;
  const { passwordMinLength: minLength } = visit.organisation.settings;
  const fault =
    password === undefined ? undefined : await passwordFault(password, { minLength, about: opened.about });
  if (fault) return again({ error: fault, status: 422 });
  try {
    if (await act(deps, visit, opened, password)) return await showDone(deps, visit, opened);
    return await showBrokenLink(deps, visit, "VerifyEmail");
  } catch (error) {
    if (!(error instanceof PasswordQueueFull)) throw error;
    const { retryAfterSeconds } = error;
    visit.reply.header("retry-after", String(retryAfterSeconds));
    return again({ error: "busy", status: 503, retryAfterSeconds });
  }
}

async function act(
  deps: ActionPageDeps,
  { request }: Visit,
  { action, id }: OpenedHere,
  password: string | undefined,
): Promise<boolean> {
  const userAgent = request.headers["user-agent"];
  const origin = { address: addressOf(request), ...(userAgent === undefined ? {} : { userAgent }) };
  const withPassword = password === undefined ? {} : { passwordHash: await deps.passwords.hash(password) };
  return completeAction(deps, { action, id, origin, ...withPassword });
}

interface FormShown {
  readonly error?: ActionFailure;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
}

async function showForm(
  deps: BrowserDeps,
  visit: Visit,
  { id, type, action, reader }: OpenedHere,
  { status = 200, ...shown }: FormShown,
): Promise<void> {
  const around = await surroundings(deps, visit, undefined, reader);
  const page = actionPage({
    ...around,
    ...around.frame,
    ...shown,
    action: orgPath(visit.organisation, `action/${id}/${type}`),
    hidden: hiddenOf(deps, visit, undefined),
    type,
    email: action.data.email,
    newEmail: action.data.newEmail,
    password: needsNewPassword(type)
      ? { leastLength: visit.organisation.settings.passwordMinLength, mostLength: PASSWORD_MAX_LENGTH }
      : undefined,
  });
  return show(visit, around.frame, page, { status });
}

async function showDone(deps: BrowserDeps, visit: Visit, { type, reader }: OpenedHere): Promise<void> {
  const around = await surroundings(deps, visit, undefined, reader);
  const words = around.frame.messages.action[type];
  const { name } = around.organisation;
  const page = donePage({
    ...around,
    ...around.frame,
    heading: words.doneHeading,
    text: words.done({ organisation: name }),
  });
  return show(visit, around.frame, page);
}
