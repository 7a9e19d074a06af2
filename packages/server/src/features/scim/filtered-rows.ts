/** Rows that a filter has to be asked about, one by one: everything that may match is looked at, as the total is part of the answer. */
import { setImmediate } from "node:timers/promises";
import type { Matcher } from "@signet/protocol/scim/match";
import type { ListRequest } from "./list-request.ts";
import type { Shown } from "./scim-call.ts";

/** Rows that are looked at together. */
const BATCH = 500;

export interface Scan<Row> {
  readonly matches: Matcher;
  /** In the order of their ids. */
  read(after: string | undefined, limit: number): Promise<Row[]>;
  /** With what the filter looks at, in their order. */
  show(rows: readonly Row[]): Promise<readonly Shown[]>;
}

export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
  /** Whether more follow. */
  readonly hasMore: boolean;
}

export async function filteredRows<Row extends { readonly id: string }>(
  { matches, read, show }: Scan<Row>,
  { offset, count, cursor }: ListRequest,
): Promise<Rows<Row>> {
  const page: Row[] = [];
  let total = 0;
  let before = 0;
  const pause = pauses();
  for (let after: string | undefined; ; ) {
    const rows = await read(after, BATCH);
    const shown = await show(rows);
    for (const [at, row] of rows.entries()) {
      await pause();
      const one = shown[at];
      if (!one || !matches(one)) continue;
      total += 1;
      const isBefore = cursor ? cursor.after !== undefined && row.id <= cursor.after : total <= offset;
      if (isBefore) before += 1;
      else if (page.length < count) page.push(row);
    }
    after = rows.at(-1)?.id;
    if (rows.length < BATCH) return { rows: page, total, hasMore: total > before + page.length };
  }
}

/** Others are served meanwhile: a filter may compare a hundred things with each value of each resource. */
function pauses(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < LONGEST_MS) return undefined;
    return setImmediate().then(() => {
      since = performance.now();
    });
  };
}

const LONGEST_MS = 10;
