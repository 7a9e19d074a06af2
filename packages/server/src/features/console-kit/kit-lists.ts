/** Samples: tables, filters, pages, timelines, empty states. */
import { avatar } from "../../html/components/avatar.ts";
import { badge } from "../../html/components/badge.ts";
import { button, buttonLink } from "../../html/components/button.ts";
import { card, facts } from "../../html/components/card.ts";
import { choiceCard, choiceList } from "../../html/components/choice-card.ts";
import { emptyState } from "../../html/components/empty-state.ts";
import { selectField } from "../../html/components/fields.ts";
import { filterBar } from "../../html/components/filter-bar.ts";
import { pagination } from "../../html/components/pagination.ts";
import { relativeTime } from "../../html/components/relative-time.ts";
import { savedFilters } from "../../html/components/saved-filters.ts";
import { nameCell, rowLink, table } from "../../html/components/table.ts";
import { tabs } from "../../html/components/tabs.ts";
import { timeline } from "../../html/components/timeline.ts";
import { type Html, html } from "../../html/html.ts";
import type { Messages } from "../../html/messages/messages.ts";
import { KIT } from "./kit-controls.ts";

const NAMES = ["Ada Lindqvist", "Grace Okafor", "Marta Silva"] as const;
const STATES = [
  ["good", "Active"],
  ["warn", "Invited"],
  ["bad", "Disabled"],
] as const;

const kitFilter = (messages: Messages): Html =>
  filterBar({
    action: KIT,
    label: "Name or email",
    value: "",
    filters: selectField({
      id: "status",
      label: "Status",
      value: "",
      choices: [
        { value: "", label: "Any status" },
        { value: "active", label: "Active" },
      ],
      messages,
    }),
    messages,
  });

const kitSavedFilters = (messages: Messages) =>
  savedFilters({
    saved: [
      { id: "kit-guests", name: "Guests", query: "role=guest" },
      { id: "kit-disabled", name: "Disabled", query: "status=disabled" },
    ],
    current: "status=disabled",
    uri: (query) => `${KIT}?${query}`,
    newUri: KIT,
    deleteUri: () => KIT,
    messages,
  });

/** @param now milliseconds */
export function tableCard(messages: Messages, now: number): Html {
  const rows = NAMES.map((name, index) => {
    const [kind, word] = STATES[index] ?? STATES[0];
    const email = `${name.split(" ")[0]?.toLowerCase()}@northwind.example`;
    return {
      id: `kit-row-${index}`,
      selection: { value: String(index), name },
      cells: [
        nameCell({
          name,
          uri: `${KIT}#table`,
          note: email,
          logo: avatar(name, undefined, { isRound: true }),
        }),
        badge(kind, word),
        relativeTime(now - index * 5_400_000, messages.format.minute),
      ],
      actions: rowLink({
        id: `kit-revoke-${index}`,
        uri: `${KIT}/question`,
        text: "Revoke",
        label: `Revoke ${name}`,
        isQuestion: true,
      }),
    };
  });
  return card({
    id: "table",
    title: "FilterBar, SavedFilters, Table, Pagination",
    body: [
      kitFilter(messages),
      kitSavedFilters(messages),
      table({
        label: "Users",
        columns: [
          { label: "Name", sort: { uri: `${KIT}?sort=name`, direction: "ascending" } },
          "Status",
          { label: "Last sign-in", sort: { uri: `${KIT}?sort=seen` } },
        ],
        rows,
        bulk: {
          action: KIT,
          hidden: [],
          acts: [
            { id: "kit-sign-out", label: "End sessions", value: "sessions" },
            { id: "kit-disable", label: "Disable", value: "disable", kind: "danger" },
          ],
        },
        messages,
      }),
      pagination({
        range: { from: 26, to: 50, total: 1_204 },
        previousUri: KIT,
        olderUri: `${KIT}?after=50`,
        sizes: {
          current: 25,
          uris: [25, 50, 100].map((size) => [size, `${KIT}?size=${size}`] as const),
        },
        messages,
      }),
    ],
  });
}

export const tabsSample = (): Html =>
  tabs({
    label: "Payroll",
    links: ["General", "URLs", "Credentials", "Tokens"].map((label, index) => ({
      id: `kit-tab-${index}`,
      label,
      uri: KIT,
      isCurrent: index === 0,
      ...(index === 2 ? { count: 2 } : {}),
    })),
  });

export const choicesSample = (): Html =>
  choiceList([
    choiceCard({
      ...{ id: "kit-choice-directory", uri: KIT, mark: "users", title: "Directory (SCIM)" },
      text: "Creates, changes and disables users here, as your directory says.",
    }),
    choiceCard({
      ...{ id: "kit-choice-provider", uri: KIT, mark: "connection", title: "OpenID Connect" },
      text: "People sign in with the account they have elsewhere.",
    }),
  ]);

export const timelineCard = (messages: Messages, now: number): Html =>
  card({
    id: "timeline",
    title: "Timeline",
    body: timeline({
      label: "Activity",
      none: "Nothing has happened yet.",
      words: messages.format.second,
      items: [
        {
          id: "kit-event-1",
          title: "Signed in",
          facts: ["Fleet Desk", "Firefox on Linux", "10.0.3.8"],
          icon: "check",
          at: now - 90_000,
        },
        {
          id: "kit-event-2",
          title: "Sign-in failed",
          facts: ["Incorrect password"],
          isBad: true,
          icon: "close",
          at: now - 8_000_000,
        },
        { id: "kit-event-3", title: "Password changed", uri: KIT, facts: [], at: now - 90_000_000 },
      ],
    }),
  });

export const stateCards = (): Html =>
  html`<div class="pair-of-cards">${card({
    id: "empty",
    title: "EmptyState",
    body: emptyState({
      icon: "application",
      title: "No applications yet",
      text: "An application is what your users sign in to.",
      action: buttonLink({ id: "kit-first", uri: KIT, label: "New application", kind: "primary" }),
    }),
  })}${card({
    id: "facts",
    title: "Card with facts",
    actions: button({ id: "kit-edit", label: "Edit", type: "button" }),
    text: "What a record has, label by label.",
    body: facts([
      { label: "Status", content: badge("good", "Enabled") },
      { label: "Type", content: "Web application" },
    ]),
  })}</div>
`;
