/** What a search for members looks in: address, names and username, compared as people mean them. */
import type { User } from "../user.ts";

/** Databases know the case of ASCII letters alone: texts are brought to one form before they get there. */
const comparable = (text: string): string => text.normalize("NFKC").toLowerCase();

export const searchKey = (user: Pick<User, "email" | "firstname" | "surname" | "username">): string =>
  comparable([user.email, user.firstname, user.surname, user.username ?? ""].join(" ").trim());

/** More say no more, and each costs a comparison of every row. */
const MOST_WORDS = 6;

/**
 * Each of these has to be in the key, or in the PermId.
 * @param text as it was typed. @returns none for an empty text
 */
export const searchWords = (text: string): string[] =>
  comparable(text.slice(0, 100))
    .split(/[\s\p{Cc}]+/u)
    .filter((word) => word !== "")
    .slice(0, MOST_WORDS);
