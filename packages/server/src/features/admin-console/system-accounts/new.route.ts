/** system-accounts/new: the application first, found by its name; then one short form. The secret key is shown once. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { findApplication, searchApplications } from "../../../core/applications/applications.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { SystemAccount } from "../../../core/system-accounts/system-account.ts";
import {
  createSystemAccount,
  isAccountName,
  type NewKey,
} from "../../../core/system-accounts/system-accounts.ts";
import { shownOncePage } from "../../../html/components/act.page.ts";
import type { FormShown } from "../../../html/components/form-state.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { acceptOneTimeForm, applyOnce, duplicateSubmission } from "../../../page-kit/accept-form.ts";
import { consoleFrame, pageMessages } from "../../../page-kit/console-frame.ts";
import { showFormPage } from "../../../page-kit/form-view.ts";
import { readSearch, splitPage } from "../../../page-kit/list-page.ts";
import {
  auditContext,
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
import { type AccountsDeps, accountPages, KEYS } from "./account-pages.ts";
import { type ChooseView, chooseApplicationPage, type NewAccountInput, newAccountPage } from "./new.page.ts";
import { curlLines, environmentLines, sdkLines } from "./snippets.ts";

/** With more matches, the search has to be narrowed. */
const MAX_CHOICES = 25;

/** Applications to choose from, by name. */
export async function findChoices({ database }: AccountsDeps, { organisation }: Visit, search: string) {
  const filter = { text: search === "" ? undefined : search, limit: MAX_CHOICES + 1 };
  const found = await searchApplications(database.query, organisation.id, filter);
  const { shown, last } = splitPage(found, MAX_CHOICES);
  return { search, applications: shown, hasMore: last !== undefined };
}

export function newAccountRoute(app: FastifyInstance, deps: AccountsDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/system-accounts/new", {
    get: showNewAccount,
    post: createFromForm,
  });
}

async function showNewAccount(deps: AccountsDeps, visit: Visit): Promise<void> {
  const { values } = parseQuery(visit.request);
  const id = values.get("application");
  const search = readSearch(values);
  const returnTo = `${requestPath(visit)}${queryString({ application: id, search })}`;
  const signedIn = await requireRecentAuthentication(deps, visit, returnTo);
  const application = await findChosen(deps, visit, id);
  if (application) return showForm(deps, visit, signedIn, application, { input: emptyInput });
  await showChoice(deps, visit, signedIn, await findChoices(deps, visit, search));
}

async function findChosen(
  { database }: AccountsDeps,
  { organisation }: Visit,
  id = "",
): Promise<Application | undefined> {
  return isUuid(id) ? findApplication(database.query, organisation.id, id.toLowerCase()) : undefined;
}

async function showChoice(
  deps: AccountsDeps,
  visit: Visit,
  signedIn: SignedIn,
  choice: ChooseView,
  status?: number,
): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, "systemAccounts");
  await show(visit, frame, chooseApplicationPage({ ...frame, ...choice }), status);
}

const emptyInput: NewAccountInput = { name: "", kind: "plain", strict: true, endUserAddress: false };

const readInput = (values: ReadonlyMap<string, string>): NewAccountInput => ({
  name: (values.get("name") ?? "").trim(),
  kind: values.get("kind") === "administrator" ? "administrator" : "plain",
  strict: values.get("strict") === "on",
  endUserAddress: values.get("endUserAddress") === "on",
});

const showForm = (
  deps: AccountsDeps,
  visit: Visit,
  signedIn: SignedIn,
  application: Application,
  shown: FormShown<NewAccountInput>,
) =>
  showFormPage(deps, visit, signedIn, "systemAccounts", shown, (view) => newAccountPage(view, application));

async function createFromForm(deps: AccountsDeps, visit: Visit): Promise<void> {
  const form = await acceptOneTimeForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn, values } = form;
  const { frame, systemAccounts } = pageMessages(visit, signedIn).console;
  const { faults } = systemAccounts;
  const application = await findChosen(deps, visit, values.get("application"));
  if (!application) {
    // Deleted meanwhile, or no form of ours: another application is chosen.
    if (form.outcome === "accepted") return redirectTo(visit, requestPath(visit));
    const nothing = { search: "", applications: [], hasMore: false, fault: faults.application };
    return showChoice(deps, visit, signedIn, nothing, 403);
  }
  const input = readInput(values);
  const rerender = (shown: Partial<FormShown<NewAccountInput>>) =>
    showForm(deps, visit, signedIn, application, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);
  if (!isAccountName(input.name)) return rerender({ state: { faults: { name: faults.name } }, status: 400 });

  const wanted = {
    ...auditContext(visit, signedIn),
    applicationId: application.id,
    name: input.name,
    isAdministrator: input.kind === "administrator",
    requiresStrictSignature: input.strict,
    allowsEndUserAddress: input.endUserAddress,
  };
  const created = await applyOnce(deps, form, (inside) => createSystemAccount(inside, wanted));
  if (created === "duplicate-submission") {
    const uri = consolePath(visit.organisation, "/system-accounts");
    const result = { label: frame.pages.systemAccounts, uri };
    return rerender(duplicateSubmission({ result, secret: frame.sentBefore.secret.account }));
  }
  await showKeys(deps, visit, signedIn, created);
}

/** Both keys, shown once, with the lines that call with them. */
export async function showKeys(
  { baseUrl, ...deps }: AccountsDeps,
  visit: Visit,
  signedIn: SignedIn,
  { account, key: { publicKey }, secret }: NewKey & { account: SystemAccount },
  title?: string,
): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, "systemAccounts");
  const { create: text, snippets } = frame.messages.console.systemAccounts;
  const caller = { isAdministrator: account.isAdministrator, publicKey };
  const page = shownOncePage({
    ...frame,
    breadcrumbs: accountPages.crumbs(frame, account),
    title: title ?? text.shownTitle({ name: account.name }),
    text: text.shownText,
    values: [
      { id: "keys", title: text.keys, lines: environmentLines({ publicKey, secret }) },
      { id: "sdk", title: snippets.sdk, lines: sdkLines(baseUrl, caller) },
      { id: "curl", title: snippets.curl, lines: curlLines(baseUrl, caller) },
    ],
    doneUri: accountPages.path(visit.organisation, account.id, KEYS),
  });
  await show(visit, frame, page);
}
