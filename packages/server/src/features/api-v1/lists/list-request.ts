/** What a list is asked for: `limit`, `cursor`, `total`, `filter`, `search`, `sort` (api-v1.md, "Every resource"). */
import { sha256Base64url } from "@signet/protocol/hash";
import Type, { type TProperties } from "typebox";
import type { Cursor } from "../../../db/keyset.ts";
import { invalid } from "../../../http/api/api-error.ts";
import { DEFAULT_LIMIT } from "../../../http/api/paging.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { type CheckedFilter, MAX_FILTER_LETTERS, readFilter } from "./checked-filter.ts";
import type { ListFields } from "./list-fields.ts";

const MAX_CURSOR_LETTERS = 2_000;
const MAX_SEARCH_LETTERS = 100;

const parameters = {
  limit: Type.Optional(
    Type.String({
      // Empty is as absent, as in every query.
      pattern: "^(?:[1-9][0-9]?|1[0-9][0-9]|200)?$",
      description: `1 to 200; default: ${DEFAULT_LIMIT}`,
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      maxLength: MAX_CURSOR_LETTERS,
      pattern: "^[A-Za-z0-9_-]*$",
      description: "`nextCursor` of the previous page, with the same filter, search and sort",
    }),
  ),
  total: Type.Optional(Type.Enum(["true", "false", ""], { description: "true: count the list as well" })),
};

/** The parameters of a list. @param more those of its own */
export function listQuery(fields: ListFields, { search = false, more = {} as TProperties } = {}) {
  const names = Object.keys(fields);
  return strictObject({
    ...parameters,
    filter: Type.Optional(
      Type.String({
        description: `RFC 7644 §3.4.2.2, at most ${MAX_FILTER_LETTERS} characters, over ${names.join(", ")}`,
      }),
    ),
    sort: Type.Optional(
      Type.Enum([...names.flatMap((name) => [name, `-${name}`]), ""], {
        description:
          "A member; with `-` from the greatest to the least; default: `createdAt`, or `-at` where there is none",
      }),
    ),
    ...(search
      ? {
          search: Type.Optional(
            Type.String({ maxLength: MAX_SEARCH_LETTERS, description: "Words that each record has" }),
          ),
        }
      : {}),
    ...more,
  });
}

export interface ListRequest {
  readonly limit: number;
  readonly filter: CheckedFilter | undefined;
  readonly search: string | undefined;
  readonly sort: { readonly member: string; readonly isDescending: boolean };
  readonly after: Cursor | undefined;
  readonly wantsTotal: boolean;
  /** Of the organisation, the list, its filter and its order: another list refuses its cursors. */
  readonly tag: string;
}

type Query = Readonly<Record<string, string | undefined>>;

/** Of what happened, the newest first (api-v1.md). */
const defaultSort = (fields: ListFields): string =>
  Object.hasOwn(fields, "createdAt") ? "createdAt" : "-at";
const ofPage: readonly string[] = ["limit", "cursor", "total"];

/**
 * @param query checked against `listQuery`, without empty values
 * @param list names the list: organisation, path and parameters
 * @throws ApiError 422
 */
export function readListRequest(query: Query, fields: ListFields, list: string): ListRequest {
  const { limit, cursor, filter, search, sort = defaultSort(fields), total } = query;
  const narrowing = Object.entries(query).filter(([name]) => !ofPage.includes(name));
  const tag = sha256Base64url(JSON.stringify([list, narrowing.toSorted(), sort])).slice(0, 16);
  const isDescending = sort.startsWith("-");
  return {
    limit: limit === undefined ? DEFAULT_LIMIT : Number(limit),
    filter: filter === undefined ? undefined : readFilter(filter, fields),
    search,
    sort: { member: isDescending ? sort.slice(1) : sort, isDescending },
    after: cursor === undefined ? undefined : readCursor(cursor, tag),
    wantsTotal: total === "true",
    tag,
  };
}

export const writeCursor = (tag: string, { value, id }: Cursor): string =>
  Buffer.from(JSON.stringify([tag, value, id])).toString("base64url");

/** @throws ApiError 422 for what this list has not given */
function readCursor(text: string, tag: string): Cursor {
  const [of, value, id, ...more] = cursorParts(text);
  const isValue = typeof value === "string" || Number.isFinite(value);
  if (of !== tag || !isValue || typeof id !== "string" || more.length > 0 || /\0/.test(`${value}${id}`))
    throw invalid([{ path: "?cursor", message: "is not a cursor of this list, filter and order" }]);
  return { value: value as string | number, id };
}

function cursorParts(text: string): readonly unknown[] {
  try {
    const parts = JSON.parse(Buffer.from(text, "base64url").toString()) as unknown;
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

/** A page as it was read. */
export interface ListPage<R> {
  /** One more than the limit when there is another page. */
  readonly rows: readonly R[];
  /** The place of a row, for the cursor. */
  placeOf(row: R): Cursor;
  /** When it was asked for. */
  readonly total?: number | undefined;
}
