/** GET of a list as a CSV file: narrowed and sorted as the list is, written while it is read. The export is recorded. */
import { Readable } from "node:stream";
import { csvLine } from "@signet/protocol/csv";
import { recordAuditEvent } from "../../core/audit/audit.store.ts";
import type { Cursor } from "../../db/keyset.ts";
import { parseQuery } from "../../http/form-body.ts";
import { pageMessages } from "../console-frame.ts";
import { oldReaderFor, withOldReads } from "../old-reads.ts";
import {
  auditContext,
  type ConsoleDeps,
  queryString,
  requestPath,
  requireAdministrator,
  requireRecentAuthentication,
  type Visit,
} from "../page.ts";
import type { Choices, Filter, List, ListContext, ListExport, ListQuery } from "./list.ts";
import { readFilter } from "./list-address.ts";
import { orderQuery, readListPlace } from "./list-place.ts";

/** A piece of the file: so much is in memory, whatever the list's length. */
const ROWS = 500;

/** A handler: its route writes the address. */
export const listExport =
  <Deps extends ConsoleDeps, Row extends { readonly id: string }, Sort extends string, C extends Choices>(
    list: List<Deps, Row, Sort, C> & { readonly export: ListExport<Row> },
  ) =>
  async (deps: Deps, visit: Visit): Promise<void> => {
    const { organisation, request, reply } = visit;
    const { values } = parseQuery(request);
    const filter: Filter<C> = readFilter(list.filters, values);
    const place = readListPlace<Sort>(values, list.sorts);
    const query = queryString({ ...filter, ...orderQuery(place, list.sorts) });
    const { name, isPersonal } = list.export;
    const allowed = isPersonal ? requireRecentAuthentication : requireAdministrator;
    const signedIn = await allowed(deps, visit, `${requestPath(visit)}${query}`);
    const read = withOldReads(deps, oldReaderFor(deps, visit));
    const context = { organisation, messages: pageMessages(visit, signedIn) };
    const now = deps.clock();
    await recordAuditEvent(deps.database.query, {
      ...auditContext(visit, signedIn),
      at: now,
      action: "list.exported",
      target: organisation.id,
      details: { list: name, filters: namesOf(filter) },
    });
    const day = new Date(now).toISOString().slice(0, "2027-01-31".length);
    await reply
      .headers({
        "cache-control": "no-store",
        "content-disposition": `attachment; filename="${name}-${day}.csv"`,
        "x-content-type-options": "nosniff",
      })
      .type("text/csv; charset=utf-8")
      .send(
        Readable.from(
          piecesOf(list, read, context, { filter, page: { ...place, after: undefined, before: undefined } }),
          {
            objectMode: false,
          },
        ),
      );
  };

/** Which were used: what was typed may be somebody's address, and an event is for ever. */
const namesOf = (filter: Filter<Choices>): string[] =>
  Object.entries(filter).flatMap(([name, value]) => (value === undefined || value === "" ? [] : [name]));

async function* piecesOf<Deps, Row extends { readonly id: string }, Sort extends string, C extends Choices>(
  list: List<Deps, Row, Sort, C> & { readonly export: ListExport<Row> },
  read: <T>(work: (old: Deps) => Promise<T>) => Promise<T>,
  context: Omit<ListContext<Deps>, "deps">,
  { filter, page }: Omit<ListQuery<Sort, C>, "limit">,
): AsyncGenerator<string> {
  const columns = Object.entries(list.export.columns);
  yield csvLine(columns.map(([name]) => name));
  if (await read(async (deps) => list.insteadOfRows?.({ ...context, deps }, filter))) return;
  for (let after: Cursor | undefined; ; ) {
    const query = { filter, page: { ...page, after }, limit: ROWS };
    const rows = await read((deps) => list.rows({ ...context, deps }, query));
    if (rows.length > 0)
      yield rows.map((row) => csvLine(columns.map(([, value]) => textOf(value(row))))).join("");
    const last = rows.at(-1);
    if (rows.length < ROWS || last === undefined) return;
    after = { value: list.sorts[page.sort].value(last), id: last.id };
  }
}

const textOf = (value: string | number | boolean | Date | null): string =>
  value === null ? "" : value instanceof Date ? value.toISOString() : String(value);
