/** Consents and pre-authorizations, a tab each. */

import { buttonLink } from "../../../html/components/button.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { emptyState } from "../../../html/components/empty-state.ts";
import { selectField, textField } from "../../../html/components/fields.ts";
import { filterBar, noResults } from "../../../html/components/filter-bar.ts";
import { pagination } from "../../../html/components/pagination.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, type Row, rowLink, table } from "../../../html/components/table.ts";
import { tabs } from "../../../html/components/tabs.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { ListedConsent } from "./consents.store.ts";

export type ConsentsTab = "consents" | "preauthorizations";

export type ConsentsView = ConsoleFrame & {
  tab: ConsentsTab;
  search: {
    user: string;
    application: string;
    kind: "" | "user" | "organisation";
    state: "living" | "revoked";
  };
  /** Why there is no result. */
  problem: "unknownUser" | "unknownApplication" | "several" | undefined;
  /** With `several`. */
  choices: ReadonlyArray<{ name: string; uri: string }>;
  /** With the names of who granted and who revoked. */
  rows: ReadonlyArray<ListedConsent & { by: string; endedBy: string | undefined }>;
  newestUri: string | undefined;
  olderUri: string | undefined;
  done: keyof Messages["console"]["consents"]["done"] | undefined;
};

export function consentsPage(view: ConsentsView): Html {
  const { messages, tab } = view;
  const { frame, consents: text } = messages.console;
  const words = tab === "consents" ? text : text.preauthorizations;
  const isEmpty = view.rows.length === 0 && !isSearch(view) && view.newestUri === undefined;
  const grant = buttonLink({
    id: "consent-new",
    uri: view.consoleUri(`/${tab}/new`),
    label: words.grant,
    kind: "primary",
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
    notice: view.done && toast(text.done[view.done], view.messages),
    body: [
      consentTabs(view),
      html`<section class="card">${
        isEmpty
          ? emptyState({ title: words.none, text: words.noneText, action: grant })
          : [
              filters(view),
              list(view),
              pagination({ newestUri: view.newestUri, olderUri: view.olderUri, messages }),
            ]
      }</section>
`,
    ],
  });
}

const isSearch = ({ search: { user, application, kind, state } }: ConsentsView): boolean =>
  user !== "" || application !== "" || kind !== "" || state !== "living";

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

function filters(view: ConsentsView): Html {
  const { tab, search, messages } = view;
  const { consents: text } = messages.console;
  const form = { action: view.consoleUri(`/${tab}`), isSearch: isSearch(view), messages };
  const application = {
    label: `${text.application} (${text.applicationHint})`,
    value: search.application,
    messages,
  };
  if (tab === "preauthorizations") return filterBar({ ...form, ...application });
  const select = (id: "kind" | "state", choices: Readonly<Record<string, string>>) =>
    selectField({
      id,
      label: text[id],
      value: search[id],
      choices: Object.entries(choices).map(([value, label]) => ({ value, label })),
      messages,
    });
  return filterBar({
    ...form,
    label: text.user,
    value: search.user,
    filters: [
      textField({ ...application, id: "application", maxLength: 100 }),
      select("kind", { "": text.anyKind, user: text.kinds.user, organisation: text.kinds.organisation }),
      select("state", { living: text.states.living, revoked: text.states.revoked }),
    ],
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
  html`${relativeTime(at, format.day)}${who !== undefined && html`<span class="quiet item-note"><bdi>${console.consents.by({ who })}</bdi></span>`}`;

function consentRow(
  row: ConsentsView["rows"][number],
  { tab, search, consoleUri, messages }: ConsentsView,
): Row {
  const { consents: text } = messages.console;
  const isRevoked = search.state === "revoked";
  const { id, application, user, scopes, grantedAt, revokedAt } = row;
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
      dayBy(grantedAt, row.by, messages),
      ...(isRevoked ? [dayBy(revokedAt ?? 0, row.endedBy, messages)] : []),
    ],
    actions: isRevoked
      ? undefined
      : rowLink({ id: `consent-revoke-${id}`, uri: revokeUri, text: action, label }),
  };
}
