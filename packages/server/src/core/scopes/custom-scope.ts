/**
 * An organisation's own scope: what applications ask for by its name, and which claims it adds to the access token and to
 * userinfo (specification, "Scopes"; wire-contract.md §5).
 */

export const claimSources = ["user", "static", "membership"] as const;
export type ClaimSource = (typeof claimSources)[number];

export type ScopeClaim =
  /** Read from the account or from its membership in the organisation, at the moment it is told. */
  | { readonly name: string; readonly source: "user" | "membership"; readonly path: string }
  /** The same JSON value for everybody. */
  | { readonly name: string; readonly source: "static"; readonly value: unknown };

export interface CustomScope {
  readonly orgId: string;
  readonly id: string;
  /** As applications ask for it; it never changes, because consents and applications name it. */
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly claims: readonly ScopeClaim[];
  /** The consent page marks it. */
  readonly sensitive: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly version: number;
}

/** What each scope gives, in words that can be compared: a consent remembers them, by the scope's name. */
export type ScopeFingerprints = Readonly<Record<string, readonly string[]>>;

const fingerprintOf = (claim: ScopeClaim): string =>
  JSON.stringify([claim.name, claim.source, claim.source === "static" ? claim.value : claim.path]);

/** Of those scopes that are custom ones with claims; what a standard scope gives never changes. */
export function fingerprintsOf(
  customScopes: readonly CustomScope[],
  names: readonly string[],
): ScopeFingerprints {
  const asked = customScopes.filter(({ name, claims }) => names.includes(name) && claims.length > 0);
  return Object.fromEntries(asked.map(({ name, claims }) => [name, claims.map(fingerprintOf)]));
}

/** The scope as it was consented to: without the claims that it has got since then. */
export function asConsented(scope: CustomScope, consented: ScopeFingerprints): CustomScope {
  const known = Object.hasOwn(consented, scope.name) ? (consented[scope.name] ?? []) : [];
  return { ...scope, claims: scope.claims.filter((claim) => known.includes(fingerprintOf(claim))) };
}
