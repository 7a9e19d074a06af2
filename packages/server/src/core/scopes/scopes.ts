/** The standard scopes of the specification, their claims, and which requested scopes are granted. */
import type { User } from "../users/user.ts";

export const standardScopes = ["openid", "profile", "email", "phone", "offline_access"] as const;

/** The claims of each standard scope (specification, scope table). */
export const scopeClaims: Readonly<Record<string, readonly string[]>> = {
  profile: ["name", "preferred_username", "given_name", "family_name", "role", "org_id"],
  email: ["email", "email_verified"],
  phone: ["phone_number"],
};

/** Listed in `claims_supported` beside the protocol's own claims. */
export const userClaims: readonly string[] = Object.values(scopeClaims).flat();

/** The requested scopes that the application may have, in their order (wire-contract.md §2). */
export function grantableScopes(requested: readonly string[], allowed: readonly string[]): string[] {
  return requested.filter((scope) => allowed.includes(scope));
}

/** The claims of standard scopes, without absent values. */
export function claimsOfScopes(user: User, scopes: readonly string[]): Record<string, string | boolean> {
  const claims: Record<string, string | boolean | null> = {};
  if (scopes.includes("profile")) {
    claims.name = [user.firstname, user.surname].filter((part) => part !== "").join(" ");
    claims.preferred_username = user.username ?? user.email;
    claims.given_name = user.firstname;
    claims.family_name = user.surname;
    // The membership here, also of a guest: it decides what the user may do in this organisation's applications.
    claims.role = user.role;
    claims.org_id = user.orgId;
  }
  if (scopes.includes("email")) {
    claims.email = user.email;
    claims.email_verified = user.emailVerified;
  }
  if (scopes.includes("phone")) claims.phone_number = user.phone;
  const present = Object.entries(claims).filter(([, value]) => value !== null && value !== "");
  return Object.fromEntries(present) as Record<string, string | boolean>;
}
