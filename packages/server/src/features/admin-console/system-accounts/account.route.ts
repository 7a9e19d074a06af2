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
import type { Content } from "../../../html/html.ts";
import { activityCard } from "../../../page-kit/audit-events/activity-card.ts";
import { applied, type Confirmation, confirmationRoute, done } from "../../../page-kit/confirmation.ts";
import { type EditForm, editRoute } from "../../../page-kit/edit-form.ts";
import { consolePath } from "../../../page-kit/page.ts";
import { aboutRecord, type RecordView } from "../../../page-kit/record-pages.ts";
import {
  showFormInTab,
  type TabbedRecord,
  tabbedRecordRoutes,
  tabRest,
} from "../../../page-kit/record-tabs.ts";
import {
  type AccountInput,
  aboveAccount,
  accountGeneral,
  accountKeys,
  accountSettings,
} from "./account.page.ts";
import { type AccountsDeps, accountPages } from "./account-pages.ts";
import { curlLines, sdkLines } from "./snippets.ts";

export function accountRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  tabbedRecordRoutes(app, deps, accountRecord);
  editRoute(app, deps, "/oauth/manage/:org/system-accounts/:id/edit", settingsForm(deps));
  confirmationRoute(app, deps, "/oauth/manage/:org/system-accounts/:id/disable", statusChange(true));
  confirmationRoute(app, deps, "/oauth/manage/:org/system-accounts/:id/enable", statusChange(false));
  confirmationRoute(app, deps, "/oauth/manage/:org/system-accounts/:id/delete", deletion);
}

const accountRecord: TabbedRecord<AccountsDeps, SystemAccount, RecordView<SystemAccount>> = {
  place: accountPages,
  load: (_, view) => view,
  above: aboveAccount,
  tabs: [
    {
      name: "general",
      url: "/oauth/manage/:org/system-accounts/:id",
      content: async ({ database: { query } }, view) => {
        const { record: account } = view;
        const application = await findApplication(query, account.orgId, account.applicationId);
        return accountGeneral({
          ...view,
          application: { id: account.applicationId, name: application?.name ?? "" },
          permitted: await listPermittedApplications(query, account),
        });
      },
    },
    { name: "keys", url: "/oauth/manage/:org/system-accounts/:id/keys", content: showKeys },
    {
      name: "activity",
      url: "/oauth/manage/:org/system-accounts/:id/activity",
      content: (deps, { record: { id }, messages }, { organisation }) =>
        activityCard(deps, organisation, { kind: "system-account", id }, messages),
    },
    { name: "settings", url: "/oauth/manage/:org/system-accounts/:id/edit" },
  ],
};

async function showKeys(
  { database: { query }, clock, baseUrl }: AccountsDeps,
  view: RecordView<SystemAccount>,
): Promise<Content> {
  const { orgId, id, isAdministrator } = view.record;
  const keys = await listKeys(query, orgId, id);
  const now = clock();
  const newest = keys.findLast((key) => isKeyActive(key, now));
  const caller = newest && { isAdministrator, publicKey: newest.publicKey };
  return accountKeys({
    ...view,
    keys: keys.toReversed().map((key) => ({ ...key, isActive: isKeyActive(key, now) })),
    snippets: caller && { sdk: sdkLines(baseUrl, caller), curl: curlLines(baseUrl, caller) },
  });
}

type Settings = Pick<SystemAccount, "name" | "requiresStrictSignature" | "allowsEndUserAddress">;

const settingsForm = (deps: AccountsDeps): EditForm<AccountsDeps, SystemAccount, AccountInput, Settings> => ({
  current: "systemAccounts",
  readOnlyAllowed: true,
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
  page: (form, editing) =>
    showFormInTab(deps, accountRecord, "settings", form, {
      ...editing,
      labels: { name: editing.messages.console.systemAccounts.create.name },
      content: (view) => accountSettings(form, view),
    }),
  validate: ({ name, strict, endUserAddress }, { messages }) =>
    isAccountName(name)
      ? { content: { name, requiresStrictSignature: strict, allowsEndUserAddress: endUserAddress } }
      : { faults: { name: messages.console.systemAccounts.faults.name } },
  save: async (inside, content, { visit, acting, record: { id } }) => {
    await changeSystemAccount(inside, { ...acting, id, ...content });
    return accountPages.path(visit.organisation, id, `${SETTINGS}?done=saved`);
  },
});

type AccountConfirmation = Confirmation<AccountsDeps, SystemAccount>;

const SETTINGS = tabRest(accountRecord, "settings");

const onAccount = {
  ...aboutRecord(accountPages, (account: SystemAccount) => account, SETTINGS),
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
