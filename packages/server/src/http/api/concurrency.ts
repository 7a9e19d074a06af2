/** Optimistic concurrency by entity tags (RFC 9110 §13.1.1). */
import type { FastifyRequest } from "fastify";
import { ApiError } from "./api-error.ts";

export const etagOf = (version: number): string => `"${version}"`;

/** @throws ApiError 412 when the record is not as the caller has read it */
export function requireMatch(request: FastifyRequest, version: number): void {
  const wanted = request.headers["if-match"];
  if (wanted === undefined) return;
  const tags = wanted.split(",").map((tag) => tag.trim());
  if (tags.includes("*") || tags.includes(etagOf(version))) return;
  throw stale();
}

/** Also when another request changed the record between read and write. */
export const stale = () =>
  new ApiError(412, "stale", "The record was changed by another request", {
    detail: "Read the record again and reapply your change.",
  });
