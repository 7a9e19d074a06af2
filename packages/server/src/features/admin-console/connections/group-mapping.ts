/** connections/{id}/groups: which of the organisation's groups a provider's claims put its users in. */

import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { lockConnection } from "../../../core/connections/connections.store.ts";
import {
  listMappableGroups,
  type MappableGroup,
} from "../../../core/connections/sign-in/claimed-groups.store.ts";
import {
  changeSignInConnection,
  InvalidSignInConnection,
  isSignInConnection,
  type SignInConnection,
} from "../../../core/connections/sign-in/sign-in-connections.ts";
import type { GroupMapping } from "../../../core/connections/sign-in/sign-in-settings.ts";
import type { Db } from "../../../db/open.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { textArea, textField } from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { table } from "../../../html/components/table.ts";
import { type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import { type EditForm, editRoute } from "../../../page-kit/edit-form.ts";
import { type ConnectionsDeps, type ConnectionView, connectionPages } from "./connection-pages.ts";

export const GROUPS = "/groups";

type Mapped = SignInConnection & { readonly mappable: readonly MappableGroup[] };

interface MappingInput {
  readonly from: string;
  readonly map: string;
}

const MAX_LETTERS = 200_000;

export const connectionGroupsRoute = (app: FastifyInstance, deps: ConnectionsDeps): void =>
  editRoute(app, deps, "/oauth/manage/:org/connections/:id/groups", groupsForm);

const groupsForm: EditForm<ConnectionsDeps, Mapped, MappingInput, { readonly groups: GroupMapping | null }> =
  {
    current: "connections",
    readOnlyAllowed: true,
    load: async (deps, visit) => {
      const connection = await connectionPages.require(deps, visit);
      if (!isSignInConnection(connection)) throw new NotFound("connection to a provider");
      return { ...connection, mappable: await mappableOf(deps.database.query, connection) };
    },
    lock: lockConnection,
    version: ({ version }) => version,
    toInput: toMappingInput,
    readInput: ({ values }) => ({
      from: (values.get("from") ?? "").trim().slice(0, MAX_LETTERS),
      map: (values.get("map") ?? "").replaceAll("\r\n", "\n").slice(0, MAX_LETTERS),
    }),
    toDisplay: ({ from, map }) => ({ from, map }),
    page: groupsPage,
    validate: (input, { record, messages }) => {
      const now = toMappingInput(record);
      const { groups = null } = record.settings;
      // Values that a line can't hold stay, unless somebody changes the lines.
      const map = input.map === now.map ? (groups?.map ?? {}) : readMap(input.map, record.mappable, messages);
      if (typeof map === "string") return { faults: { map } };
      const from = input.from === now.from && groups ? groups.from : input.from;
      const isUnset = from === "" && Object.keys(map).length === 0;
      return { content: { groups: isUnset ? null : { from, map } } };
    },
    save: async (inside, { groups }, { visit, acting, record: { id } }) => {
      await changeSignInConnection(inside, {
        ...{ ...acting, id },
        ask: ({ kind, name, enabled, settings }) => ({
          ...{ kind, name, enabled, settings: { ...settings, groups }, clientSecret: undefined },
        }),
      });
      return connectionPages.path(visit.organisation, id, "?done=groupsSaved");
    },
    explain: (error, { messages }) => {
      if (!(error instanceof InvalidSignInConnection)) return undefined;
      const { groupMapping: text } = messages.console.connections;
      const isFrom = error.faults.some(({ path }) => path === "/mapping/groups/from");
      return { faults: isFrom ? { from: text.fromFault } : { map: text.line } };
    },
  };

const mappableOf = (db: Db, { orgId, id: connectionId }: SignInConnection) =>
  listMappableGroups(db, { orgId, connectionId });

function toMappingInput({ settings, mappable }: Mapped): MappingInput {
  const { from = "", map = {} } = settings.groups ?? {};
  const lines = Object.entries(map).map(([value, id]) => `${value} = ${nameIn(mappable, id) ?? id}`);
  return { from: typeof from === "string" ? from : from.join(", "), map: lines.join("\n") };
}

/** One that a line can say: a name with = in it is said by its id. */
function nameIn(mappable: readonly MappableGroup[], id: string): string | undefined {
  const name = mappable.find((group) => group.id === id)?.name;
  return name?.includes("=") ? undefined : name;
}

/** Values such as `cn=staff,ou=groups` have = in them: what follows the last one is the group. @returns why it is no mapping */
function readMap(
  text: string,
  mappable: readonly MappableGroup[],
  { console: { connections } }: Messages,
): Readonly<Record<string, string>> | string {
  const { groupMapping: words } = connections;
  const entries: Array<readonly [string, string]> = [];
  for (const line of text.split("\n").map((one) => one.trim())) {
    if (line === "") continue;
    const [, value = "", group = ""] = /^(.+)=([^=]+)$/u.exec(line) ?? [];
    const [said, named] = [value.trim(), group.trim()];
    if (said === "" || named === "" || entries.some(([known]) => known === said)) return words.line;
    const id = findNamed(mappable, named);
    if (id === undefined) return words.unknown({ name: named });
    entries.push([said, id]);
  }
  return Object.fromEntries(entries);
}

function findNamed(mappable: readonly MappableGroup[], named: string): string | undefined {
  const key = named.normalize("NFKC").toLowerCase();
  if (isUuid(named) && mappable.some(({ id }) => id === key)) return key;
  return mappable.find(({ name }) => name.normalize("NFKC").toLowerCase() === key)?.id;
}

function groupsPage(view: FormView<MappingInput>, { record }: { readonly record: Mapped }): Html {
  const { groupMapping: text } = view.messages.console.connections;
  const { fields } = text;
  const labels = { from: fields.from.label, map: fields.map.label };
  const field = fieldsOf(view, labels);
  return formPage({
    ...view,
    breadcrumbs: connectionPages.crumbs(view, record),
    title: text.title,
    summary: text.text,
    cardLabel: text.title,
    id: "group-mapping-form",
    labels,
    fields: [
      textField({ ...field("from"), hint: fields.from.hint, isCode: true, isOptional: true }),
      textArea({ ...field("map"), hint: fields.map.hint, rows: 8, isCode: true, isOptional: true }),
    ],
    submit: { id: "group-mapping-save", label: view.messages.console.frame.form.save },
    cancelUri: view.consoleUri(`/connections/${record.id}`),
  });
}

/** On the connection's own page. */
export async function groupMappingCard(
  db: Db,
  { messages, uriOf }: ConnectionView,
  connection: SignInConnection,
): Promise<Html> {
  const { groupMapping: text } = messages.console.connections;
  const { groups } = connection.settings;
  const mappable = groups ? await mappableOf(db, connection) : [];
  const rows = Object.entries(groups?.map ?? {}).map(([value, id]) => ({
    cells: [
      html`<code>${value}</code>`,
      html`<bdi>${mappable.find((one) => one.id === id)?.name ?? text.gone}</bdi>`,
    ],
  }));
  return card({
    id: "group-mapping",
    title: text.title,
    text: text.text,
    actions: buttonLink({ id: "to-groups", uri: uriOf(GROUPS), label: text.edit }),
    body: table({ label: text.title, columns: [text.value, text.group], rows, none: text.none, messages }),
  });
}
