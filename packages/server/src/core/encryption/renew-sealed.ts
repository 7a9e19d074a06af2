/** Seals everything under the master key in use, while the service runs; begun again, it goes on where it stopped. */
import type { Database, Db } from "../../db/open.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { listSealedValues, replaceSealedValue, type SealedValue } from "./sealed-columns.store.ts";
import type { RowKey, SealedColumn, SealedColumns } from "./sealed-columns.ts";

const PAGE = 200;
const MAX_NAMED = 20;

export interface Renewal {
  /** Values that are sealed. */
  readonly sealed: number;
  /** Those that this run has sealed anew. */
  readonly renewed: number;
  /** Those that no known master key opens. */
  readonly unreadable: number;
  /** The first of them, as `table (key)`. */
  readonly named: readonly string[];
}

interface Counts {
  sealed: number;
  renewed: number;
  unreadable: number;
  readonly named: string[];
}

/** Counts what `renewSealed` would seal anew. */
export const countStale = (database: Database, groups: readonly SealedColumns[]): Promise<Renewal> =>
  eachColumn(database, groups, () => Promise.resolve(true));

/** The audit log of each organisation with a value that was sealed anew says so, once. @param told which know it already */
export function renewSealed(
  { database, clock }: CoreDeps,
  groups: readonly SealedColumns[],
  actor: string,
  told = new Set<string>(),
): Promise<Renewal> {
  const tell = async (tx: Db, { org_id }: RowKey) => {
    if (typeof org_id !== "string" || told.has(org_id)) return;
    const event = { actor, action: "master-key.rotated", target: org_id } as const;
    await recordAuditEvent(tx, { ...event, orgId: org_id, at: clock() });
    told.add(org_id);
  };
  return eachColumn(database, groups, (column, value, renewed) =>
    database.transaction(async (tx) => {
      if (!(await replaceSealedValue(tx, column, value, renewed))) return false;
      await tell(tx, value.key);
      return true;
    }),
  );
}

export interface WholeRenewal extends Renewal {
  /** Values that somebody has sealed under an older key meanwhile, in each round again. */
  readonly left: number;
}

/** Values that a server seals under the key before while this goes on: until none is left, or an end. */
const MAX_ROUNDS = 5;

/** The same until nothing is left under an older key, as far as servers have taken the key in use over. */
export async function renewAllSealed(
  deps: CoreDeps,
  groups: readonly SealedColumns[],
  actor: string,
): Promise<WholeRenewal> {
  let renewed = 0;
  const told = new Set<string>();
  for (let round = 1; ; round++) {
    const counts = await renewSealed(deps, groups, actor, told);
    renewed += counts.renewed;
    const left = (await countStale(deps.database, groups)).renewed;
    if (left === 0 || round === MAX_ROUNDS) return { ...counts, renewed, left };
  }
}

async function eachColumn(
  database: Database,
  groups: readonly SealedColumns[],
  replace: (column: SealedColumn, value: SealedValue, renewed: string) => Promise<boolean>,
): Promise<Renewal> {
  const counts: Counts = { sealed: 0, renewed: 0, unreadable: 0, named: [] };
  for (const { encryption, columns } of groups)
    for (const column of columns)
      await renewColumn(database, column, {
        counts,
        renew: encryption.renew,
        replace: (value, renewed) => replace(column, value, renewed),
      });
  return counts;
}

async function renewColumn(
  { query }: Database,
  column: SealedColumn,
  act: {
    readonly counts: Counts;
    renew(sealed: string, row: string): string | undefined;
    replace(value: SealedValue, renewed: string): Promise<boolean>;
  },
): Promise<void> {
  const { counts } = act;
  let page: readonly SealedValue[] = [];
  do {
    page = await listSealedValues(query, column, { after: page.at(-1)?.key, limit: PAGE });
    for (const value of page) {
      counts.sealed++;
      const renewed = attempt(() => act.renew(value.sealed, column.rowName(value.key)));
      if (renewed instanceof Error) {
        counts.unreadable++;
        if (counts.named.length < MAX_NAMED) counts.named.push(nameOf(column, value.key));
      } else if (renewed !== undefined && (await act.replace(value, renewed))) counts.renewed++;
    }
  } while (page.length === PAGE);
}

const nameOf = ({ table, column, key, more = 0 }: SealedColumn, row: RowKey): string =>
  `${table}.${column} (${key
    .slice(0, key.length - more)
    .map((name) => row[name])
    .join(", ")})`;

function attempt<T>(work: () => T): T | Error {
  try {
    return work();
  } catch (error) {
    return error as Error;
  }
}
