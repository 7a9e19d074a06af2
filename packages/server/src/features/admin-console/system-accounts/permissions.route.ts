/** The other applications that a system account may act for: adding one, and removing one. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { findApplication } from "../../../core/applications/applications.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { mayActFor, type SystemAccount } from "../../../core/system-accounts/system-account.ts";
import { listPermittedApplications } from "../../../core/system-accounts/system-accounts.store.ts";
import {
  grantApplication,
  InvalidSystemAccount,
  withdrawApplication,
} from "../../../core/system-accounts/system-accounts.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { radioField } from "../../../html/components/fields.ts";
import { filterBar, moreMatchesHint, noResults } from "../../../html/components/filter-bar.ts";
import { fieldsOf, formNotice } from "../../../html/components/form-page.ts";
import type { FormShown, FormView } from "../../../html/components/form-state.ts";
import { recordForm } from "../../../html/components/record-form.ts";
import { type Html, html } from "../../../html/html.ts";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { acceptForm } from "../../../page-kit/accept-form.ts";
import {
  alreadyApplied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { ALREADY_APPLIED, pageMessages } from "../../../page-kit/console-frame.ts";
import { formView } from "../../../page-kit/form-view.ts";
import { readSearch } from "../../../page-kit/list-page.ts";
import {
  auditContext,
  consoleRoute,
  queryString,
  redirectTo,
  requestPath,
  requireId,
  requireRecentAuthentication,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { askForIdentity } from "../../../page-kit/reauthentication.ts";
import { aboutRecord } from "../../../page-kit/record-pages.ts";
import { type AccountsDeps, accountPages } from "./account-pages.ts";
import { findChoices } from "./new.route.ts";

export function permissionsRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/system-accounts/:id/permissions/new", {
    get: showNewPermission,
    post: addPermission,
  });
  confirmationRoute(
    app,
    deps,
    "/oauth/manage/:org/system-accounts/:id/permissions/:application/remove",
    removal,
  );
}

type PermissionInput = { search: string; application: string };

async function showNewPermission(deps: AccountsDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const search = readSearch(parseQuery(visit.request).values);
  const returnTo = `${requestPath(visit)}${queryString({ search })}`;
  const signedIn = await requireRecentAuthentication(deps, visit, returnTo);
  const account = await accountPages.require(deps, visit);
  await showForm(deps, visit, { signedIn, account }, { input: { search, application: "" } });
}

async function showForm(
  deps: AccountsDeps,
  visit: Visit,
  { signedIn, account }: { signedIn: SignedIn; account: SystemAccount },
  shown: FormShown<PermissionInput>,
): Promise<void> {
  const view = await formView(deps, visit, signedIn, "systemAccounts", shown, {});
  const { applications, hasMore } = await findChoices(deps, visit, shown.input.search);
  const choices = applications.filter(({ id }) => !mayActFor(account, id));
  await show(visit, view, addPermissionPage(view, account, { choices, hasMore }), shown.status);
}

function addPermissionPage(
  view: FormView<PermissionInput>,
  account: SystemAccount,
  { choices, hasMore }: { choices: readonly Pick<Application, "id" | "name">[]; hasMore: boolean },
): Html {
  const { messages, input, action } = view;
  const { permissions: text } = messages.console.systemAccounts;
  const labels = { application: text.application };
  const form = () =>
    recordForm({
      ...view,
      id: "permission-form",
      hidden: [{ name: "search", value: input.search }],
      fields: radioField({
        ...fieldsOf(view, labels)("application"),
        choices: choices.map(({ id, name }) => ({ value: id, label: name, text: id })),
      }),
      submit: { id: "permission-create", label: text.submit },
      cancelUri: view.consoleUri(`/system-accounts/${account.id}`),
    });
  const search = filterBar({ action, label: text.search, value: input.search, messages });
  return consoleLayout({
    ...view,
    breadcrumbs: accountPages.crumbs(view, account),
    title: text.addTitle,
    notice: formNotice({ ...view, labels }),
    body: html`<section class="card" aria-label="${text.addTitle}">
${search}${hasMore && moreMatchesHint(messages)}${choices.length > 0 ? form() : !hasMore && noResults(messages)}</section>
`,
  });
}

async function addPermission(deps: AccountsDeps, visit: Visit): Promise<void> {
  const id = requireId(visit);
  const form = await acceptForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn, values } = form;
  const account = await accountPages.require(deps, visit);
  const input = { search: readSearch(values), application: values.get("application") ?? "" };
  const rerender = (shown: Partial<FormShown<PermissionInput>>) =>
    showForm(deps, visit, { signedIn, account }, { input, ...shown });
  if (form.outcome === "rejected") return rerender(form.refusal);

  const { faults } = pageMessages(visit, signedIn).console.systemAccounts;
  const unknownApplication = {
    input: { ...input, application: "" },
    state: { faults: { application: faults.application } },
    status: 400,
  };
  const applicationId = input.application.toLowerCase();
  if (!isUuid(applicationId)) return rerender(unknownApplication);
  try {
    const isNew = await grantApplication(deps, { ...auditContext(visit, signedIn), id, applicationId });
    const result = isNew ? "granted" : ALREADY_APPLIED;
    await redirectTo(visit, accountPages.path(visit.organisation, id, `?done=${result}`));
  } catch (error) {
    if (!(error instanceof InvalidSystemAccount)) throw error;
    if (error.code === "unknown-application") return rerender(unknownApplication);
    throw new NotFound("system account");
  }
}

interface Permission {
  readonly account: SystemAccount;
  readonly application: Pick<Application, "id" | "name">;
  readonly isGranted: boolean;
}

const removal: Confirmation<AccountsDeps, Permission> = {
  ...aboutRecord(accountPages, ({ account }: Permission) => account),
  load: async (deps, organisation, { application: applicationId = "", ...params }) => {
    const account = await accountPages.find(deps, organisation, params);
    const permitted = account && (await listPermittedApplications(deps.database.query, account));
    const application = permitted?.find((one) => one.id === applicationId);
    if (account && application) return { account, application, isGranted: true };
    // An account's own application cannot be removed.
    if (!account || mayActFor(account, applicationId)) return undefined;
    const other = await findApplication(deps.database.query, account.orgId, applicationId);
    return other && { account, application: other, isGranted: false };
  },
  isDone: (_, { isGranted }) => !isGranted,
  question: ({ console: { systemAccounts } }, { application }) => {
    const { permissions: text } = systemAccounts;
    return {
      heading: text.removeHeading({ application: application.name }),
      text: text.removeText,
      confirm: text.remove,
      confirmId: "permission-remove-confirm",
    };
  },
  apply: async (deps, acting, { account, application }) =>
    (await withdrawApplication(deps, { ...acting, id: account.id, applicationId: application.id }))
      ? done("withdrawn")
      : alreadyApplied,
};
