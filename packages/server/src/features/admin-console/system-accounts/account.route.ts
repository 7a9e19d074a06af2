/** system-accounts/{id}: one account with its keys and permissions; changing, disabling, enabling and deleting it. */
import type { FastifyInstance } from "fastify";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { isKeyActive, type SystemAccount } from "../../../core/system-accounts/system-account.ts";
import {
  listKeys,
  listPermittedApplications,
  lockSystemAccount,
} from "../../../core/system-accounts/system-accounts.store.ts";
import {
  changeSystemAccount,
  isAccountName,
  removeSystemAccount,
} from "../../../core/system-accounts/system-accounts.ts";
import type { Html } from "../../../html/html.ts";
import { applied, type Confirmation, confirmationRoute, done } from "../../../page-kit/confirmation.ts";
import { type EditForm, editRoute } from "../../../page-kit/edit-form.ts";
import { consolePath, type Visit } from "../../../page-kit/page.ts";
import { aboutRecord, type RecordView, recordRoute } from "../../../page-kit/record-pages.ts";
import { type AccountInput, accountPage, editAccountPage } from "./account.page.ts";
import { type AccountsDeps, accountPages } from "./account-pages.ts";
import { curlLines, sdkLines } from "./snippets.ts";

export function accountRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  recordRoute(app, deps, "/oauth/manage/:org/system-accounts/:id", accountPages, showAccount);
  editRoute(app, deps, "/oauth/manage/:org/system-accounts/:id/edit", edit);
  confirmationRoute(app, deps, "/oauth/manage/:org/system-accounts/:id/disable", statusChange(true));
  confirmationRoute(app, deps, "/oauth/manage/:org/system-accounts/:id/enable", statusChange(false));
  confirmationRoute(app, deps, "/oauth/manage/:org/system-accounts/:id/delete", deletion);
}

async function showAccount(
  { database: { query }, clock, baseUrl }: AccountsDeps,
  _: Visit,
  view: RecordView<SystemAccount>,
): Promise<Html> {
  const { record: account } = view;
  const { orgId, id, isAdministrator } = account;
  const application = await findApplication(query, orgId, account.applicationId);
  const keys = await listKeys(query, orgId, id);
  const now = clock();
  const newest = keys.findLast((key) => isKeyActive(key, now));
  const caller = newest && { isAdministrator, publicKey: newest.publicKey };
  return accountPage({
    ...view,
    application: { id: account.applicationId, name: application?.name ?? "" },
    keys: keys.toReversed().map((key) => ({ ...key, isActive: isKeyActive(key, now) })),
    permitted: await listPermittedApplications(query, account),
    snippets: caller && { sdk: sdkLines(baseUrl, caller), curl: curlLines(baseUrl, caller) },
  });
}

const edit: EditForm<
  AccountsDeps,
  SystemAccount,
  AccountInput,
  Pick<SystemAccount, "name" | "requiresStrictSignature" | "allowsEndUserAddress">
> = {
  current: "systemAccounts",
  load: accountPages.require,
  lock: lockSystemAccount,
  version: ({ version }) => version,
  toInput: ({ name, requiresStrictSignature: strict, allowsEndUserAddress: endUserAddress }) => ({
    name,
    strict,
    endUserAddress,
  }),
  readInput: ({ values }) => ({
    name: (values.get("name") ?? "").trim(),
    strict: values.get("strict") === "on",
    endUserAddress: values.get("endUserAddress") === "on",
  }),
  toDisplay: ({ name, strict, endUserAddress }, { messages }) => {
    const { yes, no } = messages.console.frame;
    return { name, strict: strict ? yes : no, endUserAddress: endUserAddress ? yes : no };
  },
  page: (view, { record }) => editAccountPage(view, record),
  validate: ({ name, strict, endUserAddress }, { messages }) =>
    isAccountName(name)
      ? { content: { name, requiresStrictSignature: strict, allowsEndUserAddress: endUserAddress } }
      : { faults: { name: messages.console.systemAccounts.faults.name } },
  save: async (inside, content, { visit, acting, record: { id } }) => {
    await changeSystemAccount(inside, { ...acting, id, ...content });
    return accountPages.path(visit.organisation, id, "?done=saved");
  },
};

type AccountConfirmation = Confirmation<AccountsDeps, SystemAccount>;

const onAccount = {
  ...aboutRecord(accountPages, (account: SystemAccount) => account),
  load: accountPages.find,
};

export const statusChange = (disabled: boolean): AccountConfirmation => ({
  ...onAccount,
  isDone: (_, { disabledAt }) => (disabledAt !== null) === disabled,
  question: ({ console: { systemAccounts } }, { name }) => {
    const { end } = systemAccounts;
    return {
      heading: disabled ? end.disableHeading({ name }) : end.enableHeading({ name }),
      text: disabled ? end.disableText : end.enableText,
      confirm: disabled ? end.disable : end.enable,
      confirmId: disabled ? "disable-confirm" : "enable-confirm",
      isHarmless: !disabled,
    };
  },
  apply: async (deps, acting, { id }) => {
    await changeSystemAccount(deps, { ...acting, id, disabled });
    return done(disabled ? "disabled" : "enabled");
  },
});

export const deletion: AccountConfirmation = {
  ...onAccount,
  question: ({ console: { systemAccounts } }, { name }) => ({
    heading: systemAccounts.end.deleteHeading({ name }),
    text: systemAccounts.end.deleteText,
    confirm: systemAccounts.end.delete,
    confirmId: "delete-confirm",
    name,
  }),
  apply: async (deps, acting, { id }, { organisation }) => {
    await removeSystemAccount(deps, { ...acting, id });
    return applied(consolePath(organisation, "/system-accounts?done=deleted"));
  },
};
