/** Ids in the paths of the JSON APIs. */
import { isUuid } from "@signet/protocol/hash";
import { notFound } from "./api-error.ts";

/** @throws ApiError 404 when the parameter is not a UUID */
export function idOf(params: Readonly<Record<string, string>>, name = "id"): string {
  const id = params[name] ?? "";
  if (!isUuid(id)) throw notFound();
  return id.toLowerCase();
}
