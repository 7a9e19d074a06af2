/**
 * What the text of the search box may stand for: an IP address, an email address, an ID, the reference on an error page,
 * or part of a name. It becomes conditions that have an index each; the events themselves are never searched for a text.
 */
import { isUuid } from "@signet/protocol/hash";
import type { Db } from "../../../db/open.ts";
import { listMembers, searchWords } from "../../users/members/members.store.ts";
import { emailKey, isEmail } from "../../users/user.ts";
import { findUserIdsByEmail } from "../../users/users.store.ts";
import { actingKinds, matchActors } from "../actor-names.ts";
import { type NamedKind, namedKinds, selectIdsByName } from "../audit.store.ts";
import { addressSpellings, canonicalAddress } from "../ip-address.ts";
import type { IndexFilter } from "./search.store.ts";
import { subjectFilters } from "./search.ts";

export interface Subjects {
  /** Any of these; empty when nothing can match. */
  readonly filters: readonly IndexFilter[];
  /** More records match than are searched for. */
  readonly isPartial: boolean;
}

/** Records with a matching name: each costs up to four index reads. */
export const MAX_RECORDS = 20;
const MAX_LETTERS = 200;

export async function findSubjects(db: Db, orgId: string, input: string): Promise<Subjects> {
  const text = input.trim().slice(0, MAX_LETTERS);
  const address = canonicalAddress(text);
  if (address !== undefined) return exactly(valuesOf("address", addressSpellings(address)));
  if (isEmail(text)) return emailSubjects(db, orgId, text);
  // A proxy may name its requests by UUIDs.
  if (isUuid(text)) return exactly([...idFilters(text.toLowerCase()), ...valuesOf("request", [text])]);
  const actors = await matchActors(db, orgId, text);
  if (actors.length > 0) return exactly(valuesOf("actor", actors));
  const { filters, isPartial } = await nameFilters(db, orgId, text);
  return { filters: [...wordFilters(text), ...filters], isPartial };
}

const exactly = (filters: readonly IndexFilter[]): Subjects => ({ filters, isPartial: false });

const valuesOf = (column: IndexFilter["column"], values: readonly string[]): IndexFilter[] =>
  values.map((value) => ({ column, value }));

/**
 * Accounts that the address belongs to, and failed sign-ins where it was typed and belonged to none. Without an account,
 * it may be the beginning of an address.
 */
async function emailSubjects(db: Db, orgId: string, text: string): Promise<Subjects> {
  const key = emailKey(text);
  const typed: IndexFilter = { column: "email", value: key };
  const ids = await findUserIdsByEmail(db, orgId, key, MAX_RECORDS);
  if (ids.length > 0) return exactly([typed, ...ids.flatMap((id) => subjectFilters("user", id))]);
  const { filters, isPartial } = await nameFilters(db, orgId, text);
  return { filters: [typed, ...filters], isPartial };
}

/** Of any record, of a session or of an event; also of a record that is deleted. */
const idFilters = (id: string): IndexFilter[] => [
  ...valuesOf("id", [id]),
  ...valuesOf("target", [id]),
  ...valuesOf("application", [id]),
  ...valuesOf(
    "actor",
    actingKinds.map((kind) => `${kind}:${id}`),
  ),
];

/** The reference on an error page, and ids that are no UUIDs. */
const wordFilters = (text: string): IndexFilter[] =>
  text === "" || /\s/.test(text) ? [] : [...valuesOf("request", [text]), ...valuesOf("target", [text])];

async function nameFilters(db: Db, orgId: string, text: string): Promise<Subjects> {
  const found: (readonly [NamedKind, string])[] = [];
  for (const kind of namedKinds) {
    const ids = await idsByName(db, orgId, kind, text);
    found.push(...ids.map((id) => [kind, id] as const));
  }
  return {
    filters: found.slice(0, MAX_RECORDS).flatMap(([kind, id]) => subjectFilters(kind, id)),
    isPartial: found.length > MAX_RECORDS,
  };
}

async function idsByName(db: Db, orgId: string, kind: NamedKind, text: string): Promise<readonly string[]> {
  const limit = MAX_RECORDS + 1;
  if (kind !== "user") return text === "" ? [] : selectIdsByName(db, orgId, kind, { text, limit });
  const words = searchWords(text);
  if (words.length === 0) return [];
  return (await listMembers(db, orgId, { filter: { words }, limit })).map(({ id }) => id);
}
