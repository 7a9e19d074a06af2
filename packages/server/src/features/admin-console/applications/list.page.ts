import type { Application } from "../../../core/applications/application.ts";
import { kindOf } from "../../../core/applications/kinds.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { selectField } from "../../../html/components/fields.ts";
import { mark } from "../../../html/components/mark.ts";
import { buttonLink, emptyState, moment, state } from "../../../html/components/parts.ts";
import { successNotice } from "../../../html/components/record-form.ts";
import { nameCell, noResults, pager, searchForm, table } from "../../../html/components/table.ts";
import { type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";

export const listedTypes = ["confidential", "spa", "native", "public"] as const;
export const listedStates = ["enabled", "disabled"] as const;

export type ListView = ConsoleFrame & {
  search: {
    text: string;
    type: (typeof listedTypes)[number] | undefined;
    state: (typeof listedStates)[number] | undefined;
  };
  applications: readonly Application[];
  newestUri?: string | undefined;
  olderUri?: string | undefined;
  isDeleted: boolean;
};

export function listPage(view: ListView): Html {
  const { messages, search } = view;
  const { list } = messages.console.applications;
  const isSearch = search.text !== "" || search.type !== undefined || search.state !== undefined;
  const isEmpty = view.applications.length === 0 && view.newestUri === undefined;
  const body = isEmpty && !isSearch ? firstOne(view) : [listSearch(view, isSearch), rows(view)];
  return consoleLayout({
    ...view,
    breadcrumbs: [],
    title: messages.console.frame.pages.applications,
    summary: list.summary,
    notice: view.isDeleted ? successNotice(messages.console.applications.done.deleted) : undefined,
    actions: buttonLink({
      id: "application-new",
      uri: view.consoleUri("/applications/new"),
      label: list.create,
      isPrimary: true,
    }),
    body: html`<section class="card" aria-label="${messages.console.frame.pages.applications}">
${body}${pager(view)}</section>
`,
  });
}

function firstOne({ messages, consoleUri }: ListView): Html {
  const { list } = messages.console.applications;
  const action = buttonLink({
    id: "first-quickstart",
    uri: consoleUri("/quickstart"),
    label: list.quickstart,
  });
  return emptyState({ title: list.none, text: list.noneText, action });
}

function listSearch(view: ListView, isSearch: boolean): Html {
  const { messages, search } = view;
  const { list, types } = messages.console.applications;
  const choice = (value: keyof typeof types) => ({ value, label: types[value] });
  return searchForm({
    action: view.consoleUri("/applications"),
    label: list.search,
    value: search.text,
    filters: [
      selectField({
        id: "type",
        label: list.type,
        value: search.type ?? "",
        choices: [{ value: "", label: list.anyType }, ...listedTypes.map(choice)],
        messages,
      }),
      selectField({
        id: "state",
        label: list.state,
        value: search.state ?? "",
        choices: [
          { value: "", label: list.anyState },
          ...listedStates.map((value) => ({ value, label: list[value] })),
        ],
        messages,
      }),
    ],
    isSearch,
    messages,
  });
}

function rows(view: ListView): Html {
  const { messages, applications } = view;
  if (applications.length === 0) return noResults(messages);
  const { list, kinds } = messages.console.applications;
  return table({
    label: messages.console.frame.pages.applications,
    columns: [list.name, list.kind, list.state, list.created],
    rows: applications.map((application) => ({
      id: `application-${application.id}`,
      cells: [
        named(view, application),
        kinds[kindOf(application)],
        applicationStatus(application, messages),
        moment(application.createdAt, messages.format.day),
      ],
    })),
    messages,
  });
}

function named(view: ListView, { id, name, settings }: Application): Html {
  const note = html`<code>${id}</code>`;
  return html`<div class="named">${mark(name, settings.logoUri)}<div>${nameCell({ name, uri: view.consoleUri(`/applications/${id}`), note })}</div></div>`;
}

export function applicationStatus({ disabledAt }: Pick<Application, "disabledAt">, messages: Messages): Html {
  const { list } = messages.console.applications;
  return disabledAt === null ? state("good", list.enabled) : state("bad", list.disabled);
}
