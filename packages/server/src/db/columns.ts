/**
 * The columns of a table by name, in place of `*`: a statement with every column of a table gets no name on PostgreSQL
 * (postgres/statement-names.ts).
 */

/** One name twice, or one that is missing, does not compile. */
export const columnsOf =
  <Row>() =>
  <const Names extends ReadonlyArray<keyof Row & string>>(
    ...names: [keyof Row] extends [Names[number]] ? Names : never
  ): Names =>
    names;
