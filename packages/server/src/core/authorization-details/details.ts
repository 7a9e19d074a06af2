/** Authorization details of a request (RFC 9396): read, checked against their types, and compared with what was granted. */
import { isNestedWithin } from "@signet/protocol/json-depth";
import { isExactJson } from "@signet/protocol/json-exact";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { Application } from "../applications/application.ts";
import { apiAudience } from "../scopes/api-scopes.ts";
import { keepSchemas } from "./check-details.ts";
import type { AuthorizationDetail, DetailType } from "./detail-type.ts";

const MAX_BYTES = 8_192;
const MAX_ELEMENTS = 16;

export const invalidDetails = (description: string, cause?: string): OAuthError =>
  new OAuthError("invalid_authorization_details", description, cause === undefined ? {} : { cause });

/**
 * The `authorization_details` parameter of a request, as the client wrote it.
 * @throws OAuthError invalid_authorization_details
 */
export function parseDetails(text: string): AuthorizationDetail[] {
  if (Buffer.byteLength(text) > MAX_BYTES)
    throw invalidDetails(`authorization_details is longer than ${MAX_BYTES} bytes`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidDetails("authorization_details is not JSON");
  }
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ELEMENTS)
    throw invalidDetails(`authorization_details must be an array of 1 to ${MAX_ELEMENTS} objects`);
  if (!isNestedWithin(value) || !isExactJson(value))
    throw invalidDetails("authorization_details is nested too deep, or has texts or numbers that are none");
  return value.map((one: unknown) => {
    const isObject = typeof one === "object" && one !== null && !Array.isArray(one);
    const { type } = (isObject ? one : {}) as { type?: unknown };
    if (typeof type !== "string") throw invalidDetails("an authorization detail has no type");
    return one as AuthorizationDetail;
  });
}

/** The types that an application may ask for: those that its settings name, while they are enabled. */
export const usableTypes = ({ settings }: Application, types: readonly DetailType[]): DetailType[] =>
  types.filter(({ type, enabled }) => enabled && settings.authorizationDetailsTypes.includes(type));

/** What `resource` may name because a usable type belongs to it; the API of this server takes scopes. */
export const resourcesOfTypes = (usable: readonly DetailType[], baseUrl: string): string[] =>
  usable.flatMap(({ resource }) =>
    resource === null || resource === apiAudience(baseUrl) ? [] : [resource],
  );

/**
 * What an authorization request asks for.
 * @param usable the types that the client may ask for
 * @throws OAuthError invalid_authorization_details
 */
export function readDetails(text: string | undefined, usable: readonly DetailType[]): AuthorizationDetail[] {
  if (text === undefined) return [];
  const details = parseDetails(text);
  const pairs = details.map((detail) => {
    const type = usable.find((one) => one.type === detail.type);
    if (!type)
      throw invalidDetails("a type of authorization_details is unknown or not allowed for this client");
    return { detail, schema: type.schema };
  });
  if (!keepSchemas(pairs)) throw invalidDetails("authorization_details does not keep the schema of its type");
  return details;
}

/**
 * Types that belong to a resource make it the target where the request names none.
 * @throws OAuthError invalid_target when it names others, or one of them is disabled
 */
export function targetsOfDetails(
  details: readonly AuthorizationDetail[],
  usable: readonly DetailType[],
  { named, nameable }: { readonly named: readonly string[]; readonly nameable: readonly string[] },
): readonly string[] {
  const wanted = usable.flatMap(({ type, resource }) =>
    resource !== null && details.some((detail) => detail.type === type) ? [resource] : [],
  );
  const targets = named.length === 0 ? [...new Set(wanted)] : named;
  if (wanted.every((resource) => nameable.includes(resource) && targets.includes(resource))) return targets;
  throw new OAuthError("invalid_target", "authorization_details belongs to a resource that is not named", {
    reason: "resource-not-allowed",
  });
}

/**
 * Granted details as they may still be given, in new tokens and to those who ask about one: of types that the client may use,
 * that are no newer than the grant, and that belong to one of the token's resources.
 * @param resources of the token; empty: any
 */
export function stillAllowedDetails(
  granted: { readonly authorizationDetails: readonly AuthorizationDetail[]; readonly createdAt: number },
  usable: readonly DetailType[],
  resources: readonly string[],
): AuthorizationDetail[] {
  return granted.authorizationDetails.filter((detail) => {
    const type = usable.find((one) => one.type === detail.type);
    if (!type || type.createdAt > granted.createdAt) return false;
    return type.resource === null || resources.length === 0 || resources.includes(type.resource);
  });
}

/**
 * What a token request asks for of the granted (RFC 9396 §6): all of it, or parts.
 * @throws OAuthError invalid_authorization_details
 */
export function narrowedDetails(
  text: string | undefined,
  granted: readonly AuthorizationDetail[],
  usable: readonly DetailType[],
): readonly AuthorizationDetail[] {
  if (text === undefined) return granted;
  const asked = readDetails(text, usable);
  if (asked.every((one) => granted.some((whole) => isPartOf(one, whole)))) return asked;
  throw invalidDetails("authorization_details exceeds what was granted");
}

/** RFC 9396 §2.2: lists of what is allowed, of which some may be left out. Elsewhere fewer entries may mean more. */
const LISTS: readonly string[] = ["locations", "actions", "datatypes", "privileges"];

export function isPartOf(part: AuthorizationDetail, whole: AuthorizationDetail): boolean {
  const names = Object.keys(whole);
  return (
    Object.keys(part).length === names.length &&
    names.every((name) => {
      if (!Object.hasOwn(part, name)) return false;
      const [one, other] = [part[name], whole[name]];
      if (canonicalJson(one) === canonicalJson(other)) return true;
      if (!LISTS.includes(name) || !Array.isArray(one) || !Array.isArray(other) || one.length === 0)
        return false;
      const allowed = new Set(other.map(canonicalJson));
      return one.every((entry) => allowed.has(canonicalJson(entry)));
    })
  );
}

/** Equal for values that are equal as JSON, whatever the order of their members. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(",")}}`;
}
