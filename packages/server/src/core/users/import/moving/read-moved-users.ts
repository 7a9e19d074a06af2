/** Reads a file of users from another product, and finds every fault in it before anything is created. */
import { UnusableHash } from "../../../passwords/foreign-hashes.ts";
import { emailKey, isEmail, isPersonName } from "../../user.ts";
import { readAuth0 } from "./auth0.ts";
import { type FirebaseHashing, readFirebase } from "./firebase.ts";
import { readKeycloak } from "./keycloak.ts";
import { type Entry, type MovedUser, movingLimits, UnusableEntry, UnusableFile } from "./moved-user.ts";
import { readCsv, readJsonLines } from "./own-columns.ts";

export const movingFormats = ["jsonl", "csv", "keycloak", "auth0", "firebase"] as const;
export type MovingFormat = (typeof movingFormats)[number];

const readers: Readonly<Record<MovingFormat, (text: string, hashing?: FirebaseHashing) => Entry[]>> = {
  jsonl: readJsonLines,
  csv: readCsv,
  keycloak: readKeycloak,
  auth0: readAuth0,
  firebase: readFirebase,
};

export interface FailedEntry {
  /** Of the file, or the user's place in its list. */
  readonly line: number;
  /** In words. */
  readonly reason: string;
}

export interface MovedUsers {
  readonly users: readonly MovedUser[];
  readonly failed: readonly FailedEntry[];
  /** What is not taken over, by name, with the number of users that have it. */
  readonly ignored: ReadonlyMap<string, number>;
}

/** What a file may call it: service accounts and anonymous ones. */
export const NO_PERSON = "accounts that are no person's";

/** @throws UnusableFile */
export function readMovedUsers(format: MovingFormat, file: Buffer, hashing?: FirebaseHashing): MovedUsers {
  const entries = readers[format](decode(file), hashing);
  if (entries.length === 0) throw new UnusableFile("the file has no users");
  if (entries.length > movingLimits.users)
    throw new UnusableFile(
      `the file has ${entries.length} users: import at most ${movingLimits.users} at once`,
    );
  const users: MovedUser[] = [];
  const failed: FailedEntry[] = [];
  const ignored = new Map<string, number>();
  const seen = new Map<string, number>();
  for (const { line, read } of entries) {
    const user = attempt(read);
    if (typeof user === "string") failed.push({ line, reason: user });
    else if (user === undefined) count(ignored, NO_PERSON);
    else {
      const reason = faultOf(user, seen);
      seen.set(emailKey(user.email), seen.get(emailKey(user.email)) ?? line);
      if (reason !== undefined) failed.push({ line, reason });
      else users.push(user);
      for (const name of user.ignored) count(ignored, name);
    }
  }
  return { users, failed, ignored };
}

function decode(file: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(file);
  } catch {
    throw new UnusableFile("the file is not UTF-8");
  }
}

/** @returns the fault in words */
function attempt(read: Entry["read"]): MovedUser | undefined | string {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnusableEntry || error instanceof UnusableHash) return error.message;
    throw error;
  }
}

/** @param seen places of the users before, by `emailKey`. @returns the fault in words */
export function faultOf(
  { email, firstname, surname }: Pick<MovedUser, "email" | "firstname" | "surname">,
  seen: ReadonlyMap<string, number>,
): string | undefined {
  if (email === "") return "the user has no email address";
  if (!isEmail(email)) return `"${email.slice(0, 60)}" is not an email address`;
  const before = seen.get(emailKey(email));
  if (before !== undefined) return `${email} is there already, at ${before}`;
  if (!isPersonName(firstname) || !isPersonName(surname))
    return "a name must have at most 100 characters without control characters";
  return undefined;
}

const MAX_NAME = 60;
const count = (counts: Map<string, number>, name: string): void => {
  const short = name.slice(0, MAX_NAME);
  counts.set(short, (counts.get(short) ?? 0) + 1);
};
