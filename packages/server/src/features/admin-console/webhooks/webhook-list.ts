/** The organisation's webhooks as a list: it has a few. */
import type { Webhook } from "../../../core/webhooks/webhook.ts";
import { listWebhooks } from "../../../core/webhooks/webhooks.store.ts";
import { badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell } from "../../../html/components/table.ts";
import { bulkAct } from "../../../page-kit/list/bulk-act.ts";
import type { List, ListSort } from "../../../page-kit/list/list.ts";
import { memoryList, mentions } from "../../../page-kit/list/memory-list.ts";
import { consolePath } from "../../../page-kit/page.ts";
import { countFailed } from "./deliveries.store.ts";
import { deletion, statusChange } from "./end.route.ts";
import { eventsSummary } from "./event-choice.ts";
import { hostOf, WEBHOOKS, type WebhooksDeps, webhookPages, webhookStatus } from "./webhook-pages.ts";

type Row = Webhook & { readonly failed: number };
type WebhookSort = "created" | "receiver";

const sorts: Readonly<Record<WebhookSort, ListSort<Row>>> = {
  // Ids rise with the time of creation.
  created: { isNumber: false, isDescending: true, value: ({ id }) => id },
  receiver: { isNumber: false, isDescending: false, value: (row) => hostOf(row).toLowerCase() },
};

const states = ["enabled", "disabled"] as const;

type WebhookChoices = { state: (typeof states)[number] };

export const webhookList = {
  current: "webhooks",
  noun: "webhook",
  savedAs: "webhooks",
  uri: (organisation, rest = "") => consolePath(organisation, `${WEBHOOKS}${rest}`),
  texts: ({ console: { frame, webhooks } }, { name: organisation }) => ({
    title: frame.pages.webhooks,
    summary: webhooks.summary({ organisation }),
    search: webhooks.columns.receiver,
    none: webhooks.none,
    noneText: webhooks.noneText,
  }),
  filters: {
    state: {
      label: ({ console: { webhooks } }) => webhooks.columns.state,
      any: ({ console: { webhooks } }) => webhooks.anyState,
      choices: states,
      names: ({ console: { webhooks } }) => webhooks.states,
    },
  },
  sorts,
  ...memoryList<WebhooksDeps, Row, WebhookSort, WebhookChoices>({
    sorts,
    load: async ({ deps: { database }, organisation }) => {
      const failed = await countFailed(database.query, organisation.id);
      const webhooks = await listWebhooks(database.query, organisation.id);
      return webhooks.map((webhook) => ({ ...webhook, failed: failed.get(webhook.id) ?? 0 }));
    },
    matches: (row, { search, state }) =>
      mentions(search, [hostOf(row)]) && (state === undefined || row.enabled === (state === "enabled")),
  }),
  columns: [
    {
      label: ({ console: { webhooks } }) => webhooks.columns.receiver,
      sort: "receiver",
      cell: (row, { consoleUri }) =>
        nameCell({ name: hostOf(row), uri: consoleUri(`${WEBHOOKS}/${row.id}`) }),
    },
    {
      label: ({ console: { webhooks } }) => webhooks.columns.events,
      cell: ({ events }, { messages }) => eventsSummary(events, messages),
    },
    {
      label: ({ console: { webhooks } }) => webhooks.columns.state,
      cell: (row, { messages }) => webhookStatus(row, messages),
    },
    {
      label: ({ console: { webhooks } }) => webhooks.columns.failed,
      cell: ({ failed }, { messages: { console } }) =>
        failed > 0 && badge("bad", console.webhooks.failedCount({ count: failed })),
    },
    {
      label: ({ console: { webhooks } }) => webhooks.columns.created,
      sort: "created",
      cell: ({ createdAt }, { messages }) => relativeTime(createdAt, messages.format.day),
    },
  ],
  nameOf: hostOf,
  acts: {
    disable: bulkAct(({ console }) => console.webhooks.bulk.disable, statusChange(true), hostOf),
    enable: bulkAct(({ console }) => console.webhooks.bulk.enable, statusChange(false), hostOf, {
      isHarmless: true,
    }),
    remove: bulkAct(({ console }) => console.webhooks.bulk.remove, deletion, hostOf, { isPermanent: true }),
  },
  findName: async (deps, organisation, id) => {
    const webhook = await webhookPages.find(deps, organisation, { id });
    return webhook && hostOf(webhook);
  },
  export: {
    name: "webhooks",
    columns: {
      id: ({ id }) => id,
      receiver: hostOf,
      events: ({ events }) => events.join(" "),
      status: ({ enabled }) => (enabled ? "enabled" : "disabled"),
      failedDeliveries: ({ failed }) => failed,
      createdAt: ({ createdAt }) => new Date(createdAt),
    },
  },
  create: ({ consoleUri, messages: { console } }) =>
    buttonLink({
      ...{ id: "webhook-new", uri: consoleUri(`${WEBHOOKS}/new`), label: console.webhooks.make },
      kind: "primary",
    }),
  done: ({ console: { webhooks } }) => ({ deleted: webhooks.done.deleted }),
} satisfies List<WebhooksDeps, Row, WebhookSort, WebhookChoices>;
