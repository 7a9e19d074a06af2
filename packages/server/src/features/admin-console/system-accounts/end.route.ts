/** Disabling, enabling and deleting a system account, each confirmed first. */
import type { FastifyInstance } from "fastify";
import type { SystemAccount } from "../../../core/system-accounts/system-account.ts";
import { changeSystemAccount, removeSystemAccount } from "../../../core/system-accounts/system-accounts.ts";
import { html } from "../../../html/html.ts";
import { applied, type Confirmation, confirmationRoute } from "../../../page-kit/confirmation.ts";
import { consolePath } from "../../../page-kit/page.ts";
import { type AccountsDeps, accountCrumbs, accountPath, findAccount } from "./account-path.ts";

export function endRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  confirmationRoute(app, deps, "/oauth/manage/:org/system-accounts/:id/disable", statusChange(true));
  confirmationRoute(app, deps, "/oauth/manage/:org/system-accounts/:id/enable", statusChange(false));
  confirmationRoute(app, deps, "/oauth/manage/:org/system-accounts/:id/delete", deletion);
}

const onAccount: Pick<Confirmation<AccountsDeps, SystemAccount>, "current" | "load" | "backUri"> = {
  current: "systemAccounts",
  load: findAccount,
  backUri: (organisation, { id }) => accountPath(organisation, id),
};

const statusChange = (disabled: boolean): Confirmation<AccountsDeps, SystemAccount> => ({
  ...onAccount,
  isDone: (_, { disabledAt }) => (disabledAt !== null) === disabled,
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
    };
  },
  apply: async (deps, acting, { id }, { organisation }) => {
    await changeSystemAccount(deps, { ...acting, id, disabled });
    return applied(accountPath(organisation, id, `?done=${disabled ? "disabled" : "enabled"}`));
  },
});

const deletion: Confirmation<AccountsDeps, SystemAccount> = {
  ...onAccount,
  question: (messages, account, organisation) => {
    const { end } = messages.console.systemAccounts;
    return {
      heading: end.deleteHeading({ name: account.name }),
      text: html`<p>${end.deleteText}</p>`,
      confirm: end.delete,
      confirmId: "delete-confirm",
      name: account.name,
      breadcrumbs: accountCrumbs(organisation, account, messages),
    };
  },
  apply: async (deps, acting, { id }, { organisation }) => {
    await removeSystemAccount(deps, { ...acting, id });
    return applied(consolePath(organisation, "/system-accounts?done=deleted"));
  },
};
