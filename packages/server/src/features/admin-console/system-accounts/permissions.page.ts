import {
  type ConsoleFrame,
  type ConsoleView,
  consoleLayout,
} from "../../../html/components/console-layout.ts";
import { radioField } from "../../../html/components/fields.ts";
import { faultsFailure } from "../../../html/components/form-state.ts";
import { type FormFailure, failureNotice, recordForm } from "../../../html/components/record-form.ts";
import { moreMatchesHint, noResults, searchForm } from "../../../html/components/table.ts";
import { type Html, html } from "../../../html/html.ts";

export type AddPermissionView = ConsoleFrame &
  Pick<ConsoleView, "breadcrumbs"> & {
    /** The page's own address. */
    action: string;
    search: string;
    /** Applications that the account may not act for yet. */
    applications: readonly { id: string; name: string }[];
    hasMore: boolean;
    chosen?: string;
    fault?: string;
    failure?: FormFailure | undefined;
    csrf: string;
    cancelUri: string;
  };

export function addPermissionPage(view: AddPermissionView): Html {
  const { messages, applications, search, fault } = view;
  const { permissions: text } = messages.console.systemAccounts;
  const state = fault === undefined ? {} : { faults: { application: fault } };
  const form = () =>
    recordForm({
      id: "permission-form",
      action: view.action,
      csrf: view.csrf,
      hidden: [{ name: "search", value: search }],
      fields: radioField({
        id: "application",
        label: text.application,
        value: view.chosen ?? "",
        choices: applications.map(({ id, name }) => ({ value: id, label: name, text: id })),
        fault,
        hasFocus: fault !== undefined,
        messages,
      }),
      submit: { id: "permission-create", label: text.submit },
      cancelUri: view.cancelUri,
      messages,
    });
  return consoleLayout({
    ...view,
    title: text.addTitle,
    notice: failureNotice(view.failure ?? faultsFailure(state, () => text.application), messages),
    body: html`<section class="card" aria-label="${text.addTitle}">
${searchForm({
  action: view.action,
  label: text.search,
  value: search,
  isSearch: search !== "",
  messages,
})}${view.hasMore && moreMatchesHint(messages)}${applications.length > 0 ? form() : !view.hasMore && noResults(messages)}</section>
`,
  });
}
