/** The custom scopes that stacks use, created when the organisation lacks them. */
import type { RecordDeps } from "../record-changes.ts";
import { createCustomScope } from "../scopes/custom-scopes.ts";
import { listCustomScopes } from "../scopes/scopes.store.ts";

export type StackScope = "groups";

const contents = {
  groups: {
    displayName: "Groups",
    description: "See the groups that you belong to.",
    claims: [{ name: "groups", source: "membership", path: "groups" }],
    sensitive: false,
  },
} as const;

const isStackScope = (scope: string): scope is StackScope => Object.hasOwn(contents, scope);

/**
 * A scope of this name that is there already stays as it is: the organisation decides what it tells.
 * @returns the names of the scopes that were created
 */
export async function createMissingScopes(
  deps: RecordDeps,
  scopes: readonly string[],
  by: { orgId: string; actor: string; address?: string },
): Promise<StackScope[]> {
  const wanted = scopes.filter(isStackScope);
  if (wanted.length === 0) return [];
  const there = await listCustomScopes(deps.database.query, by.orgId);
  const missing = wanted.filter((name) => there.every((scope) => scope.name !== name));
  for (const name of missing) await createCustomScope(deps, { ...by, name, ...contents[name] });
  return missing;
}
