/** Which definition of each custom scope was granted: one that is deleted and made anew is another scope. */
import type { Migration } from "./migration.ts";

const carriers = [
  "consent",
  "preauthorization",
  "authorization_code",
  "device_authorization",
  "token_family",
] as const;

export const scopeDefinitions: Migration = {
  name: "0014-scope-definitions",
  // JSON object, the ids of custom scopes by name; null in rows of older versions, where the times decide.
  statements: carriers.map((table) => `alter table ${table} add column scope_definitions text`),
};
