import {
  type ConsoleFrame,
  type ConsoleView,
  consoleLayout,
} from "../../../html/components/console-layout.ts";
import { checkField, radioField, textField } from "../../../html/components/fields.ts";
import { type FormView, faultsFailure, fieldState } from "../../../html/components/form-state.ts";
import { buttonLink, emptyState, facts } from "../../../html/components/parts.ts";
import { failureNotice, recordForm } from "../../../html/components/record-form.ts";
import {
  moreMatchesHint,
  nameCell,
  noResults,
  rowLink,
  searchForm,
  table,
} from "../../../html/components/table.ts";
import { type Html, html } from "../../../html/html.ts";

export type ChooseView = ConsoleFrame &
  Pick<ConsoleView, "breadcrumbs"> & {
    /** The page's own address. */
    action: string;
    search: string;
    applications: readonly { id: string; name: string; uri: string }[];
    hasMore: boolean;
    fault?: string;
  };

export function chooseApplicationPage(view: ChooseView): Html {
  const { messages, applications, search } = view;
  const { choose: text, permissions } = messages.console.systemAccounts;
  const isEmpty = applications.length === 0 && search === "";
  const make = {
    id: "application-new",
    uri: view.consoleUri("/applications/new"),
    label: text.makeApplication,
  };
  const list = table({
    label: text.title,
    columns: [permissions.application],
    rows: applications.map(({ id, name, uri }) => ({
      id: `application-${id}`,
      cells: [nameCell({ name, note: html`<code>${id}</code>` })],
      actions: rowLink({ id: `choose-${id}`, uri, text: text.choose, label: text.chooseOf({ name }) }),
    })),
    messages,
  });
  return consoleLayout({
    ...view,
    title: text.title,
    summary: text.summary,
    notice:
      view.fault === undefined ? undefined : failureNotice({ kind: "refused", title: view.fault }, messages),
    body: html`<section class="card" aria-label="${text.title}">
${
  isEmpty
    ? emptyState({ title: text.none, text: text.noneText, action: buttonLink({ ...make, isPrimary: true }) })
    : [
        searchForm({
          action: view.action,
          label: permissions.search,
          value: search,
          isSearch: search !== "",
          messages,
        }),
        applications.length === 0 ? noResults(messages) : [view.hasMore && moreMatchesHint(messages), list],
      ]
}</section>
`,
  });
}

export type AccountInput = { name: string; kind: "plain" | "administrator"; isStrict: boolean };

export type NewAccountView = FormView<AccountInput> &
  Pick<ConsoleView, "breadcrumbs"> & { application: { id: string; name: string } };

export function newAccountPage(view: NewAccountView): Html {
  const { messages, input, state, application } = view;
  const { create: text, choose, kinds } = messages.console.systemAccounts;
  const failure = view.failure ?? faultsFailure(state, () => text.name);
  return consoleLayout({
    ...view,
    title: choose.title,
    notice: failureNotice(failure, messages),
    body: html`<section class="card" aria-label="${choose.title}">${facts([
      { label: text.application, content: html`<bdi>${application.name}</bdi>` },
    ])}${recordForm({
      ...view,
      id: "account-form",
      cancelUri: view.consoleUri("/system-accounts"),
      hidden: [{ name: "application", value: application.id }],
      fields: [
        textField({
          id: "name",
          label: text.name,
          hint: text.nameHint,
          value: input.name,
          maxLength: 100,
          isRequired: true,
          hasFocus: true,
          messages,
          ...fieldState(state, "name"),
        }),
        radioField({
          id: "kind",
          label: text.kind,
          value: input.kind,
          choices: (["plain", "administrator"] as const).map((value) => ({
            value,
            label: kinds[value],
            text: text.kindTexts[value],
          })),
          messages,
        }),
        checkField({
          id: "strict",
          label: text.strict,
          hint: text.strictHint,
          isChecked: input.isStrict,
          messages,
        }),
      ],
      submit: { id: "account-create", label: text.submit },
    })}</section>
`,
  });
}
