/** The scopes that a request gives a resource: names of those that there are, or whole records, which are made or changed with it. */
import type { Act } from "../audit/audit.store.ts";
import type { CustomScope } from "../scopes/custom-scope.ts";
import { changeCustomScope, createCustomScope, type ScopeContent } from "../scopes/custom-scopes.ts";
import { listCustomScopes } from "../scopes/scopes.store.ts";
import { InvalidScope } from "../scopes/validation.ts";
import { InvalidResource, type ResourceFault } from "./protected-resource.ts";
import type { ResourceDeps } from "./protected-resources.ts";

export interface GivenScope {
  readonly name: string;
  /** Undefined: the scope has to be there. Members that are left out stay as they are. */
  readonly content?: Partial<ScopeContent>;
}

/**
 * Makes and changes the records. Call it in the transaction that changes the resource.
 * @param resourceId undefined for a new resource
 * @returns their names
 * @throws InvalidResource
 */
export async function applyGivenScopes(
  deps: ResourceDeps,
  act: Act,
  given: readonly GivenScope[],
  resourceId?: string,
): Promise<string[]> {
  const defined = await listCustomScopes(deps.database.query, act.orgId);
  const { address, ...others } = act;
  const by = { ...others, ...(address === undefined ? {} : { address }) };
  for (const [index, { name, content }] of given.entries()) {
    const before = defined.find((one) => one.name === name);
    // What another resource has is not changed by the way: the resource's own rules refuse it.
    if (content === undefined || isOthers(before, resourceId)) continue;
    try {
      if (!before) await createCustomScope(deps, { ...by, name, ...defaults(name), ...content });
      else if (differs(before, content)) await changeCustomScope(deps, { ...by, id: before.id, content });
    } catch (error) {
      if (error instanceof InvalidScope) throw new InvalidResource(error.faults.map(faultAt(index)));
      throw error;
    }
  }
  return [...new Set(given.map(({ name }) => name))];
}

const isOthers = (scope: CustomScope | undefined, resourceId: string | undefined): boolean =>
  scope !== undefined && scope.resourceId !== null && scope.resourceId !== resourceId;

const defaults = (name: string): ScopeContent => ({
  ...{ displayName: name, description: "", claims: [], sensitive: false },
});

const differs = (before: CustomScope, content: Partial<ScopeContent>): boolean =>
  (Object.keys(content) as Array<keyof ScopeContent>).some(
    (member) => JSON.stringify(content[member]) !== JSON.stringify(before[member]),
  );

const faultAt =
  (index: number) =>
  ({ path, message }: { readonly path: string; readonly message: string }): ResourceFault => ({
    ...{ path: `scopes[${index}].${path}`, message, code: "scope-form" },
  });
