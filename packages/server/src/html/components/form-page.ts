/** A page that is one form. */
import { type Content, type Html, html } from "../html.ts";
import { type ConsoleView, consoleLayout } from "./console-layout.ts";
import { type FormView, faultsFailure, fieldState } from "./form-state.ts";
import { failureNotice, recordForm } from "./record-form.ts";

type RecordForm = Parameters<typeof recordForm>[0];
type Labels = Readonly<Record<string, string>>;
type FormParts = Omit<FormView<unknown>, "input"> & { labels: Labels };

/** @param view.labels by field, for the faults above the form */
export function formPage(
  view: FormParts &
    Omit<ConsoleView, "body"> &
    Omit<RecordForm, "version"> & {
      /** Of the card, for screen readers. */
      cardLabel?: string;
      above?: Content;
      below?: Content;
    },
): Html {
  const label = view.cardLabel !== undefined && html` aria-label="${view.cardLabel}"`;
  return consoleLayout({
    ...view,
    notice: formNotice(view) ?? view.notice,
    body: html`<section class="card"${label}>${view.above}${recordForm(view)}${view.below}</section>
`,
  });
}

/** A form within a page, in a card whose label screen readers say: a tab of a record. */
export const editedCard = (view: RecordForm & { label: string }): Html =>
  html`<section class="card" aria-label="${view.label}">${recordForm(view)}</section>
`;

export const formNotice = ({ failure, state, labels, messages }: FormParts): Html | undefined =>
  failureNotice(failure ?? faultsFailure(state, (id) => labels[id] ?? id), messages);

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
