/** The custom scope in an address. */
import { isUuid } from "@signet/protocol/hash";
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import { findCustomScope } from "../../../core/scopes/scopes.store.ts";
import { NotFound } from "../../../http/errors.ts";
import type { ConsoleDeps, Visit } from "../../../page-kit/visit.ts";

/** @param id as the address has it. @returns undefined when the organisation has none such */
export async function findScopeAt(
  { database }: Pick<ConsoleDeps, "database">,
  { organisation }: Pick<Visit, "organisation">,
  id = "",
): Promise<CustomScope | undefined> {
  return isUuid(id) ? findCustomScope(database.query, organisation.id, id.toLowerCase()) : undefined;
}

export const idIn = ({ request }: Pick<Visit, "request">): string =>
  (request.params as { id?: string }).id ?? "";

/** @throws NotFound */
export async function scopeHere(deps: Pick<ConsoleDeps, "database">, visit: Visit): Promise<CustomScope> {
  const scope = await findScopeAt(deps, visit, idIn(visit));
  if (!scope) throw new NotFound("scope");
  return scope;
}
