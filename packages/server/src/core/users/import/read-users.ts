/** The users that an administrator imports from a CSV file, checked line by line before any of them is created. */
import { isLanguageTag } from "../profile/profile.ts";
import { emailKey, isEmail, isPersonName, type Role } from "../user.ts";
import { type CsvRow, MalformedCsv, parseCsv } from "./csv.ts";

export const importLimits = { rows: 5_000, bytes: 1024 * 1024, invitations: 200 } as const;

export const importColumns = ["email", "firstname", "surname", "role", "locale"] as const;
export type ImportColumn = (typeof importColumns)[number];

export interface ImportedUser {
  readonly line: number;
  readonly email: string;
  readonly firstname: string;
  readonly surname: string;
  readonly role: Role;
  readonly locale: string | null;
}

export interface ImportFault {
  /** 0: of the whole file. */
  readonly line: number;
  readonly fault:
    | ImportColumn
    | "empty"
    | "too-long"
    | "too-many"
    | "malformed"
    | "no-email-column"
    | "unknown-column"
    | "too-many-cells"
    | "duplicate"
    | "taken"
    | "too-many-invitations"
    | "no-mail";
  /** What it is about, as it was written. */
  readonly text?: string;
}

export interface ReadUsers {
  readonly users: readonly ImportedUser[];
  readonly faults: readonly ImportFault[];
}

const only = (fault: ImportFault["fault"], line = 0, text?: string): ReadUsers => ({
  users: [],
  faults: [{ line, fault, ...(text === undefined ? {} : { text }) }],
});

/** @param text a header row, then one user on each line */
export function readUsers(text: string): ReadUsers {
  if (Buffer.byteLength(text) > importLimits.bytes) return only("too-long");
  let rows: CsvRow[];
  try {
    rows = parseCsv(text);
  } catch (error) {
    if (error instanceof MalformedCsv) return only("malformed", error.line);
    throw error;
  }
  const [header, ...lines] = rows;
  if (!header || lines.length === 0) return only("empty");
  if (lines.length > importLimits.rows) return only("too-many");
  const columns = header.cells.map((cell) => cell.toLowerCase());
  const unknown = columns.find((name, index) => !isColumn(name) || columns.indexOf(name) !== index);
  if (unknown !== undefined) return only("unknown-column", header.line, unknown);
  if (!columns.includes("email")) return only("no-email-column", header.line);
  return readLines(lines, columns as ImportColumn[]);
}

const isColumn = (name: string): boolean => importColumns.some((one) => one === name);

function readLines(lines: readonly CsvRow[], columns: readonly ImportColumn[]): ReadUsers {
  const users: ImportedUser[] = [];
  const faults: ImportFault[] = [];
  const seen = new Set<string>();
  for (const { line, cells } of lines) {
    const cell = (name: ImportColumn) => cells[columns.indexOf(name)] ?? "";
    const faultsBefore = faults.length;
    const add = (fault: ImportFault["fault"], text: string) => faults.push({ line, fault, text });
    const [email, role, locale] = [cell("email"), readRole(cell("role")), cell("locale")];
    if (cells.slice(columns.length).some((one) => one !== "")) add("too-many-cells", cells.at(-1) ?? "");
    if (!isEmail(email)) add("email", email);
    else if (seen.has(emailKey(email))) add("duplicate", email);
    for (const name of ["firstname", "surname"] as const)
      if (!isPersonName(cell(name))) add(name, cell(name));
    if (role === undefined) add("role", cell("role"));
    if (locale !== "" && !isLanguageTag(locale)) add("locale", locale);
    seen.add(emailKey(email));
    if (faults.length > faultsBefore || role === undefined) continue;
    const names = { firstname: cell("firstname"), surname: cell("surname") };
    users.push({ line, email, ...names, role, locale: locale === "" ? null : locale });
  }
  return { users, faults };
}

/** As the console calls them, and the API. */
function readRole(text: string): Role | undefined {
  switch (text.toLowerCase()) {
    case "":
    case "member":
    case "standard":
      return "Standard";
    case "administrator":
      return "Administrator";
    default:
      return undefined;
  }
}

/**
 * Pasted addresses: on lines of their own, or between commas, semicolons or spaces; with a name where a mail program has written one
 * (`Ada Lovelace <ada@acme.example>`).
 */
export function readAddresses(text: string): ReadUsers {
  if (Buffer.byteLength(text) > importLimits.bytes) return only("too-long");
  const rows = text
    .split(/\r\n|\r|\n/)
    .flatMap((line, index) => line.split(/[,;]/).flatMap((part) => addressesIn(part, index + 1)));
  if (rows.length === 0) return only("empty");
  return rows.length > importLimits.rows
    ? only("too-many")
    : readLines(rows, ["email", "firstname", "surname"]);
}

/** @param part without separators but spaces */
function addressesIn(part: string, line: number): CsvRow[] {
  const [name = "", address = "", ...others] = part.trim().split("<");
  if (others.length === 0 && address.endsWith(">") && !name.includes("@"))
    return [{ line, cells: [address.slice(0, -1).trim(), ...namesOf(name)] }];
  const words = part.split(/\s+/).map((word) => word.replace(/^<(.*)>$/, "$1"));
  return words.filter((word) => word.includes("@")).map((email) => ({ line, cells: [email] }));
}

/** The last word is the surname: the preview shows it. A name that no user may have is left out. */
function namesOf(name: string): string[] {
  const words = name.replaceAll('"', " ").trim().split(/\s+/);
  const surname = words.length > 1 ? (words.pop() ?? "") : "";
  const names = [words.join(" "), surname];
  return names.every(isPersonName) ? names : [];
}
