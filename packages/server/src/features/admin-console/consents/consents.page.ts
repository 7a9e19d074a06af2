import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { selectField, textField } from "../../../html/components/fields.ts";
import { buttonLink, emptyState, moment } from "../../../html/components/parts.ts";
import { successNotice } from "../../../html/components/record-form.ts";
import {
  nameCell,
  noResults,
  pager,
  type Row,
  rowLink,
  searchForm,
  table,
} from "../../../html/components/table.ts";
import { tabs } from "../../../html/components/tabs.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { ListedConsent } from "./consents.store.ts";

export type ConsentsTab = "consents" | "preauthorizations";

export type ConsentsView = ConsoleFrame & {
  tab: ConsentsTab;
  search: { user: string; application: string; kind: string; state: string };
  isSearch: boolean;
  /** Why there is no result. */
  problem: "unknownUser" | "unknownApplication" | "several" | undefined;
  /** With `several`. */
  choices: ReadonlyArray<{ name: string; uri: string }>;
  rows: ReadonlyArray<{
    consent: ListedConsent;
    by: string;
    revokedBy: string | undefined;
  }>;
  newestUri: string | undefined;
  olderUri: string | undefined;
  done: keyof Messages["console"]["consents"]["done"] | undefined;
};

export function consentsPage(view: ConsentsView): Html {
  const { messages, tab } = view;
  const { frame, consents: text } = messages.console;
  const words = tab === "consents" ? text : text.preauthorizations;
  const isEmpty =
    view.rows.length === 0 &&
    !view.isSearch &&
    view.newestUri === undefined &&
    view.search.state === "living";
  const grant = buttonLink({
    id: "consent-new",
    uri: view.consoleUri(`/${tab}/new`),
    label: words.grant,
    isPrimary: true,
  });
  return consoleLayout({
    ...view,
    title: tab === "consents" ? frame.pages.consents : text.tabs.preauthorizations,
    breadcrumbs: [],
    summary:
      tab === "consents"
        ? text.summary({ organisation: view.organisation.name })
        : text.preauthorizations.summary,
    actions: isEmpty ? undefined : grant,
    notice: view.done && successNotice(text.done[view.done]),
    body: [
      consentTabs(view),
      html`<section class="card">${
        isEmpty
          ? emptyState({ title: words.none, text: words.noneText, action: grant })
          : [
              filters(view),
              list(view),
              pager({ newestUri: view.newestUri, olderUri: view.olderUri, messages }),
            ]
      }</section>
`,
    ],
  });
}

function consentTabs({ tab, consoleUri, messages }: ConsentsView): Html {
  const { tabs: text } = messages.console.consents;
  const link = (one: ConsentsTab) => ({
    id: `tab-${one}`,
    label: text[one],
    uri: consoleUri(`/${one}`),
    isCurrent: one === tab,
  });
  return tabs({ label: text.label, links: [link("consents"), link("preauthorizations")] });
}

function filters({ tab, consoleUri, search, isSearch, messages }: ConsentsView): Html {
  const { consents: text } = messages.console;
  if (tab === "preauthorizations")
    return searchForm({
      action: consoleUri("/preauthorizations"),
      label: `${text.application} (${text.applicationHint})`,
      value: search.application,
      isSearch,
      messages,
    });
  return searchForm({
    action: consoleUri("/consents"),
    label: text.user,
    value: search.user,
    isSearch,
    filters: [
      textField({
        id: "application",
        label: `${text.application} (${text.applicationHint})`,
        value: search.application,
        maxLength: 100,
        messages,
      }),
      selectField({
        id: "kind",
        label: text.kind,
        value: search.kind,
        choices: [
          { value: "", label: text.anyKind },
          { value: "user", label: text.kinds.user },
          { value: "organisation", label: text.kinds.organisation },
        ],
        messages,
      }),
      selectField({
        id: "state",
        label: text.state,
        value: search.state,
        choices: [
          { value: "living", label: text.states.living },
          { value: "revoked", label: text.states.revoked },
        ],
        messages,
      }),
    ],
    messages,
  });
}

function list(view: ConsentsView): Content {
  const { messages, problem, choices, rows } = view;
  const { consents: text } = messages.console;
  if (problem === "several")
    return html`<div role="status"><p class="item-name">${text.several}</p>
<ul class="plain-list" id="application-choices">${choices.map(({ name, uri }) => html`<li><a href="${linkAddress(uri)}"><bdi>${name}</bdi></a></li>`)}</ul></div>
`;
  if (problem !== undefined)
    return html`<div class="empty" role="status"><p class="item-name" id="nothing-found">${text[problem]}</p></div>
`;
  if (rows.length === 0) return noResults(messages);
  const isRevoked = view.search.state === "revoked";
  const { columns } = text;
  const about = view.tab === "consents" ? [columns.who, columns.application] : [columns.application];
  return table({
    label: text.tabs[view.tab],
    columns: [...about, columns.scopes, columns.since, ...(isRevoked ? [columns.until] : [])],
    rows: rows.map((row) => consentRow(row, view)),
    messages,
  });
}

const dayBy = (at: number, who: string | undefined, { format, console }: Messages): Html =>
  html`${moment(at, format.day)}${who !== undefined && html`<span class="quiet item-note"><bdi>${console.consents.by({ who })}</bdi></span>`}`;

function consentRow(
  row: ConsentsView["rows"][number],
  { tab, search, consoleUri, messages }: ConsentsView,
): Row {
  const { consents: text } = messages.console;
  const { consent } = row;
  const { id, application, user, scopes } = consent;
  const applicationUri = consoleUri(`/applications/${application.id}`);
  const revokeUri = consoleUri(`/${tab}/${id}/${tab === "consents" ? "revoke" : "delete"}`);
  const who = user === undefined ? text.allUsers : (user.email ?? text.formerUser);
  const [action, label] =
    tab === "consents"
      ? [text.revoke, text.revokeOf({ application: application.name })]
      : [text.preauthorizations.remove, text.preauthorizations.removeOf({ application: application.name })];
  return {
    id: `consent-${id}`,
    cells: [
      ...(tab === "consents"
        ? [
            nameCell({ name: who, ...(user?.email ? { uri: consoleUri(`/users/${user.id}`) } : {}) }),
            html`<a class="beside" href="${linkAddress(applicationUri)}"><bdi>${application.name}</bdi></a>`,
          ]
        : [nameCell({ name: application.name, uri: applicationUri })]),
      html`<span class="codes-line">${scopes.map((scope) => html`<code>${scope}</code> `)}</span>`,
      dayBy(consent.grantedAt, row.by, messages),
      ...(search.state === "revoked" ? [dayBy(consent.revokedAt ?? 0, row.revokedBy, messages)] : []),
    ],
    actions:
      search.state === "revoked"
        ? undefined
        : rowLink({ id: `consent-revoke-${id}`, uri: revokeUri, text: action, label }),
  };
}
