/** What every table is in a database that distributes by organisation. */

import { tablesOfOrganisation } from "../rows-of-organisation.ts";
import type { Schema } from "../schema.ts";

/** Small, and whole on every node: what belongs to no organisation, or has to be unique over all of them. */
export const referenceTables = [
  "schema_migration",
  "background_lease",
  "installation_key",
  "agent_key_claim",
  "operators_organisation",
] as const;

const isReference = (table: string): boolean => (referenceTables as readonly string[]).includes(table);

/** The column that a table is distributed by. */
export const tablesByOrganisation: ReadonlyArray<readonly [keyof Schema, string]> = [
  ["organisation", "id"],
  ...tablesOfOrganisation.flatMap(([table]) => (isReference(table) ? [] : [[table, "org_id"] as const])),
];
