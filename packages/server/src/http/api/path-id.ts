/** Ids in the paths of the JSON APIs. */
import { isUuid } from "@signet/protocol/hash";
import { notFound } from "./api-error.ts";

/** @throws ApiError 404 when the parameter is not a UUID, `kid` and `fingerprint` no hash (RFC 7638), `generation` no number */
export function idOf(params: Readonly<Record<string, string>>, name = "id"): string {
  const id = params[name] ?? "";
  if ((name === "kid" || name === "fingerprint") && /^[\w-]{1,100}$/.test(id)) return id;
  if (name === "generation" && /^[1-9]\d{0,8}$/.test(id)) return id;
  if (!isUuid(id)) throw notFound();
  return id.toLowerCase();
}
