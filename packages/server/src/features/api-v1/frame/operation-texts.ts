/** Texts about the operations of a record. */
import type { ApiScope } from "../../../core/scopes/api-scopes.ts";

/** The address of a call, by its parameters; ids are shown in lower case. */
export const pathOf = (path: string, params: Readonly<Record<string, string>>): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => (params[name] ?? "").toLowerCase());

/** What /openapi.json says of an operation: the scopes that it needs come first. */
export function scopeText(scopes: readonly ApiScope[], ...more: ReadonlyArray<string | undefined>): string {
  const names = scopes.map((scope) => `\`${scope}\``).join(", ");
  return [`Scope: ${names}.`, ...more.filter((text) => text !== undefined)].join(" ");
}
