/** Rows and records: the column of a member is its name in snake case. */

type Member<Column extends string> = Column extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<Member<Rest>>}`
  : Column;

type Column<Member extends string> = Member extends `${infer Head}${infer Rest}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Column<Rest>}`
  : Member;

export type RecordOf<Row> = { readonly [C in keyof Row & string as Member<C>]: Row[C] };
export type RowOf<Stored> = { readonly [M in keyof Stored & string as Column<M>]: Stored[M] };

const members = new Map<string, string>();
const columns = new Map<string, string>();

/** On the hot path. @param names remembers the new names: there are as many as the schema has columns */
function renamed(from: object, names: Map<string, string>, rename: (name: string) => string): object {
  const source = from as Readonly<Record<string, unknown>>;
  const to: Record<string, unknown> = {};
  for (const name in source) {
    const known = names.get(name);
    const other = known ?? rename(name);
    if (known === undefined) names.set(name, other);
    to[other] = source[name];
  }
  return to;
}

/** The row with its columns as members. */
export const toRecord = <Row extends object>(row: Row): RecordOf<Row> =>
  renamed(row, members, (column) =>
    column.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
  ) as RecordOf<Row>;

/** The record with its members as columns: it must have no others. */
export const toRow = <Stored extends object>(record: Stored): RowOf<Stored> =>
  renamed(record, columns, (member) =>
    member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  ) as RowOf<Stored>;
