/**
 * A custom scope of an organisation, and the claims that it adds to access tokens and userinfo (specification,
 * "Scopes"; wire-contract.md §5).
 */
import type { RecordOf } from "../../db/records.ts";
import type { CustomScopeTable } from "../../db/tables/consents.ts";
import { lateStandardScopes, withoutCustom } from "./scopes.ts";

export const claimSources = ["user", "static", "membership"] as const;
export type ClaimSource = (typeof claimSources)[number];

export type ScopeClaim =
  /** Read from the account or its membership when the claim is issued. */
  | { readonly name: string; readonly source: "user" | "membership"; readonly path: string }
  /** The same JSON value for every user. */
  | { readonly name: string; readonly source: "static"; readonly value: unknown };

export interface CustomScope extends RecordOf<Omit<CustomScopeTable, "claims" | "sensitive">> {
  readonly claims: readonly ScopeClaim[];
  /** Highlighted on the consent page. */
  readonly sensitive: boolean;
}

/** Fingerprints of each scope's claims, by scope name; consents store them to detect added claims. */
export type ScopeFingerprints = Readonly<Record<string, readonly string[]>>;

const fingerprintOf = (claim: ScopeClaim): string =>
  JSON.stringify([claim.name, claim.source, claim.source === "static" ? claim.value : claim.path]);

/**
 * Only for custom scopes with claims, and for standard scopes that may have been custom ones: who consented to those has
 * not consented to these. The other standard scopes are what they always were.
 */
export function fingerprintsOf(
  customScopes: readonly CustomScope[],
  names: readonly string[],
): ScopeFingerprints {
  const requested = customScopes.filter(({ name, claims }) => names.includes(name) && claims.length > 0);
  const late = withoutCustom(lateStandardScopes, customScopes).filter((name) => names.includes(name));
  return Object.fromEntries([
    ...requested.map(({ name, claims }) => [name, claims.map(fingerprintOf)] as const),
    ...late.map((name) => [name, ["standard"]] as const),
  ]);
}

/** The scope as consented to: without claims added since. */
export function asConsented(scope: CustomScope, consented: ScopeFingerprints): CustomScope {
  const known = Object.hasOwn(consented, scope.name) ? (consented[scope.name] ?? []) : [];
  return { ...scope, claims: scope.claims.filter((claim) => known.includes(fingerprintOf(claim))) };
}
