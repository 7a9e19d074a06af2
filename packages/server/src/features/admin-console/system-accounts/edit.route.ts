/** system-accounts/{id}/edit: its name, and whether it must sign strictly. */
import type { FastifyInstance } from "fastify";
import type { SystemAccount } from "../../../core/system-accounts/system-account.ts";
import { lockSystemAccount } from "../../../core/system-accounts/system-accounts.store.ts";
import { changeSystemAccount, isAccountName } from "../../../core/system-accounts/system-accounts.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { checkField, textField } from "../../../html/components/fields.ts";
import { type FormView, faultsFailure, fieldState } from "../../../html/components/form-state.ts";
import { failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { type Html, html } from "../../../html/html.ts";
import { type Editing, editRoute } from "../../../page-kit/edit-form.ts";
import { type AccountsDeps, accountCrumbs, accountPath, requireAccount } from "./account-path.ts";

type AccountInput = { name: string; isStrict: boolean };

export function editAccountRoute(app: FastifyInstance, deps: AccountsDeps): void {
  editRoute(app, deps, "/oauth/manage/:org/system-accounts/:id/edit", {
    current: "systemAccounts",
    load: requireAccount,
    lock: lockSystemAccount,
    version: ({ version }) => version,
    toInput: ({ name, requiresStrictSignature }): AccountInput => ({
      name,
      isStrict: requiresStrictSignature,
    }),
    readInput: ({ values }) => ({
      name: (values.get("name") ?? "").trim(),
      isStrict: values.get("strict") === "on",
    }),
    toDisplay: ({ name, isStrict }, { messages }) => {
      const { yes, no } = messages.console.frame;
      return { name, strict: isStrict ? yes : no };
    },
    page: editPage,
    validate: ({ name, isStrict }, { messages }) =>
      isAccountName(name)
        ? { content: { name, requiresStrictSignature: isStrict } }
        : { faults: { name: messages.console.systemAccounts.faults.name } },
    save: async (inside, content, { visit, acting, record: { id } }) => {
      await changeSystemAccount(inside, { ...acting, id, ...content });
      return accountPath(visit.organisation, id, "?done=saved");
    },
  });
}

function editPage(
  view: FormView<AccountInput>,
  { visit: { organisation }, record }: Editing<SystemAccount>,
): Html {
  const { messages, input, state } = view;
  const { create: text, record: recordText } = messages.console.systemAccounts;
  const title = recordText.editTitle({ name: record.name });
  const fields = [
    textField({
      id: "name",
      label: text.name,
      hint: text.nameHint,
      value: input.name,
      maxLength: 100,
      isRequired: true,
      messages,
      ...fieldState(state, "name"),
    }),
    checkField({
      id: "strict",
      label: text.strict,
      hint: text.strictHint,
      isChecked: input.isStrict,
      messages,
      ...fieldState(state, "strict"),
    }),
  ];
  return consoleLayout({
    ...view,
    breadcrumbs: accountCrumbs(organisation, record, messages),
    title,
    notice: failureNotice(view.failure ?? faultsFailure(state, () => text.name), messages),
    body: html`<section class="card" aria-label="${title}">${recordForm({
      ...view,
      id: "account-form",
      fields,
      submit: { id: "account-save", label: messages.console.frame.form.save },
      cancelUri: accountPath(organisation, record.id),
    })}</section>
`,
  });
}
