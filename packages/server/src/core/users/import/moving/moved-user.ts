/** A user of another product, as its export says, before anything is created. */

export interface MovedUser {
  readonly email: string;
  readonly firstname: string;
  readonly surname: string;
  readonly emailVerified: boolean;
  /** Who was blocked there stays blocked. */
  readonly disabled: boolean;
  /** As `foreignHashText` gives it; null for a user who signed in by other means. */
  readonly passwordHash: string | null;
  /** What the export has besides, by name. */
  readonly ignored: readonly string[];
}

/** One entry of a file: a line, or the place in its list, counted from 1. */
export interface Entry {
  readonly line: number;
  /** @returns undefined for what is no person. @throws UnusableEntry, UnusableHash */
  read(): MovedUser | undefined;
}

/** Why an entry can't be taken over, in words. */
export class UnusableEntry extends Error {
  override readonly name = "UnusableEntry";
}

/** The whole file is not what its format says. */
export class UnusableFile extends Error {
  override readonly name = "UnusableFile";
}

export const movingLimits = { bytes: 64 * 1024 * 1024, users: 50_000 } as const;

type Members = Readonly<Record<string, unknown>>;

export const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** @throws UnusableEntry */
export function requireMembers(value: unknown, what = "the user"): Members {
  if (!isMembers(value)) throw new UnusableEntry(`${what} is not a JSON object`);
  return value;
}

/** @returns "" when it is absent. @throws UnusableEntry */
export function textOf(members: Members, ...names: readonly string[]): string {
  const name = names.find((one) => (members[one] ?? null) !== null);
  if (name === undefined) return "";
  const value = members[name];
  if (typeof value !== "string") throw new UnusableEntry(`${name} is not a text`);
  return value.trim();
}

/** @returns false when it is absent. @throws UnusableEntry */
export function flagOf(members: Members, name: string): boolean {
  const value = members[name] ?? false;
  if (typeof value !== "boolean") throw new UnusableEntry(`${name} is neither true nor false`);
  return value;
}

/** @throws UnusableEntry */
export function numberOf(members: Members, name: string, fallback?: number): number {
  const value = members[name] ?? fallback;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
    throw new UnusableEntry(`${name} is not a whole number`);
  return value;
}

/** @throws UnusableEntry */
export function parseEntry(text: string, what = "the line"): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnusableEntry(`${what} is not JSON`);
  }
}

/** @throws UnusableFile */
export function parseDocument(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnusableFile("the file is not JSON");
  }
}

/** The names of members that are there, say something, and are not taken over. */
export const ignoredOf = (members: Members, taken: readonly string[]): string[] =>
  Object.keys(members).filter((name) => !taken.includes(name) && saysSomething(members[name]));

const saysSomething = (value: unknown): boolean =>
  typeof value === "object" && value !== null ? Object.keys(value).length > 0 : Boolean(value);

/** A name in one piece: the last word is the surname. */
export function splitName(name: string): Pick<MovedUser, "firstname" | "surname"> {
  const words = name.split(/\s+/).filter((word) => word !== "");
  // Some products put the address where there is no name.
  if (name.includes("@")) return { firstname: "", surname: "" };
  return {
    firstname: words.slice(0, Math.max(1, words.length - 1)).join(" "),
    surname: words.slice(1).at(-1) ?? "",
  };
}

export const linesOf = (text: string): Array<{ readonly line: number; readonly text: string }> =>
  text
    .split(/\r\n|\r|\n/)
    .map((one, at) => ({ line: at + 1, text: one.trim() }))
    .filter((one) => one.text !== "");
