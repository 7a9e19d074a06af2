/** The claims of custom scopes, for a user or for a client acting on its own behalf. */
import type { User } from "../users/user.ts";
import { asConsented, type CustomScope, type ScopeClaim, type ScopeFingerprints } from "./custom-scope.ts";

export type Claims = Readonly<Record<string, unknown>>;

export interface ClaimsWanted {
  readonly customScopes: readonly CustomScope[];
  readonly scopes: readonly string[];
  /** Undefined for client credentials, which get static claims only. */
  readonly user: User | undefined;
  /**
   * What the user consented to; undefined when no user consent limits it (granted by an administrator, or not
   * required).
   */
  readonly consented: ScopeFingerprints | undefined;
}

/**
 * The claims of the custom scopes among `scopes`, without absent values. If two scopes have the same claim, the older
 * scope wins, whatever the requested order.
 */
export function customClaims({ customScopes, scopes, user, consented }: ClaimsWanted): Claims {
  const claims = customScopes
    .filter(({ name }) => scopes.includes(name))
    .flatMap((scope) => (consented ? asConsented(scope, consented) : scope).claims)
    .map((claim) => [claim.name, claimValue(claim, user)] as const)
    .filter(([, value]) => isPresent(value));
  // `fromEntries` keeps the last entry of a name.
  return Object.fromEntries(claims.reverse());
}

const isPresent = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);

function claimValue(claim: ScopeClaim, user: User | undefined): unknown {
  if (claim.source === "static") return claim.value;
  if (!user) return undefined;
  const attribute = /^attributes\.(.+)$/.exec(claim.path)?.[1];
  if (claim.source === "membership") {
    const { groups, attributes } = user.membership;
    if (attribute !== undefined) return ownMember(attributes, attribute);
    return { role: user.role, groups }[claim.path];
  }
  // A guest's attributes belong to the home organisation.
  if (attribute !== undefined)
    return user.homeOrgId === user.orgId ? ownMember(user.attributes, attribute) : undefined;
  const { email, firstname, surname, phone, id: permId, username, locale } = user;
  const known: Claims = { email, firstname, surname, phone, permId, username, locale };
  return ownMember(known, claim.path);
}

const ownMember = (record: Claims, name: string): unknown =>
  Object.hasOwn(record, name) ? record[name] : undefined;
