/** What PostgreSQL's catalogue says of the tables, their unique keys and their references. */
import { sql } from "kysely";
import type { Db } from "../open.ts";

export interface Catalogue {
  /** With their columns. */
  readonly tables: ReadonlyMap<string, readonly string[]>;
  /** Primary keys too. An expression has no column's name: it is empty. */
  readonly uniqueKeys: readonly UniqueKey[];
  readonly references: readonly Reference[];
}

export interface UniqueKey {
  readonly name: string;
  readonly table: string;
  readonly columns: readonly string[];
}

export interface Reference {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** By position. */
  readonly columns: ReadonlyArray<{ readonly from: string; readonly to: string }>;
}

/** Of the first schema of the search path, where the migrations made their tables. */
export async function readCatalogue(db: Db): Promise<Catalogue> {
  const columns = await sql<{ table: string; columns: string[] }>`
    select t.relname::text as table, array_agg(a.attname::text) as columns
    from pg_class t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
    where t.relnamespace = current_schema()::regnamespace and t.relkind in ('r', 'p')
    group by t.relname order by t.relname`.execute(db);
  const keys = await sql<UniqueKey>`
    select i.relname::text as name, t.relname::text as table,
      array_agg(coalesce(a.attname::text, '') order by k.position) as columns
    from pg_index x
    join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
    cross join lateral unnest(x.indkey::int[]) with ordinality as k(number, position)
    left join pg_attribute a on a.attrelid = t.oid and a.attnum = k.number
    where x.indisunique and t.relnamespace = current_schema()::regnamespace
    group by 1, 2 order by 1`.execute(db);
  const references = await sql<Omit<Reference, "columns"> & { fromColumns: string[]; toColumns: string[] }>`
    select c.conname::text as name, t.relname::text as from, r.relname::text as to,
      array_agg(f.attname::text order by k.position) as "fromColumns",
      array_agg(o.attname::text order by k.position) as "toColumns"
    from pg_constraint c
    join pg_class t on t.oid = c.conrelid join pg_class r on r.oid = c.confrelid
    cross join lateral unnest(c.conkey, c.confkey) with ordinality as k(here, there, position)
    join pg_attribute f on f.attrelid = t.oid and f.attnum = k.here
    join pg_attribute o on o.attrelid = r.oid and o.attnum = k.there
    where c.contype = 'f' and t.relnamespace = current_schema()::regnamespace
    group by 1, 2, 3 order by 1, 2`.execute(db);
  return {
    tables: new Map(columns.rows.map((row) => [row.table, row.columns])),
    uniqueKeys: keys.rows,
    references: references.rows.map(({ fromColumns, toColumns, ...reference }) => ({
      ...reference,
      columns: fromColumns.map((from, at) => ({ from, to: toColumns[at] ?? "" })),
    })),
  };
}
