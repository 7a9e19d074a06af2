/** The custom scope in an address. */
import { isUuid } from "@signet/protocol/hash";
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import { findCustomScope } from "../../../core/scopes/scopes.store.ts";
import { NotFound } from "../../../http/errors.ts";
import { type ConsoleDeps, pathParams, type Visit } from "../../../page-kit/page.ts";

export async function findScope(
  { database }: Pick<ConsoleDeps, "database">,
  { id: orgId }: { id: string },
  { id = "" }: Readonly<Record<string, string>>,
): Promise<CustomScope | undefined> {
  return isUuid(id) ? findCustomScope(database.query, orgId, id) : undefined;
}

/** @throws NotFound */
export async function requireScope(deps: Pick<ConsoleDeps, "database">, visit: Visit): Promise<CustomScope> {
  const scope = await findScope(deps, visit.organisation, pathParams(visit));
  if (!scope) throw new NotFound("scope");
  return scope;
}
