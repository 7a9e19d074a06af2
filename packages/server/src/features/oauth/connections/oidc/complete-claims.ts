/** What the mapping reads and the ID token lacks is asked for at userinfo (connections.md §4, OpenID Connect Core §5.3). */
import { type Configuration, fetchUserInfo } from "openid-client";
import { claimedGroupIds } from "../../../../core/connections/sign-in/group-mapping.ts";
import {
  type Claims,
  isLacking,
  isUnsaid,
  type MappedUser,
  mapClaims,
} from "../../../../core/connections/sign-in/mapping.ts";
import { effectiveMapping } from "../../../../core/connections/sign-in/presets.ts";
import type { SignInSettings } from "../../../../core/connections/sign-in/sign-in-settings.ts";
import { emailKey } from "../../../../core/users/user.ts";

export interface CompleteClaims {
  readonly user: MappedUser;
  readonly groupIds: readonly string[];
  readonly claims: Claims;
}

/** Of the ID token, whose subject userinfo must be about too. */
export interface SignedClaims {
  readonly claims: Claims;
  readonly subject: string;
  readonly accessToken: string;
}

export async function completeClaims(
  config: Configuration,
  settings: SignInSettings,
  { claims: signed, subject, accessToken }: SignedClaims,
): Promise<CompleteClaims> {
  const mapping = effectiveMapping(settings);
  const { groups } = settings;
  const wanted = [...Object.values(mapping), ...(groups ? [groups.from] : [])];
  const isAsked =
    config.serverMetadata().userinfo_endpoint !== undefined &&
    wanted.some((expression) => isLacking(expression, signed));
  const told: Claims = isAsked ? await fetchUserInfo(config, accessToken, subject) : {};
  const claims = mergeClaims(signed, told);
  const user = mapClaims(mapping, claims, signed);
  const [ofSigned, ofTold] = [mapClaims(mapping, signed), mapClaims(mapping, told)];
  const emailVerified = user.emailVerified && (ofSigned.emailVerified || isSameAddress(ofSigned, ofTold));
  return { user: { ...user, emailVerified }, groupIds: claimedGroupIds(groups, claims, signed), claims };
}

/** An address that userinfo calls verified is its own: it says nothing of another one in the ID token. */
const isSameAddress = (signed: MappedUser, told: MappedUser): boolean =>
  signed.email === undefined || told.email === undefined || emailKey(signed.email) === emailKey(told.email);

/** How deep objects are merged, such as `resource_access` with the roles at several clients. */
const MAX_DEPTH = 8;

/** What is signed goes before what is not, unless it is empty. */
function mergeClaims(signed: Claims, told: Claims, depth = 1): Claims {
  const merged = Object.entries(signed).flatMap(([name, value]): Array<[string, unknown]> => {
    if (!Object.hasOwn(told, name)) return [[name, value]];
    const other = told[name];
    if (depth < MAX_DEPTH && isObject(value) && isObject(other))
      return [[name, mergeClaims(value, other, depth + 1)]];
    return isUnsaid(value) ? [] : [[name, value]];
  });
  return Object.fromEntries([...Object.entries(told), ...merged]);
}

const isObject = (value: unknown): value is Claims =>
  typeof value === "object" && value !== null && !Array.isArray(value);
