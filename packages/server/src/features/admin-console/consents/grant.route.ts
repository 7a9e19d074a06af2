/** Administrators grant consent: for everyone, for one user, or ahead of any request (pre-authorization). */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { findApplication } from "../../../core/applications/applications.store.ts";
import {
  createPreauthorization,
  grantByAdministrator,
  InvalidConsent,
  PreauthorizationExists,
} from "../../../core/consents/consents.ts";
import { listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { emailKey } from "../../../core/users/user.ts";
import { findSignInAccount } from "../../../core/users/users.store.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import {
  acceptOneTimeForm,
  applyOnce,
  duplicateSubmission,
  type SentForm,
} from "../../../page-kit/accept-form.ts";
import { consoleFrame, pageMessages } from "../../../page-kit/console-frame.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import { readSearch } from "../../../page-kit/list-page.ts";
import {
  auditContext,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  queryString,
  redirectTo,
  requestPath,
  requireRecentAuthentication,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import type { ConsentsTab } from "./consents.page.ts";
import { applicationsLike, MAX_CHOICES } from "./consents.store.ts";
import { chooseApplicationPage, type GrantInput, grantPage } from "./grant.page.ts";

export function grantRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/consents/new", {
    get: (_, visit) => showGrant(deps, visit, "consents"),
    post: (_, visit) => grant(deps, visit, "consents"),
  });
  consoleRoute(app, deps, "/oauth/manage/:org/preauthorizations/new", {
    get: (_, visit) => showGrant(deps, visit, "preauthorizations"),
    post: (_, visit) => grant(deps, visit, "preauthorizations"),
  });
}

/** @throws NotFound */
async function requireApplication(
  { database }: ConsoleDeps,
  { organisation }: Visit,
  id = "",
): Promise<Application> {
  const application = isUuid(id)
    ? await findApplication(database.query, organisation.id, id.toLowerCase())
    : undefined;
  if (!application) throw new NotFound("application");
  return application;
}

async function showGrant(deps: ConsoleDeps, visit: Visit, tab: ConsentsTab): Promise<void> {
  const { values } = parseQuery(visit.request);
  const id = values.get("application");
  const search = readSearch(values);
  const returnTo = `${requestPath(visit)}${queryString({ application: id, search })}`;
  const signedIn = await requireRecentAuthentication(deps, visit, returnTo);
  if (id === undefined) return showApplications(deps, visit, signedIn, { tab, search });
  const application = await requireApplication(deps, visit, id);
  const input = { forWhom: "organisation", email: "", scopes: [] };
  await showForm(deps, visit, signedIn, { tab, application, input });
}

async function showApplications(
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  { tab, search }: { tab: ConsentsTab; search: string },
): Promise<void> {
  const { id: orgId } = visit.organisation;
  const found = await applicationsLike(deps.database.query, orgId, search, MAX_CHOICES + 1);
  const frame = await consoleFrame(deps, visit, signedIn, "consents");
  const page = chooseApplicationPage({
    ...frame,
    ...{ tab, search },
    action: requestPath(visit),
    applications: found.slice(0, MAX_CHOICES),
    hasMore: found.length > MAX_CHOICES,
  });
  await show(visit, frame, page);
}

async function showForm(
  deps: ConsoleDeps,
  visit: Visit,
  signedIn: SignedIn,
  { tab, application, ...shown }: FormShown<GrantInput> & { tab: ConsentsTab; application: Application },
): Promise<void> {
  const custom = await listCustomScopes(deps.database.query, visit.organisation.id);
  await showFormPage(deps, visit, signedIn, "consents", shown, (view) => {
    const standard = new Map(Object.entries(view.messages.scopes));
    const textOf = (name: string) =>
      custom.find((scope) => scope.name === name)?.displayName ??
      standard.get(name) ??
      view.messages.consent.customScope({ name });
    const scopes = application.settings.allowedScopes.map((name) => ({ name, text: textOf(name) }));
    return grantPage({ ...view, tab, application, scopes });
  });
}

const readInput = ({ values, all }: SentForm): GrantInput => ({
  forWhom: values.get("forWhom") ?? "",
  email: (values.get("email") ?? "").trim().slice(0, 254),
  scopes: all("scopes"),
});

async function grant(deps: ConsoleDeps, visit: Visit, tab: ConsentsTab): Promise<void> {
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const application = await requireApplication(deps, visit, form.values.get("application"));
  const input = readInput(form);
  const rerender = (shown: Partial<FormShown<GrantInput>>) =>
    showForm(deps, visit, signedIn, { tab, application, input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const messages = pageMessages(visit, signedIn);
  const recipient = await findRecipient(deps, visit, tab, input, messages);
  if ("faults" in recipient) return rerender({ state: recipient, status: 400 });
  const wanted = { ...auditContext(visit, signedIn), application, scopes: input.scopes, ...recipient };
  const listUri = consolePath(visit.organisation, `/${tab}`);
  try {
    const granted = await applyOnce(deps, form, async (inside) => {
      await (tab === "consents" ? grantByAdministrator : createPreauthorization)(inside, wanted);
    });
    if (granted === "duplicate-submission") {
      const result = { label: messages.console.frame.pages.consents, uri: listUri };
      return rerender(duplicateSubmission({ result }));
    }
    await redirectTo(visit, `${listUri}?done=${tab === "consents" ? "granted" : "preauthorized"}`);
  } catch (error) {
    await rerender({ state: { faults: explainFaults(error, messages) }, status: 400 });
  }
}

/** Whom the consent is for, or the faults of the form. */
async function findRecipient(
  { database }: ConsoleDeps,
  { organisation }: Visit,
  tab: ConsentsTab,
  input: GrantInput,
  { console: { consents: text } }: Messages,
): Promise<{ userId?: string } | { faults: Record<string, string> }> {
  const scopes: Record<string, string> = input.scopes.length === 0 ? { scopes: text.faults.scopes } : {};
  const result = (faults: Record<string, string>, found: { userId?: string } = {}) => {
    const all = { ...faults, ...scopes };
    return Object.keys(all).length === 0 ? found : { faults: all };
  };
  if (tab === "preauthorizations" || input.forWhom === "organisation") return result({});
  if (input.forWhom !== "user") return result({ forWhom: text.faults.forWhom });
  const account = await findSignInAccount(database.query, organisation.id, emailKey(input.email));
  return account ? result({}, { userId: account.user.id }) : result({ email: text.faults.email });
}

/** @throws every error that is not about what was chosen */
function explainFaults(error: unknown, { console: { consents: text } }: Messages): Record<string, string> {
  if (error instanceof InvalidConsent) return { scopes: text.faults.asked };
  if (error instanceof PreauthorizationExists) return { scopes: text.faults.there };
  throw error;
}
