/** What was found, in the reader's words and with the addresses of its pages. */
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import type { IconName } from "../../../html/components/icons.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { DisplayedEvent } from "../../../page-kit/audit-events/display-events.ts";
import { type Found, matchLabels } from "./find-results.ts";
import type { FoundRecord, RecordKind } from "./records.store.ts";

export interface ResultItem {
  readonly label: string;
  readonly note?: string;
  readonly uri: string;
  readonly icon: IconName;
}

export interface ResultGroup {
  readonly id: "pages" | "actions" | "events" | RecordKind;
  readonly label: string;
  readonly items: readonly ResultItem[];
}

export type ResultsView = Pick<ConsoleFrame, "messages" | "consoleUri"> & {
  sections: ConsoleFrame["navigation"]["sections"];
  devicesUri: string;
  text: string;
  found: Found;
  events: readonly DisplayedEvent[];
};

/** Groups with something in them. Without a text: every page and action. */
export function resultGroups(view: ResultsView): ResultGroup[] {
  const { commandMenu, frame } = view.messages.console;
  const names = { ...frame.pages, ...commandMenu.groups, events: frame.pages.auditLog };
  const group = (id: ResultGroup["id"], items: readonly ResultItem[]) => ({ id, label: names[id], items });
  const [actions, pages] = [group("actions", actionItems(view)), group("pages", pageItems(view))];
  const records = view.found.records.map(({ kind, found }) =>
    group(
      kind,
      found.map((record) => recordItem(view, kind, record)),
    ),
  );
  const events = group("events", view.text === "" ? [] : eventItems(view));
  return [pages, ...records, actions, events].filter(({ items }) => items.length > 0);
}

function pageItems({ sections, text }: ResultsView): ResultItem[] {
  const pages = sections.flatMap(({ links }) => links.map((link) => ({ ...link, keywords: link.uri })));
  return matchLabels(pages, text).map(({ label, uri, icon }) => ({ label, uri, icon }));
}

/** Where each begins. */
const actions = [
  ["newApplication", "/applications/new", "plus"],
  ["inviteUser", "/users/new", "invitation"],
  ["newSystemAccount", "/system-accounts/new", "plus"],
  ["newScope", "/scopes/new", "plus"],
  ["newResource", "/resources/new", "plus"],
  ["newInitialAccessToken", "/initial-access-tokens/new", "plus"],
  ["newGroup", "/groups/new", "plus"],
  ["newRole", "/roles/new", "plus"],
  ["rotateKey", "/signing-keys", "key"],
  ["editBranding", "/settings/branding", "brush"],
  ["editPolicies", "/settings/policies", "policy"],
] as const satisfies ReadonlyArray<
  readonly [keyof Messages["console"]["commandMenu"]["actions"], `/${string}`, IconName]
>;

function actionItems({ messages, consoleUri, text }: ResultsView): ResultItem[] {
  const { actions: names } = messages.console.commandMenu;
  const items = actions.map(([name, path, icon]) => ({
    label: names[name],
    uri: consoleUri(path),
    icon,
    keywords: path,
  }));
  return matchLabels(items, text).map(({ keywords: _, ...item }) => item);
}

const icons = {
  users: "person",
  applications: "application",
  systemAccounts: "account",
  devices: "device",
  pools: "pool",
  scopes: "scope",
  groups: "groups",
  roles: "shield",
  resources: "server",
  trusts: "consent",
  tokenExchange: "loop",
  clientAuthorities: "shield",
  authorizationDetailTypes: "braces",
  initialAccessTokens: "key",
} as const satisfies Record<RecordKind, IconName>;

function recordItem(
  { consoleUri, devicesUri }: ResultsView,
  kind: RecordKind,
  { id, name, note = id }: FoundRecord,
): ResultItem {
  const folder = kind.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const uri = kind === "devices" ? `${devicesUri}/${id}` : consoleUri(`/${folder}/${id}`);
  return { label: name, note, uri, icon: icons[kind] };
}

function eventItems({ events, messages, consoleUri, text }: ResultsView): ResultItem[] {
  const { commandMenu } = messages.console;
  const found = events.map(
    ({ event, who, what }): ResultItem => ({
      label: what,
      note: `${who} · ${messages.format.minute(event.at)}`,
      uri: consoleUri(`/audit-log/${event.id}`),
      icon: "log",
    }),
  );
  const search = new URLSearchParams({ search: text });
  const all = { label: commandMenu.searchAuditLog({ text }), uri: consoleUri(`/audit-log?${search}`) };
  return [...found, { ...all, icon: "log" }];
}
