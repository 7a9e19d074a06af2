/** The claims that describe a user: OpenID Connect Core §5.1, with the address of §5.1.1, and the membership. */
import { seconds } from "../clock.ts";
import type { User } from "../users/user.ts";

/** Without a value: null, empty, or absent. */
type Value = string | number | boolean | Readonly<Record<string, string>> | null | undefined;

export const profileClaims = [
  "name",
  "preferred_username",
  "given_name",
  "family_name",
  "middle_name",
  "nickname",
  "profile",
  "picture",
  "website",
  "gender",
  "birthdate",
  "zoneinfo",
  "locale",
  "updated_at",
  "role",
  "org_id",
] as const;

export const claimsOfProfile = (user: User): Readonly<Record<(typeof profileClaims)[number], Value>> => ({
  name: [user.firstname, user.details.middleName, user.surname].filter((part) => part).join(" "),
  preferred_username: user.username ?? user.email,
  given_name: user.firstname,
  family_name: user.surname,
  middle_name: user.details.middleName,
  nickname: user.details.nickname,
  profile: user.details.profileUrl,
  picture: user.details.picture,
  website: user.details.website,
  gender: user.details.gender,
  birthdate: user.details.birthdate,
  zoneinfo: user.details.zoneinfo,
  locale: user.locale,
  updated_at: seconds(user.profileChangedAt),
  // The membership here, also of a guest: it decides what the user may do in this organisation's applications.
  role: user.role,
  org_id: user.orgId,
});

/** @returns undefined for a user without any part of an address */
export function addressClaim({ details }: User): Readonly<Record<string, string>> | undefined {
  const parts = {
    street_address: details.streetAddress,
    locality: details.locality,
    region: details.region,
    postal_code: details.postalCode,
    country: details.country,
  };
  const present = Object.entries(parts).filter(([, part]) => part !== undefined);
  if (present.length === 0) return undefined;
  return { formatted: formatted(details), ...Object.fromEntries(present) };
}

/** As on an envelope: `1000 Copenhagen`, and where a region is part of it `Springfield, IL 62701`. */
function formatted({ streetAddress, locality, region, postalCode, country }: User["details"]): string {
  const joined = (separator: string, ...parts: ReadonlyArray<string | undefined>) =>
    parts.filter((part) => part).join(separator);
  const place =
    region === undefined
      ? joined(" ", postalCode, locality)
      : joined(" ", joined(", ", locality, region), postalCode);
  return joined("\n", streetAddress, place, country);
}
