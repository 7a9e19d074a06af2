/** Optimistic concurrency by entity tags (RFC 9110 §13.1.1). */
import { ApiError } from "./api-error.ts";
import type { ApiRequest } from "./api-route.ts";

export const etagOf = (version: number): string => `"${version}"`;

/** @throws ApiError 412 when the record is not as the caller has read it */
export const requireMatch = (request: ApiRequest, version: number): void =>
  requireTag(request, etagOf(version));

/** The same, for records without a version. @param tag as the record is sent with it */
export function requireTag(request: ApiRequest, tag: string): void {
  const wanted = request.headers["if-match"];
  if (wanted !== undefined && !names(wanted, tag)) throw stale();
}

/** Whether the caller has it already (RFC 9110 §13.1.2): a weak tag compares as its strong one. */
export function isUnchanged(request: ApiRequest, tag: string): boolean {
  const known = request.headers["if-none-match"];
  return known !== undefined && names(known.replaceAll(/\bW\//g, ""), tag);
}

function names(header: string, tag: string): boolean {
  const tags = header.split(",").map((one) => one.trim());
  return tags.includes("*") || tags.includes(tag);
}

/** Also when another request changed the record between read and write. */
export const stale = () =>
  new ApiError(412, "stale", "The record was changed by another request", {
    detail: "Read the record again and reapply your change.",
  });
