/** Signet's own columns, as lines of JSON or as CSV: `email, firstname, surname, emailVerified, passwordHash`. */
import { foreignHashText, readForeignHash } from "../../../passwords/foreign-hashes.ts";
import { MalformedCsv, parseCsv } from "../csv.ts";
import {
  type Entry,
  flagOf,
  linesOf,
  type MovedUser,
  parseEntry,
  requireMembers,
  textOf,
  UnusableEntry,
  UnusableFile,
} from "./moved-user.ts";

const columns = ["email", "firstname", "surname", "emailVerified", "passwordHash"] as const;

const storedHash = (text: string): string | null =>
  text === "" ? null : foreignHashText(readForeignHash(text));

export const readJsonLines = (text: string): Entry[] =>
  linesOf(text).map((one) => ({ line: one.line, read: () => readLine(one.text) }));

function readLine(text: string): MovedUser {
  const members = requireMembers(parseEntry(text), "the line");
  const unknown = Object.keys(members).find((name) => !columns.some((column) => column === name));
  if (unknown !== undefined)
    throw new UnusableEntry(`"${unknown.slice(0, 40)}" is none of ${columns.join(", ")}`);
  return {
    email: textOf(members, "email"),
    firstname: textOf(members, "firstname"),
    surname: textOf(members, "surname"),
    emailVerified: flagOf(members, "emailVerified"),
    disabled: false,
    passwordHash: storedHash(textOf(members, "passwordHash")),
    ignored: [],
  };
}

/** @throws UnusableFile */
export function readCsv(text: string): Entry[] {
  const [header, ...rows] = parseRows(text);
  if (!header) return [];
  const names = header.cells.map((cell) => cell.toLowerCase());
  const known = columns.map((column) => column.toLowerCase());
  const unknown = names.find((name, at) => !known.includes(name) || names.indexOf(name) !== at);
  if (unknown !== undefined)
    throw new UnusableFile(
      `line 1: the header has "${unknown.slice(0, 40)}", or has it twice: ${columns.join(", ")}`,
    );
  if (!names.includes("email")) throw new UnusableFile("line 1: the header has no column email");
  return rows.map(({ line, cells }) => ({ line, read: () => readRow(names, cells) }));
}

function parseRows(text: string) {
  try {
    return parseCsv(text);
  } catch (error) {
    if (error instanceof MalformedCsv) throw new UnusableFile(`line ${error.line}: ${error.message}`);
    throw error;
  }
}

function readRow(names: readonly string[], cells: readonly string[]): MovedUser {
  if (cells.slice(names.length).some((cell) => cell !== ""))
    throw new UnusableEntry("the line has more cells than the header");
  const cell = (name: (typeof columns)[number]) => cells[names.indexOf(name.toLowerCase())] ?? "";
  return {
    email: cell("email"),
    firstname: cell("firstname"),
    surname: cell("surname"),
    emailVerified: readFlag(cell("emailVerified")),
    disabled: false,
    passwordHash: storedHash(cell("passwordHash")),
    ignored: [],
  };
}

function readFlag(text: string): boolean {
  if (/^(|false|0|no)$/i.test(text)) return false;
  if (/^(true|1|yes)$/i.test(text)) return true;
  throw new UnusableEntry("emailVerified is neither true nor false");
}
