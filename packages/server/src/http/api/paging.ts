/** Paging: `?limit=` and `?cursor=`, answered with `{items, nextCursor}` in the order of creation (wire-contract.md §1). */
import { isUuid } from "@signet/protocol/hash";
import Type, { type TSchema } from "typebox";
import { invalid } from "./api-error.ts";
import { strictObject } from "./schemas.ts";

export const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

export const pageQuery = {
  limit: Type.Optional(
    Type.String({
      // Empty is as absent, as in every query.
      pattern: "^(?:[1-9][0-9]?|1[0-9][0-9]|200)?$",
      description: `1 to ${MAX_LIMIT}; default: ${DEFAULT_LIMIT}`,
    }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: "`nextCursor` of the previous page" })),
};

/** For lists without filters; an unknown parameter is rejected, because a misspelled filter must not list everything. */
export const pageQuerySchema = strictObject(pageQuery);

export interface Page {
  readonly limit: number;
  /** The last id of the previous page. */
  readonly after: string | undefined;
}

/** @throws ApiError 422 */
export function readPage({ limit, cursor }: { limit?: string; cursor?: string }): Page {
  const size = limit === undefined ? DEFAULT_LIMIT : Number(limit);
  if (!(size >= 1 && size <= MAX_LIMIT))
    throw invalid([{ path: "?limit", message: `must be an integer from 1 to ${MAX_LIMIT}` }]);
  const after = cursor === undefined ? undefined : Buffer.from(cursor, "base64url").toString();
  if (after !== undefined && !isUuid(after))
    throw invalid([{ path: "?cursor", message: "is not a cursor from this list" }]);
  return { limit: size, after };
}

/** @param rows one more than the limit when there is another page */
export function pageOf<T extends { readonly id: string }>(rows: readonly T[], { limit }: Page) {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const nextCursor = rows.length > limit && last ? Buffer.from(last.id).toString("base64url") : null;
  return { items, nextCursor };
}

export const pageSchema = <S extends TSchema>(item: S) =>
  Type.Object({ items: Type.Array(item), nextCursor: Type.Union([Type.String(), Type.Null()]) });
