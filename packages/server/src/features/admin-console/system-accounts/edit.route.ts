/** system-accounts/{id}/edit: its name, and the form of its signatures. */
import type { FastifyInstance } from "fastify";
import type { SystemAccount } from "../../../core/system-accounts/system-account.ts";
import { holdSystemAccount } from "../../../core/system-accounts/system-accounts.store.ts";
import { changeSystemAccount, isAccountName } from "../../../core/system-accounts/system-accounts.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { checkField, textField } from "../../../html/components/fields.ts";
import { type FormView, faultsFailure, fieldState } from "../../../html/components/form-state.ts";
import { failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { type Html, html } from "../../../html/html.ts";
import { type Editing, editForm } from "../../../page-kit/edit-form.ts";
import { type AccountsDeps, accountCrumbs, accountHere, accountPath } from "./account-visit.ts";

type Typed = { name: string; isStrict: boolean };

export function editAccountRoute(app: FastifyInstance, deps: AccountsDeps): void {
  editForm(app, deps, {
    path: "/system-accounts/:id/edit",
    current: "systemAccounts",
    find: accountHere,
    hold: holdSystemAccount,
    seenIn: ({ version }) => version,
    typedOf: ({ name, requiresStrictSignature }): Typed => ({ name, isStrict: requiresStrictSignature }),
    read: ({ values }) => ({
      name: (values.get("name") ?? "").trim(),
      isStrict: values.get("strict") === "on",
    }),
    inWords: (
      { name, isStrict },
      {
        messages: {
          console: { frame },
        },
      },
    ) => ({
      name,
      strict: isStrict ? frame.yes : frame.no,
    }),
    page,
    contentOf: ({ name, isStrict }, { messages }) =>
      isAccountName(name)
        ? { content: { name, requiresStrictSignature: isStrict } }
        : { faults: { name: messages.console.systemAccounts.faults.name } },
    keep: async (inside, content, { visit, acting, found: { id } }) => {
      await changeSystemAccount(inside, { ...acting, id, ...content });
      return accountPath(visit.organisation, id, "?done=saved");
    },
  });
}

function page(view: FormView<Typed>, { visit: { organisation }, found }: Editing<SystemAccount>): Html {
  const { messages, typed, state } = view;
  const { create: text, record } = messages.console.systemAccounts;
  const title = record.editTitle({ name: found.name });
  const fields = [
    textField({
      id: "name",
      label: text.name,
      hint: text.nameHint,
      value: typed.name,
      maxLength: 100,
      isRequired: true,
      messages,
      ...fieldState(state, "name"),
    }),
    checkField({
      id: "strict",
      label: text.strict,
      hint: text.strictHint,
      isChecked: typed.isStrict,
      messages,
      ...fieldState(state, "strict"),
    }),
  ];
  return consoleLayout({
    ...view,
    breadcrumbs: accountCrumbs(organisation, found, messages),
    title,
    notice: failureNotice(view.failure ?? faultsFailure(state, () => text.name), messages),
    body: html`<section class="card" aria-label="${title}">${recordForm({
      ...view,
      id: "account-form",
      fields,
      submit: { id: "account-save", label: messages.console.frame.form.save },
      cancelUri: accountPath(organisation, found.id),
    })}</section>
`,
  });
}
