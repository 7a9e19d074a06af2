/** What ends a system account, each asked for once more: disabled, enabled, deleted. */
import type { FastifyInstance } from "fastify";
import type { SystemAccount } from "../../../core/system-accounts/system-account.ts";
import { changeSystemAccount, removeSystemAccount } from "../../../core/system-accounts/system-accounts.ts";
import { html } from "../../../html/html.ts";
import { type ConfirmedAct, confirmedActRoute } from "../../../page-kit/confirmed-act.ts";
import { type AccountsDeps, accountCrumbs, accountRest, findAccount } from "./account-visit.ts";

export function endRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  confirmedActRoute(app, deps, stateAct(deps, true));
  confirmedActRoute(app, deps, stateAct(deps, false));
  confirmedActRoute(app, deps, deleteAct(deps));
}

const finder =
  (deps: AccountsDeps): ConfirmedAct<SystemAccount>["find"] =>
  (organisation, { id }) =>
    findAccount(deps, organisation, id);

function stateAct(deps: AccountsDeps, disabled: boolean): ConfirmedAct<SystemAccount> {
  return {
    path: `/system-accounts/:id/${disabled ? "disable" : "enable"}`,
    current: "systemAccounts",
    find: finder(deps),
    overFor: ({ id, disabledAt }) => ((disabledAt !== null) === disabled ? accountRest(id) : undefined),
    question: (messages, account, organisation) => {
      const { end } = messages.console.systemAccounts;
      return {
        heading: disabled
          ? end.disableHeading({ name: account.name })
          : end.enableHeading({ name: account.name }),
        text: html`<p>${disabled ? end.disableText : end.enableText}</p>`,
        confirm: disabled ? end.disable : end.enable,
        confirmId: disabled ? "disable-confirm" : "enable-confirm",
        isHarmless: !disabled,
        breadcrumbs: accountCrumbs(organisation, account, messages),
        back: accountRest(account.id),
      };
    },
    act: async (acting, { id }) => {
      await changeSystemAccount(deps, { ...acting, id, disabled });
      return accountRest(id, `?done=${disabled ? "disabled" : "enabled"}`);
    },
  };
}

function deleteAct(deps: AccountsDeps): ConfirmedAct<SystemAccount> {
  return {
    path: "/system-accounts/:id/delete",
    current: "systemAccounts",
    find: finder(deps),
    question: (messages, account, organisation) => {
      const { end } = messages.console.systemAccounts;
      return {
        heading: end.deleteHeading({ name: account.name }),
        text: html`<p>${end.deleteText}</p>`,
        confirm: end.delete,
        confirmId: "delete-confirm",
        name: account.name,
        breadcrumbs: accountCrumbs(organisation, account, messages),
        back: accountRest(account.id),
      };
    },
    act: async (acting, { id }) => {
      await removeSystemAccount(deps, { ...acting, id });
      return "/system-accounts?done=deleted";
    },
  };
}
