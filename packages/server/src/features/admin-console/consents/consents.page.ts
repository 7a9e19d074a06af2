/** Consents and pre-authorizations as lists, a tab each. */
import { icon } from "../../../html/components/icons.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell } from "../../../html/components/table.ts";
import { tabs } from "../../../html/components/tabs.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { ListFrame } from "../../../page-kit/list/list.ts";
import type { ListedConsent } from "./consents.store.ts";

export type ConsentsTab = "consents" | "preauthorizations";

/** With the names of who granted and who revoked. */
export type ConsentRow = ListedConsent & { readonly by: string; readonly endedBy: string | undefined };

export function consentTabs(
  tab: ConsentsTab | "shared-applications",
  { consoleUri, messages }: Pick<ListFrame, "consoleUri" | "messages">,
): Html {
  const { tabs: text } = messages.console.consents;
  const link = (one: ConsentsTab) => ({
    id: `tab-${one}`,
    label: text[one],
    uri: consoleUri(`/${one}`),
    isCurrent: one === tab,
  });
  const shared = {
    ...{ id: "tab-shared-applications", label: text.shared, uri: consoleUri("/shared-applications") },
    isCurrent: tab === "shared-applications",
  };
  return tabs({ label: text.label, links: [link("consents"), link("preauthorizations"), shared] });
}

/** Why a filter can't mean anything, or what it may mean. */
export type FilterProblem =
  | { readonly kind: "unknownUser" | "unknownApplication" }
  | { readonly kind: "several"; readonly choices: ReadonlyArray<{ name: string; uri: string }> };

export function problemNotice(problem: FilterProblem, { console: { consents: text } }: Messages): Html {
  if (problem.kind === "several")
    return html`<div role="status"><p class="item-name">${text.several}</p>
<ul class="plain-list" id="application-choices">${problem.choices.map(({ name, uri }) => html`<li><a href="${linkAddress(uri)}"><bdi>${name}</bdi></a></li>`)}</ul></div>
`;
  return html`<div class="empty" role="status"><span class="empty-icon">${icon("search")}</span><p class="item-name" id="nothing-found">${text[problem.kind]}</p></div>
`;
}

export const userCell = ({ user }: ConsentRow, { consoleUri, messages }: ListFrame): Html =>
  nameCell({
    name: whoseConsent(user, messages),
    ...(user?.email ? { uri: consoleUri(`/users/${user.id}`) } : {}),
  });

export const whoseConsent = (
  user: { readonly email: string | null } | undefined,
  { console: { consents: text } }: Messages,
): string => (user === undefined ? text.allUsers : (user.email ?? text.formerUser));

export const applicationCell = (
  { application: { id, name, isShared } }: ConsentRow,
  { consoleUri }: ListFrame,
): Html => {
  const uri = consoleUri(isShared ? "/shared-applications" : `/applications/${id}`);
  return html`<a class="beside" href="${linkAddress(uri)}"><bdi>${name}</bdi></a>`;
};

export const scopesCell = ({ scopes }: ConsentRow): Html =>
  html`<span class="codes-line">${scopes.map((scope) => html`<code>${scope}</code> `)}</span>`;

export const dayBy = (at: number, who: string | undefined, { format, console }: Messages): Html =>
  html`${relativeTime(at, format.day)}${who !== undefined && html`<span class="quiet item-note"><bdi>${console.consents.by({ who })}</bdi></span>`}`;
