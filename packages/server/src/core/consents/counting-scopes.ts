/** Which scopes of a stored consent or pre-authorization still count: those that were not deleted or made anew since. */
import type { Db } from "../../db/open.ts";
import type { ConsentTable, PreauthorizationTable } from "../../db/tables/consents.ts";
import type { CustomScope } from "../scopes/custom-scope.ts";
import { readDefinitions, stillDefined } from "../scopes/scope-definitions.ts";
import { listCustomScopes } from "../scopes/scopes.store.ts";
import { lateStandardScopes, standardScopes } from "../scopes/scopes.ts";

type ScopeRow = Pick<ConsentTable, "org_id" | "scope" | "scope_definitions"> &
  (Pick<ConsentTable, "granted_at" | "revoked_at"> | Pick<PreauthorizationTable, "created_at">);

/** A revoked consent keeps what it was about. */
export function countingScopes(row: ScopeRow, customScopes: readonly CustomScope[]): string[] {
  const scopes = row.scope.split(" ");
  if ("revoked_at" in row && row.revoked_at !== null) return scopes;
  const createdAt = "granted_at" in row ? row.granted_at : row.created_at;
  const definitions = readDefinitions(row.scope_definitions);
  return stillDefined(scopes, { definitions, createdAt }, customScopes);
}

const alwaysStandard = new Set<string>(standardScopes.filter((name) => !lateStandardScopes.includes(name)));

const isAboutCustomScopes = ({ scope, scope_definitions }: ScopeRow): boolean =>
  (scope_definitions ?? "{}") !== "{}" || scope.split(" ").some((name) => !alwaysStandard.has(name));

/** Of rows of one organisation. Few have custom scopes. */
export async function readCountingScopes(db: Db, rows: readonly ScopeRow[]): Promise<string[][]> {
  const row = rows.find(isAboutCustomScopes);
  const customScopes = row === undefined ? [] : await listCustomScopes(db, row.org_id);
  return rows.map((one) => countingScopes(one, customScopes));
}
