/** `signet doctor`: what is older than a rule, and is kept as it was (directory.md, "Moving over"). */
import { listUndefinedScopes } from "../../core/applications/undefined-scopes.store.ts";
import { API_SCOPE_PREFIX } from "../../core/scopes/api-scopes.ts";
import { listScopesBeginning, listScopesTelling } from "../../core/scopes/scopes.store.ts";
import { entitlementScopes } from "../../core/scopes/scopes.ts";
import type { Database } from "../../db/open.ts";
import { type Check, warn } from "./check-configuration.ts";

const MAX_NAMED = 20;

export async function movedOverChecks(database: Database): Promise<Check[]> {
  return [
    ...(await reservedScopesCheck(database)),
    ...(await undefinedScopesCheck(database)),
    ...(await reservedClaimsCheck(database)),
  ];
}

const named = (all: readonly string[]): string => `${all.join(", ")}${all.length >= MAX_NAMED ? ", …" : ""}`;

/** Applications that are to call API v1 can't have the service's own of that name. */
async function reservedScopesCheck({ query }: Database): Promise<Check[]> {
  const scopes = await listScopesBeginning(query, API_SCOPE_PREFIX, MAX_NAMED);
  if (scopes.length === 0) return [];
  const all = named(scopes.map(({ orgId, name }) => `${name} (organisation ${orgId})`));
  return [
    warn(
      "scopes",
      `custom scopes begin with ${API_SCOPE_PREFIX}, which is reserved: ${all}`,
      "Define each under another name, give that to its applications, then delete the old scope.",
    ),
  ];
}

/** None can be given to an application any more. */
async function undefinedScopesCheck({ query }: Database): Promise<Check[]> {
  const found = await listUndefinedScopes(query, MAX_NAMED);
  if (found.length === 0) return [];
  const all = named(
    found.map(
      ({ orgId, applicationId, scope }) => `${scope} (application ${applicationId} of organisation ${orgId})`,
    ),
  );
  return [
    warn(
      "undefined scopes",
      `applications have scopes that nobody defined: ${all}`,
      "Define each as a scope of the organisation, or take it from the application.",
    ),
  ];
}

/** These are told in the place of the roles, groups and permissions that Signet knows. */
async function reservedClaimsCheck({ query }: Database): Promise<Check[]> {
  const found = await listScopesTelling(query, entitlementScopes, MAX_NAMED);
  if (found.length === 0) return [];
  const all = named(found.map(({ orgId, name, claim }) => `${claim} of ${name} (organisation ${orgId})`));
  return [
    warn(
      "reserved claims",
      `custom claims have names that are reserved: ${all}`,
      "Rename each, or leave it to the scopes roles, groups and permissions.",
    ),
  ];
}
