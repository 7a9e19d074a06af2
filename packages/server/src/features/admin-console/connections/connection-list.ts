/** The organisation's connections as a list: it has a few. */
import { type Connection, connectionKinds } from "../../../core/connections/connection.ts";
import { listConnections } from "../../../core/connections/connections.store.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell } from "../../../html/components/table.ts";
import { bulkAct } from "../../../page-kit/list/bulk-act.ts";
import type { List, ListSort } from "../../../page-kit/list/list.ts";
import { memoryList, mentions } from "../../../page-kit/list/memory-list.ts";
import { consolePath } from "../../../page-kit/page.ts";
import {
  type ConnectionsDeps,
  connectionPages,
  connectionStatus,
  standardNames,
  typeText,
} from "./connection-pages.ts";
import { deletion, statusChange } from "./end.route.ts";

type ConnectionSort = "name" | "created";

const sorts: Readonly<Record<ConnectionSort, ListSort<Connection>>> = {
  name: { isNumber: false, isDescending: false, value: ({ name }) => name.toLowerCase() },
  // Ids rise with the time of creation.
  created: { isNumber: false, isDescending: true, value: ({ id }) => id },
};

const states = ["enabled", "disabled"] as const;

type ConnectionChoices = { type: Connection["kind"]; state: (typeof states)[number] };

const nameOf = ({ name }: Connection): string => name;

export const connectionList = {
  current: "connections",
  noun: "connection",
  savedAs: "connections",
  uri: (organisation, rest = "") => consolePath(organisation, `/connections${rest}`),
  texts: ({ console: { frame, connections } }, { name: organisation }) => ({
    title: frame.pages.connections,
    summary: connections.summary({ organisation }),
    search: connections.search,
    none: connections.none,
    noneText: connections.noneText,
  }),
  filters: {
    type: {
      label: ({ console: { connections } }) => connections.columns.type,
      any: ({ console: { connections } }) => connections.anyType,
      choices: connectionKinds,
      names: ({ console: { connections } }) => ({ ...standardNames, ...connections.types }),
    },
    state: {
      label: ({ console: { connections } }) => connections.columns.state,
      any: ({ console: { connections } }) => connections.anyState,
      choices: states,
      names: ({ console: { connections } }) => connections.states,
    },
  },
  sorts,
  ...memoryList<ConnectionsDeps, Connection, ConnectionSort, ConnectionChoices>({
    sorts,
    load: ({ deps: { database }, organisation }) => listConnections(database.query, organisation.id),
    matches: ({ name, kind, enabled }, { search, type, state }) =>
      mentions(search, [name]) &&
      (type === undefined || kind === type) &&
      (state === undefined || enabled === (state === "enabled")),
  }),
  columns: [
    {
      label: ({ console: { connections } }) => connections.columns.name,
      sort: "name",
      cell: ({ id, name }, { consoleUri }) => nameCell({ name, uri: consoleUri(`/connections/${id}`) }),
    },
    {
      label: ({ console: { connections } }) => connections.columns.type,
      cell: (connection, { messages }) => typeText(connection, messages),
    },
    {
      label: ({ console: { connections } }) => connections.columns.state,
      cell: (connection, { messages }) => connectionStatus(connection, messages),
    },
    {
      label: ({ console: { connections } }) => connections.columns.created,
      sort: "created",
      cell: ({ createdAt }, { messages }) => relativeTime(createdAt, messages.format.day),
    },
  ],
  nameOf,
  acts: {
    disable: bulkAct(
      ({ console }) => console.connections.bulk.disable,
      statusChange(true),
      ({ name }) => name,
    ),
    enable: bulkAct(
      ({ console }) => console.connections.bulk.enable,
      statusChange(false),
      ({ name }) => name,
      { isHarmless: true },
    ),
    remove: bulkAct(
      ({ console }) => console.connections.bulk.remove,
      deletion,
      ({ connection }) => connection.name,
      { isPermanent: true },
    ),
  },
  findName: async (deps, organisation, id) => (await connectionPages.find(deps, organisation, { id }))?.name,
  export: {
    name: "connections",
    columns: {
      id: ({ id }) => id,
      name: nameOf,
      type: ({ kind }) => kind,
      provider: ({ settings }) => settings?.preset ?? null,
      status: ({ enabled }) => (enabled ? "enabled" : "disabled"),
      createdAt: ({ createdAt }) => new Date(createdAt),
    },
  },
  create: ({ consoleUri, messages: { console } }) =>
    buttonLink({
      id: "connection-new",
      uri: consoleUri("/connections/new"),
      label: console.connections.make,
      kind: "primary",
    }),
  done: ({ console: { connections } }) => ({ deleted: connections.done.deleted }),
} satisfies List<ConnectionsDeps, Connection, ConnectionSort, ConnectionChoices>;
