import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { checkList, radioField, textField } from "../../../html/components/fields.ts";
import { type FormView, faultsFailure, fieldState } from "../../../html/components/form-state.ts";
import { buttonLink } from "../../../html/components/parts.ts";
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
import type { ConsentsTab } from "./consents.page.ts";

export type ChooseView = ConsoleFrame & {
  tab: ConsentsTab;
  /** The page's own address. */
  action: string;
  search: string;
  applications: ReadonlyArray<{ id: string; name: string; uri: string }>;
  hasMore: boolean;
};

/** The first step of a grant: the application decides which scopes there are. */
export function chooseApplicationPage(view: ChooseView): Html {
  const { messages, tab, applications, search } = view;
  const { frame, consents: text } = messages.console;
  const allow = tab === "consents" ? text.submit : text.preauthorizations.submit;
  const isEmpty = applications.length === 0 && search === "";
  return consoleLayout({
    ...view,
    // The document title tells the two tabs apart.
    title: tab === "consents" ? text.grant : text.preauthorizations.grant,
    heading: text.choose,
    summary: isEmpty ? undefined : text.chooseText,
    breadcrumbs: [
      {
        label: tab === "consents" ? frame.pages.consents : text.tabs.preauthorizations,
        uri: view.consoleUri(`/${tab}`),
      },
    ],
    body: html`<section class="card">${
      isEmpty
        ? html`<p id="no-applications">${text.noApplications}</p>
<p>${buttonLink({ id: "application-new", uri: view.consoleUri("/applications/new"), label: messages.console.applications.list.create })}</p>`
        : [
            searchForm({
              action: view.action,
              label: `${text.application} (${text.applicationHint})`,
              value: search,
              isSearch: search !== "",
              messages,
            }),
            view.hasMore && moreMatchesHint(messages),
            applications.length === 0
              ? noResults(messages)
              : table({
                  label: text.application,
                  columns: [text.application],
                  rows: applications.map(({ id, name, uri }) => ({
                    id: `application-${id}`,
                    cells: [nameCell({ name, uri, note: html`<code>${id}</code>` })],
                    actions: rowLink({
                      id: `choose-${id}`,
                      uri,
                      text: allow,
                      label: `${allow}: ${name}`,
                    }),
                  })),
                  messages,
                }),
          ]
    }</section>
`,
  });
}

export type GrantInput = { forWhom: string; email: string; scopes: readonly string[] };

export type GrantView = FormView<GrantInput> & {
  tab: ConsentsTab;
  application: { id: string; name: string };
  /** The scopes that the application may request. */
  scopes: ReadonlyArray<{ name: string; text: string }>;
};

/** The second step: which scopes, and for whom. */
export function grantPage(view: GrantView): Html {
  const { messages, tab, application, state: form } = view;
  const { frame, consents: text } = messages.console;
  const words =
    tab === "consents"
      ? {
          title: text.grantTitle({ application: application.name }),
          text: text.grantText,
          submit: text.submit,
        }
      : {
          title: text.preauthorizations.title({ application: application.name }),
          text: text.preauthorizations.text,
          submit: text.preauthorizations.submit,
        };
  const labels: Readonly<Record<string, string>> = {
    forWhom: text.forWhom,
    email: text.email,
    scopes: text.scopes,
  };
  return consoleLayout({
    ...view,
    title: words.title,
    summary: words.text,
    breadcrumbs: [
      {
        label: tab === "consents" ? frame.pages.consents : text.tabs.preauthorizations,
        uri: view.consoleUri(`/${tab}`),
      },
    ],
    notice: failureNotice(view.failure ?? faultsFailure(form, (id) => labels[id] ?? id), messages),
    body: html`<section class="card">${
      view.scopes.length === 0
        ? html`<p id="no-scopes">${text.noScopes}</p>`
        : recordForm({
            ...view,
            id: "grant-form",
            hidden: [{ name: "application", value: application.id }],
            fields: [tab === "consents" && recipientFields(view), scopeList(view)],
            submit: { id: "grant-submit", label: words.submit },
            cancelUri: view.consoleUri(`/${tab}`),
          })
    }</section>
`,
  });
}

function recipientFields({ input, state: form, messages }: GrantView): Html {
  const { consents: text } = messages.console;
  return html`${radioField({
    id: "forWhom",
    label: text.forWhom,
    value: input.forWhom,
    choices: [
      { value: "organisation", label: text.forOrganisation, text: text.forOrganisationText },
      { value: "user", label: text.forUser, text: text.forUserText },
    ],
    ...fieldState(form, "forWhom"),
    messages,
  })}${textField({
    id: "email",
    label: text.user,
    type: "email",
    value: input.email,
    maxLength: 254,
    ...fieldState(form, "email"),
    messages,
  })}`;
}

const scopeList = ({ tab, scopes, input, state: form, messages }: GrantView): Html =>
  checkList({
    id: "scopes",
    label: messages.console.consents.scopes,
    ...(tab === "consents" ? { hint: messages.console.consents.scopesHint } : {}),
    values: input.scopes,
    choices: scopes.map(({ name, text }) => ({ value: name, label: name, text })),
    ...fieldState(form, "scopes"),
    messages,
  });
