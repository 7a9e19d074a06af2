/** The standard scopes of the specification, their claims, and which requested scopes are granted. */
import type { User } from "../users/user.ts";
import { addressClaim, claimsOfProfile, profileClaims } from "./profile-claims.ts";

/** What a user, or a client itself, may do in an application; each scope has a claim of its name (api-v1.md, "In tokens"). */
export const entitlementScopes = ["roles", "groups", "permissions"] as const;
export type EntitlementScope = (typeof entitlementScopes)[number];

export const standardScopes = [
  ...(["openid", "profile", "email", "phone", "address", "offline_access"] as const),
  ...entitlementScopes,
] as const;

/**
 * Organisations may have defined a custom scope of this name before it became a standard one. It stays, in place of the
 * standard scope; there can be no new one.
 */
export const lateStandardScopes: readonly string[] = ["address", ...entitlementScopes];

/** Of the transmitter of shared signals, for clients themselves: as the CAEP interoperability profile names them. */
export const signalScopes = ["ssf.read", "ssf.manage"] as const;
export type SignalScope = (typeof signalScopes)[number];

export const isSignalScope = (name: string): name is SignalScope =>
  (signalScopes as readonly string[]).includes(name);

/** The claims of each standard scope (specification, scope table; OpenID Connect Core §5.4). */
export const scopeClaims: Readonly<Record<string, readonly string[]>> = {
  profile: profileClaims,
  email: ["email", "email_verified"],
  phone: ["phone_number", "phone_number_verified"],
  address: ["address"],
  roles: ["roles"],
  groups: ["groups"],
  permissions: ["permissions"],
};

/**
 * Claims that became standard ones later. Organisations may have a custom claim of the same name, which administrators have
 * decided: it is told as before, and nothing that users write about themselves takes its place.
 */
const lateClaims: readonly string[] = [
  ..."middle_name nickname profile picture website gender birthdate zoneinfo role address".split(" "),
  ...entitlementScopes,
];

export const isLateClaim = (name: string): boolean => lateClaims.includes(name);

/** The claim whose values are too many to be told (core/roles/entitled-claims.ts). */
const claimOfOverage = (name: string): string => name.replace(/_overage$/, "");

/** @param told claims of custom scopes */
export function withStandardClaims<Claims extends Readonly<Record<string, unknown>>>(
  told: Claims,
  standard: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const added = Object.entries(standard).filter(([name]) => {
    const claim = claimOfOverage(name);
    return !(isLateClaim(claim) && Object.hasOwn(told, claim));
  });
  return { ...told, ...Object.fromEntries(added) };
}

/** Listed in `claims_supported` beside the protocol's own claims. */
export const userClaims = (ownScopes: Named): readonly string[] =>
  withoutCustom(Object.keys(scopeClaims), ownScopes).flatMap((scope) => scopeClaims[scope] ?? []);

type Named = ReadonlyArray<{ readonly name: string }>;

/** The scopes that have their standard meaning in an organisation with these custom scopes. */
export const withoutCustom = (scopes: readonly string[], customScopes: Named): string[] =>
  scopes.filter((scope) => !customScopes.some(({ name }) => name === scope));

/** The requested scopes that the application may have, in their order (wire-contract.md §2). */
export function grantableScopes(requested: readonly string[], allowed: readonly string[]): string[] {
  return requested.filter((scope) => allowed.includes(scope));
}

/**
 * The claims of standard scopes, without absent values.
 * @param scopes as of `withoutCustom`
 * @param entitled the claims of the entitlement scopes, of those that may be asked for
 */
export function claimsOfScopes(
  user: User,
  scopes: readonly string[],
  entitled: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const claims: Record<string, unknown> = {};
  if (scopes.includes("profile")) Object.assign(claims, claimsOfProfile(user));
  if (scopes.includes("email")) {
    claims["email"] = user.email;
    claims["email_verified"] = user.emailVerified;
  }
  if (scopes.includes("phone") && user.phone !== null && user.phone !== "") {
    claims["phone_number"] = user.phone;
    // Nothing here calls a number to verify it.
    claims["phone_number_verified"] = false;
  }
  if (scopes.includes("address")) claims["address"] = addressClaim(user);
  for (const [name, value] of Object.entries(entitled))
    if (scopes.includes(claimOfOverage(name))) claims[name] = value;
  const present = Object.entries(claims).filter(
    ([, value]) => value !== undefined && value !== null && value !== "",
  );
  return Object.fromEntries(present);
}
