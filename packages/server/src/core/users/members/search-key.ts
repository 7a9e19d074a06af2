/** The searchable text of a member: email address, names and username, normalised. */
import type { User } from "../user.ts";

/** Databases fold the case of ASCII letters only: texts are normalised here. */
const comparable = (text: string): string => text.normalize("NFKC").toLowerCase();

export const searchKey = (user: Pick<User, "email" | "firstname" | "surname" | "username">): string =>
  comparable([user.email, user.firstname, user.surname, user.username ?? ""].join(" ").trim());

/** More words add little, and each costs a comparison per row. */
const MAX_WORDS = 6;

/**
 * Words of a search: each must occur in the search key or the PermId.
 * @param text as entered.
 * @returns an empty list for an empty text
 */
export const searchWords = (text: string): string[] =>
  comparable(text.slice(0, 100))
    .split(/[\s\p{Cc}]+/u)
    .filter((word) => word !== "")
    .slice(0, MAX_WORDS);
