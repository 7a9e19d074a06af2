import { type ConsoleView, consoleLayout } from "../../../html/components/console-layout.ts";
import { checkField, textField } from "../../../html/components/fields.ts";
import { type FormView, faultsFailure, fieldState } from "../../../html/components/form-state.ts";
import { facts } from "../../../html/components/parts.ts";
import { failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { type Html, html } from "../../../html/html.ts";

export type TypedAddress = { email: string; isKnown: boolean };

export type AddressView = FormView<TypedAddress> &
  Pick<ConsoleView, "breadcrumbs"> & { present: string; canMail: boolean; cancelUri: string };

export function addressPage(view: AddressView): Html {
  const { messages, typed, state } = view;
  const { address: text, create } = messages.console.users;
  const labelOf = (id: string) => (id === "known" ? text.known : text.next);
  const field = (id: string) => ({ id, label: labelOf(id), messages, ...fieldState(state, id) });
  const isFirst = Object.keys(state.faults ?? {}).length === 0;
  const failure = view.failure ?? faultsFailure(state, labelOf);
  return consoleLayout({
    ...view,
    title: text.title,
    summary: view.canMail ? undefined : `${create.noMail}.`,
    notice: failureNotice(failure, messages),
    body: html`<section class="card" aria-label="${text.title}">${facts([
      { label: text.present, content: html`<bdi>${view.present}</bdi>` },
    ])}${recordForm({
      id: "address-form",
      action: view.action,
      csrf: view.csrf,
      seen: view.seen,
      once: view.once,
      fields: [
        textField({
          ...field("newEmail"),
          type: "email",
          value: typed.email,
          maxLength: 254,
          isRequired: true,
          ...(isFirst ? { hasFocus: true } : {}),
        }),
        checkField({ ...field("known"), hint: text.knownHint, isChecked: typed.isKnown }),
      ],
      submit: { id: "address-change", label: text.submit },
      cancelUri: view.cancelUri,
      messages,
    })}</section>
`,
  });
}
