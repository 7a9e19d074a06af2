/** The list of a plain record: read as a whole, for there are few of them. */
import { buttonLink } from "../../../html/components/button.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell } from "../../../html/components/table.ts";
import type { Content } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { List, ListContext, ListFrame, ListSort } from "../../../page-kit/list/list.ts";
import { memoryList, mentions } from "../../../page-kit/list/memory-list.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import type { PlainRecord, PlainStored } from "./plain-record.ts";
import { statusOf } from "./plain-record-routes.ts";

type PlainSort = "created" | "name";
const statuses = ["enabled", "disabled"] as const;
type PlainChoices = { status: (typeof statuses)[number] };

export interface PlainColumn<Stored> {
  label(messages: Messages): string;
  cell(stored: Stored, frame: ListFrame): Content;
}

export function plainList<Deps extends ConsoleDeps, Stored extends PlainStored, Input, Settings, Choices>(
  record: PlainRecord<Deps, Stored, Input, Settings, Choices>,
  of: {
    load(context: ListContext<Deps>): Promise<readonly Stored[]>;
    /** What a search looks at. */
    words(stored: Stored): readonly string[];
    readonly columns: ReadonlyArray<PlainColumn<Stored>>;
    /** Below the name. */
    note?(stored: Stored, messages: Messages): Content;
    create?(frame: Pick<ListFrame, "consoleUri" | "messages">): Content;
  },
): List<Deps, Stored, PlainSort, PlainChoices> {
  // Sorted without a reader: a name in words is the same for all that have none of their own.
  const sorts: Readonly<Record<PlainSort, ListSort<Stored>>> = {
    created: { isNumber: true, isDescending: true, value: ({ createdAt }) => createdAt },
    name: { isNumber: false, isDescending: false, value: (stored) => of.words(stored)[0] ?? "" },
  };
  return {
    current: record.pages.current,
    noun: record.noun,
    uri: (organisation, rest = "") => consolePath(organisation, `${record.path}${rest}`),
    texts: (messages, { name: organisation }) => {
      const { summary, search, none, noneText } = record.texts(messages);
      const title = messages.console.frame.pages[record.pages.current];
      return { title, summary: summary({ organisation }), search, none, noneText };
    },
    filters: {
      status: {
        label: ({ console: { plainRecords } }) => plainRecords.status,
        any: ({ console: { plainRecords } }) => plainRecords.anyStatus,
        choices: statuses,
        names: ({ console: { plainRecords } }) => ({ enabled: plainRecords.on, disabled: plainRecords.off }),
      },
    },
    sorts,
    ...memoryList<Deps, Stored, PlainSort, PlainChoices>({
      sorts,
      load: of.load,
      matches: (stored, { search, status }) =>
        mentions(search, of.words(stored)) &&
        (status === undefined || stored.enabled === (status === "enabled")),
    }),
    columns: [
      {
        label: ({ console: { plainRecords } }) => plainRecords.name,
        sort: "name",
        cell: (stored, { consoleUri, messages }) =>
          nameCell({
            name: record.nameOf(stored, messages),
            uri: consoleUri(`${record.path}/${stored.id}`),
            ...(of.note && { note: of.note(stored, messages) }),
          }),
      },
      {
        label: ({ console: { plainRecords } }) => plainRecords.status,
        cell: (stored, { messages }) => statusOf(record, stored, messages),
      },
      ...of.columns,
      {
        label: ({ console: { plainRecords } }) => plainRecords.createdAt,
        sort: "created",
        cell: ({ createdAt }, { messages }) => relativeTime(createdAt, messages.format.day),
      },
    ],
    nameOf: record.nameOf,
    create: ({ consoleUri, messages }) =>
      buttonLink({
        ...{
          id: `${record.noun}-new`,
          uri: consoleUri(`${record.path}/new`),
          label: record.texts(messages).add,
        },
        kind: "primary",
      }),
    done: (messages) => ({ deleted: record.texts(messages).done.deleted }),
  };
}
