/**
 * What is granted is a definition of a custom scope, not its name. Each grant keeps the ids of its custom scopes: one that is
 * deleted and made anew has another id, so that nothing granted before counts for it, whatever the clocks say and whatever
 * was running meanwhile. A deletion rewrites none of the grants, which may be millions.
 */
import type { CustomScope } from "./custom-scope.ts";

/** The ids of custom scopes, by name. */
export type ScopeDefinitions = Readonly<Record<string, string>>;

export interface GrantedDefinitions {
  /** Null for grants of versions that did not record them. */
  readonly definitions: ScopeDefinitions | null;
  readonly createdAt: number;
}

type Defined = Pick<CustomScope, "name" | "id" | "createdAt">;

/** @param customScopes as the decision about the grant has read them */
export const definitionsOf = (customScopes: readonly Defined[], names: readonly string[]): ScopeDefinitions =>
  Object.fromEntries(
    customScopes.filter(({ name }) => names.includes(name)).map(({ name, id }) => [name, id]),
  );

/** The names that still stand for what was granted. A custom scope that the grant does not name is newer than the grant. */
export function stillDefined(
  names: readonly string[],
  { definitions, createdAt }: GrantedDefinitions,
  customScopes: readonly Defined[],
): string[] {
  return names.filter((name) => {
    const current = customScopes.find((custom) => custom.name === name);
    if (definitions === null) return current === undefined || current.createdAt <= createdAt;
    const granted = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
    return current?.id === granted;
  });
}

export const writeDefinitions = (definitions: ScopeDefinitions | null): string | null =>
  definitions && JSON.stringify(definitions);

export const readDefinitions = (text: string | null): ScopeDefinitions | null =>
  text === null ? null : (JSON.parse(text) as ScopeDefinitions);
