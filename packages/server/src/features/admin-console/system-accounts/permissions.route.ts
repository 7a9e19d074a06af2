/** The other applications that a system account may act for: added one by one, found by name; and taken away. */
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
import { queryOf } from "../../../http/form-body.ts";
import { confirmedActRoute, WasSoAlready } from "../../../page-kit/confirmed-act.ts";
import { ALREADY, consoleFrame } from "../../../page-kit/console-frame.ts";
import { submission } from "../../../page-kit/submission.ts";
import {
  actingOn,
  consoleRoute,
  goTo,
  provenAdministrator,
  queryText,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import {
  type AccountsDeps,
  accountCrumbs,
  accountHere,
  accountPath,
  accountRest,
  findAccount,
  idIn,
} from "./account-visit.ts";
import { addPermissionPage } from "./permissions.page.ts";

const REST = "/permissions/new";
/** Who sees more than these types more of the name. */
const MOST_CHOICES = 25;

export function permissionsRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  consoleRoute(app, deps, `/system-accounts/:id${REST}`, {
    get: async (visit) => {
      const search = searchOf(queryOf(visit.request).values);
      const signedIn = await provenAdministrator(deps, visit, ownPath(visit, search));
      if (signedIn) await form(deps, visit, signedIn, { search });
    },
    post: (visit) => add(deps, visit),
  });
  removeRoute(app, deps);
}

const ownPath = (visit: Visit, search = ""): string =>
  accountPath(visit.organisation, idIn(visit), `${REST}${queryText({ search })}`);

const searchOf = (values: ReadonlyMap<string, string>): string =>
  (values.get("search") ?? "").trim().slice(0, 100);

async function form(
  deps: AccountsDeps,
  visit: Visit,
  signedIn: SignedIn,
  shown: { search: string; chosen?: string; fault?: string; failure?: FormFailure; status?: number },
): Promise<void> {
  const { search, status, ...more } = shown;
  const account = await accountHere(deps, visit);
  const frame = await consoleFrame(deps, visit, signedIn, "systemAccounts");
  const text = search === "" ? undefined : search;
  const found = await searchApplications(deps.database.query, account.orgId, {
    text,
    limit: MOST_CHOICES + 1,
  });
  const page = addPermissionPage({
    ...frame,
    ...more,
    breadcrumbs: accountCrumbs(visit.organisation, account, frame.messages),
    action: ownPath(visit),
    search,
    hasMore: found.length > MOST_CHOICES,
    applications: found
      .slice(0, MOST_CHOICES)
      .filter(({ id }) => !mayActFor(account, id))
      .map(({ id, name }) => ({ id, name })),
    csrf: deps.door.formBinding(visit).csrf,
    cancelUri: accountPath(visit.organisation, account.id),
  });
  await show(visit, frame, page, status);
}

async function add(deps: AccountsDeps, visit: Visit): Promise<void> {
  const sent = await submission(deps, visit, ownPath(visit), ({ signedIn, values }, kind) => {
    const again = { search: searchOf(values), chosen: values.get("application") ?? "" };
    return form(deps, visit, signedIn, { ...again, failure: { kind }, status: 403 });
  });
  if (!sent) return;
  const { signedIn, values } = sent;
  const account = await accountHere(deps, visit);
  const chosen = (values.get("application") ?? "").toLowerCase();
  const { messages } = await consoleFrame(deps, visit, signedIn, "systemAccounts");
  const fault = messages.console.systemAccounts.faults.application;
  const again = () => form(deps, visit, signedIn, { search: searchOf(values), fault, status: 400 });
  if (!isUuid(chosen)) return again();
  const granted = { ...actingOn(visit, signedIn), id: account.id, applicationId: chosen };
  try {
    if (!(await grantApplication(deps, granted)))
      return goTo(visit, accountPath(visit.organisation, account.id, `?done=${ALREADY}`));
  } catch (error) {
    if (!(error instanceof InvalidSystemAccount)) throw error;
    if (error.code === "unknown-application") return again();
    throw new NotFound("system account");
  }
  await goTo(visit, accountPath(visit.organisation, account.id, "?done=granted"));
}

interface Permission {
  readonly account: SystemAccount;
  readonly application: { readonly id: string; readonly name: string };
  /** False when it has been withdrawn before, or never was. */
  readonly isThere: boolean;
}

function removeRoute(app: FastifyInstance, deps: AccountsDeps): void {
  confirmedActRoute<Permission>(app, deps, {
    path: "/system-accounts/:id/permissions/:application/remove",
    current: "systemAccounts",
    find: async (organisation, { id, application: applicationId = "" }) => {
      const account = await findAccount(deps, organisation, id);
      const permitted = account && (await listPermittedApplications(deps.database.query, account));
      const application = permitted?.find((one) => one.id === applicationId);
      if (account && application) return { account, application, isThere: true };
      // Its own application is none that can be taken away.
      if (!account || mayActFor(account, applicationId)) return undefined;
      const other = await findApplication(deps.database.query, account.orgId, applicationId);
      return other && { account, application: other, isThere: false };
    },
    overFor: ({ account, isThere }) => (isThere ? undefined : accountRest(account.id)),
    question: (messages, { account, application }, organisation) => {
      const { permissions: text } = messages.console.systemAccounts;
      return {
        heading: text.removeHeading({ application: application.name }),
        text: html`<p>${text.removeText}</p>`,
        confirm: text.remove,
        confirmId: "permission-remove-confirm",
        breadcrumbs: accountCrumbs(organisation, account, messages),
        back: accountRest(account.id),
      };
    },
    act: async (acting, { account, application }) => {
      const withdrawn = { ...acting, id: account.id, applicationId: application.id };
      if (!(await withdrawApplication(deps, withdrawn))) throw new WasSoAlready(accountRest(account.id));
      return accountRest(account.id, "?done=withdrawn");
    },
  });
}
