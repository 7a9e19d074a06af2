/** The other applications that a system account may act for: adding one, and removing one. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { findApplication, searchApplications } from "../../../core/applications/applications.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { mayActFor, type SystemAccount } from "../../../core/system-accounts/system-account.ts";
import { listPermittedApplications } from "../../../core/system-accounts/system-accounts.store.ts";
import {
  grantApplication,
  InvalidSystemAccount,
  withdrawApplication,
} from "../../../core/system-accounts/system-accounts.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import { html } from "../../../html/html.ts";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { acceptForm } from "../../../page-kit/accept-form.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
} from "../../../page-kit/confirmation.ts";
import { ALREADY_APPLIED, consoleFrame, pageMessages } from "../../../page-kit/console-frame.ts";
import { readSearch, splitPage } from "../../../page-kit/list-page.ts";
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
import {
  type AccountsDeps,
  accountCrumbs,
  accountPath,
  findAccount,
  requireAccount,
} from "./account-path.ts";
import { addPermissionPage } from "./permissions.page.ts";

/** With more matches, the search has to be narrowed. */
const MAX_CHOICES = 25;

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

async function showNewPermission(deps: AccountsDeps, visit: Visit): Promise<void> {
  requireId(visit);
  const search = readSearch(parseQuery(visit.request).values);
  const returnTo = `${requestPath(visit)}${queryString({ search })}`;
  const signedIn = await requireRecentAuthentication(deps, visit, returnTo);
  await showForm(deps, visit, signedIn, await requireAccount(deps, visit), { search });
}

interface Shown {
  readonly search: string;
  readonly chosen?: string;
  readonly fault?: string;
  readonly failure?: FormFailure | undefined;
  readonly status?: number;
}

async function showForm(
  deps: AccountsDeps,
  visit: Visit,
  signedIn: SignedIn,
  account: SystemAccount,
  { search, status, ...shown }: Shown,
): Promise<void> {
  const frame = await consoleFrame(deps, visit, signedIn, "systemAccounts");
  const text = search === "" ? undefined : search;
  const filter = { text, limit: MAX_CHOICES + 1 };
  const found = await searchApplications(deps.database.query, account.orgId, filter);
  const { shown: choices, last } = splitPage(found, MAX_CHOICES);
  const page = addPermissionPage({
    ...frame,
    ...shown,
    breadcrumbs: accountCrumbs(visit.organisation, account, frame.messages),
    action: requestPath(visit),
    search,
    hasMore: last !== undefined,
    applications: choices.filter(({ id }) => !mayActFor(account, id)).map(({ id, name }) => ({ id, name })),
    csrf: deps.browserSession.formBinding(visit).csrf,
    cancelUri: accountPath(visit.organisation, account.id),
  });
  await show(visit, frame, page, status);
}

async function addPermission(deps: AccountsDeps, visit: Visit): Promise<void> {
  const id = requireId(visit);
  const form = await acceptForm(deps, visit);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  const account = await requireAccount(deps, visit);
  const search = readSearch(form.values);
  const chosen = form.values.get("application") ?? "";
  const rerender = (shown: Partial<Shown>) => showForm(deps, visit, signedIn, account, { search, ...shown });
  if (form.outcome === "rejected") return rerender({ chosen, ...form.refusal });

  const { faults } = pageMessages(visit, signedIn).console.systemAccounts;
  const unknownApplication = { fault: faults.application, status: 400 };
  const applicationId = chosen.toLowerCase();
  if (!isUuid(applicationId)) return rerender(unknownApplication);
  try {
    const isNew = await grantApplication(deps, { ...auditContext(visit, signedIn), id, applicationId });
    const done = isNew ? "granted" : ALREADY_APPLIED;
    await redirectTo(visit, accountPath(visit.organisation, id, `?done=${done}`));
  } catch (error) {
    if (!(error instanceof InvalidSystemAccount)) throw error;
    if (error.code === "unknown-application") return rerender(unknownApplication);
    throw new NotFound("system account");
  }
}

interface Permission {
  readonly account: SystemAccount;
  readonly application: { readonly id: string; readonly name: string };
  readonly isGranted: boolean;
}

const removal: Confirmation<AccountsDeps, Permission> = {
  current: "systemAccounts",
  load: async (deps, organisation, { id = "", application: applicationId = "" }) => {
    const account = await findAccount(deps, organisation, { id });
    const permitted = account && (await listPermittedApplications(deps.database.query, account));
    const application = permitted?.find((one) => one.id === applicationId);
    if (account && application) return { account, application, isGranted: true };
    // An account's own application cannot be removed.
    if (!account || mayActFor(account, applicationId)) return undefined;
    const other = await findApplication(deps.database.query, account.orgId, applicationId);
    return other && { account, application: other, isGranted: false };
  },
  backUri: (organisation, { account }) => accountPath(organisation, account.id),
  isDone: (_, { isGranted }) => !isGranted,
  question: (messages, { account, application }, organisation) => {
    const { permissions: text } = messages.console.systemAccounts;
    return {
      heading: text.removeHeading({ application: application.name }),
      text: html`<p>${text.removeText}</p>`,
      confirm: text.remove,
      confirmId: "permission-remove-confirm",
      breadcrumbs: accountCrumbs(organisation, account, messages),
    };
  },
  apply: async (deps, acting, { account, application }, { organisation }) => {
    const removed = { ...acting, id: account.id, applicationId: application.id };
    if (!(await withdrawApplication(deps, removed))) return alreadyApplied;
    return applied(accountPath(organisation, account.id, "?done=withdrawn"));
  },
};
