/** What custom scopes tell about a user, or about a client that speaks for itself. */
import type { User } from "../users/user.ts";
import { asConsented, type CustomScope, type ScopeClaim, type ScopeFingerprints } from "./custom-scope.ts";

export type Claims = Readonly<Record<string, unknown>>;

export interface ClaimsWanted {
  readonly customScopes: readonly CustomScope[];
  readonly scopes: readonly string[];
  /** Undefined for client credentials: only static claims have a value. */
  readonly user: User | undefined;
  /** What the user said yes to; undefined when no user's consent limits it (an administrator's, or none is needed). */
  readonly consented: ScopeFingerprints | undefined;
}

/**
 * The claims of the custom scopes among `scopes`; what there is no value for is left out, never null. Two scopes that both
 * have a claim: the older scope's counts, whatever order they were asked in.
 */
export function customClaims({ customScopes, scopes, user, consented }: ClaimsWanted): Claims {
  const told = customScopes
    .filter(({ name }) => scopes.includes(name))
    .flatMap((scope) => (consented ? asConsented(scope, consented) : scope).claims)
    .map((claim) => [claim.name, claimValue(claim, user)] as const)
    .filter(([, value]) => isPresent(value));
  // `fromEntries` takes the last of a name.
  return Object.fromEntries(told.reverse());
}

const isPresent = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);

function claimValue(claim: ScopeClaim, user: User | undefined): unknown {
  if (claim.source === "static") return claim.value;
  if (!user) return undefined;
  const attribute = /^attributes\.(.+)$/.exec(claim.path)?.[1];
  if (claim.source === "membership") {
    const { groups, attributes } = user.membership;
    if (attribute !== undefined) return own(attributes, attribute);
    return { role: user.role, groups }[claim.path];
  }
  // A guest's attributes are the home organisation's records: another organisation does not read them.
  if (attribute !== undefined)
    return user.homeOrgId === user.orgId ? own(user.attributes, attribute) : undefined;
  const { email, firstname, surname, phone, id: permId, username, locale } = user;
  const known: Claims = { email, firstname, surname, phone, permId, username, locale };
  return own(known, claim.path);
}

const own = (record: Claims, name: string): unknown =>
  Object.hasOwn(record, name) ? record[name] : undefined;
