/** What keeps a schema from being distributed by organisation. */
import type { Catalogue, Reference } from "./catalogue.ts";
import { referenceTables, tablesByOrganisation } from "./tables.ts";

const columns: ReadonlyMap<string, string> = new Map(tablesByOrganisation);
const isReference = (table: string): boolean => (referenceTables as readonly string[]).includes(table);

/** @returns a sentence for each; none: it can be distributed */
export function faultsOf({ tables, uniqueKeys, references }: Catalogue): string[] {
  const unplaced = [...tables.keys()].filter((table) => !columns.has(table) && !isReference(table));
  const missing = [...columns.keys(), ...referenceTables].filter((table) => !tables.has(table));
  const withoutColumn = [...columns].filter(
    ([table, column]) => tables.get(table)?.includes(column) === false,
  );
  const keys = uniqueKeys.filter(({ table, columns: [first] }) => {
    const column = columns.get(table);
    return column !== undefined && first !== column;
  });
  return [
    ...unplaced.map((table) => `the table ${table} belongs neither to organisations nor to all nodes`),
    ...missing.map((table) => `the table ${table} is missing: run signet migrate`),
    ...withoutColumn.map(([table, column]) => `the table ${table} has no column ${column}`),
    ...keys.map(
      ({ table, name }) => `the unique key ${name} of ${table} doesn't begin with the organisation`,
    ),
    ...references
      .filter((one) => !staysInside(one))
      .map(({ name, from, to }) => `the reference ${name} (${from} to ${to}) leaves the organisation`),
  ];
}

/** Both ends are of one organisation, or the far one is on every node. */
function staysInside({ from, to, columns: pairs }: Reference): boolean {
  if (isReference(to)) return true;
  const [here, there] = [columns.get(from), columns.get(to)];
  const [first] = pairs;
  return here !== undefined && first?.from === here && first.to === there;
}
