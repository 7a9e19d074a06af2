/** A page that is one form. */
import { type Content, type Html, html } from "../html.ts";
import { type ConsoleView, consoleLayout } from "./console-layout.ts";
import { type FormView, faultsFailure, fieldState } from "./form-state.ts";
import { failureNotice, recordForm } from "./record-form.ts";

type RecordForm = Parameters<typeof recordForm>[0];

/** @param view.labels by field, for the faults above the form */
export function formPage(
  view: Omit<FormView<unknown>, "input"> &
    Omit<ConsoleView, "body"> &
    Omit<RecordForm, "version"> & {
      labels: Readonly<Record<string, string>>;
      /** Of the card, for screen readers. */
      cardLabel?: string;
      above?: Content;
      below?: Content;
    },
): Html {
  const label = view.cardLabel !== undefined && html` aria-label="${view.cardLabel}"`;
  const failure = view.failure ?? faultsFailure(view.state, (id) => view.labels[id] ?? id);
  return consoleLayout({
    ...view,
    notice: failureNotice(failure, view.messages) ?? view.notice,
    body: html`<section class="card"${label}>${view.above}${recordForm(view)}${view.below}</section>
`,
  });
}

/** What a field takes from its form, by its id: label, value, fault and present value. */
export const fieldsOf =
  <Input>(
    { input, state, messages }: Pick<FormView<Input>, "input" | "state" | "messages">,
    labels: Readonly<Partial<Record<keyof Input & string, string>>>,
  ) =>
  <Id extends keyof Input & string>(id: Id) => ({
    id,
    label: labels[id] ?? id,
    value: input[id],
    messages,
    ...fieldState(state, id),
  });
