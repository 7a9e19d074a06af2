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

/** Also when somebody else was faster between the look and the write. */
export const stale = () =>
  new ApiError(412, "stale", "Somebody else changed it meanwhile", {
    detail: "Read it again, and apply your change to what it is now.",
  });
