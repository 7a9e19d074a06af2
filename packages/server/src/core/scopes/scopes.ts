/** The specification's five scopes, what they let an application see, and which of the asked ones are granted. */
import type { User } from "../users/user.ts";

export const standardScopes = ["openid", "profile", "email", "phone", "offline_access"] as const;

/** The specification's scope table: which scope has which claims. */
export const scopeClaims: Readonly<Record<string, readonly string[]>> = {
  profile: ["name", "preferred_username", "given_name", "family_name"],
  email: ["email", "email_verified"],
  phone: ["phone_number"],
};

/** What `claims_supported` of discovery lists beside the protocol's own claims. */
export const userClaims: readonly string[] = Object.values(scopeClaims).flat();

/** The asked scopes that the application may have, in their order; the others are left out (wire-contract.md §2). */
export function grantableScopes(asked: readonly string[], allowed: readonly string[]): string[] {
  return asked.filter((scope) => allowed.includes(scope));
}

/** The claims of the specification's scope table; what the user has no value for is left out, never null. */
export function claimsOfScopes(user: User, scopes: readonly string[]): Record<string, string | boolean> {
  const claims: Record<string, string | boolean | null> = {};
  if (scopes.includes("profile")) {
    claims.name = [user.firstname, user.surname].filter((part) => part !== "").join(" ");
    claims.preferred_username = user.username ?? user.email;
    claims.given_name = user.firstname;
    claims.family_name = user.surname;
  }
  if (scopes.includes("email")) {
    claims.email = user.email;
    claims.email_verified = user.emailVerified;
  }
  if (scopes.includes("phone")) claims.phone_number = user.phone;
  const present = Object.entries(claims).filter(([, value]) => value !== null && value !== "");
  return Object.fromEntries(present) as Record<string, string | boolean>;
}
