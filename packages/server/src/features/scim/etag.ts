/** ETags of resources: weak, and the same as long as the resource looks the same (RFC 7644 §3.14). */
import { sha256Base64url } from "@signet/protocol/hash";
import { type Resource, ScimFault } from "@signet/protocol/scim/attribute";

export const tagOf = (resource: Resource): string =>
  `W/"${sha256Base64url(JSON.stringify(resource)).slice(0, 22)}"`;

const opaque = (tag: string): string => tag.trim().replace(/^W\//, "");

/** Whether a header that lists tags, or `*`, names this one. */
export const namesTag = (header: string, tag: string): boolean =>
  header.trim() === "*" || header.split(",").some((one) => opaque(one) === opaque(tag));

/** @throws ScimFault 412 */
export function requireTag(ifMatch: string | undefined, tag: string): void {
  if (ifMatch !== undefined && !namesTag(ifMatch, tag))
    throw new ScimFault(412, undefined, "The resource has changed since it was read.");
}
