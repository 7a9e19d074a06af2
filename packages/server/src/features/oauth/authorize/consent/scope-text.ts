/** A scope as the pages tell it: standard ones have their sentence, the organisation's own what it wrote about them. */
import type { CustomScope } from "../../../../core/scopes/custom-scope.ts";
import type { ScopeText } from "../../../../html/components/scope-list.ts";

export function scopeText(name: string, customScopes: readonly CustomScope[]): ScopeText {
  const scope = customScopes.find((one) => one.name === name);
  if (!scope) return { name };
  const { displayName, description, sensitive } = scope;
  return { name, displayName, description, sensitive };
}
