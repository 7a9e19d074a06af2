/** A scope as pages describe it: custom scopes bring their own text. */
import type { CustomScope } from "../../../../core/scopes/custom-scope.ts";
import type { ScopeText } from "../../../../html/components/scope-list.ts";

export function scopeText(name: string, customScopes: readonly CustomScope[]): ScopeText {
  const scope = customScopes.find((custom) => custom.name === name);
  if (!scope) return { name };
  const { displayName, description, sensitive } = scope;
  return { name, displayName, description, sensitive };
}
