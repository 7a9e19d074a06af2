/** Command output: one JSON document with `--json`, otherwise lines of text. And the files that options name. */
import { readFileSync, statSync } from "node:fs";
import { readServerAddresses } from "../db/postgres/server-addresses.ts";
import { wireTime as formatTime, wireTimeOrNull as formatTimeOrNull } from "../http/api/times.ts";
import type { Call } from "./command.ts";

/** RFC 3339, as in every JSON API. */
export { formatTime, formatTimeOrNull };

/** @returns exit code 0 */
export function printResult(
  { io, values }: Pick<Call, "io" | "values">,
  document: unknown,
  lines: () => readonly string[],
): number {
  if (values.json) io.print(JSON.stringify(document));
  else for (const line of lines()) io.print(line);
  return 0;
}

/** Aligned columns, each with its heading. */
export function table(headings: readonly string[], rows: ReadonlyArray<readonly string[]>): string[] {
  const shown = rows.map((row) => row.map(escapeControls));
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...shown.map((row) => row[column]?.length ?? 0)),
  );
  return [headings, ...shown].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** One `name  value` line per field; undefined values are omitted. */
export function fields(pairs: Readonly<Record<string, string | undefined>>): string[] {
  const present = Object.entries(pairs).filter(([, value]) => value !== undefined);
  const width = Math.max(...present.map(([name]) => name.length));
  return present.map(([name, value]) => `${name.padEnd(width)}  ${escapeControls(value ?? "")}`.trimEnd());
}

/** Replaces control characters: a stored name must not control the operator's terminal. */
export const escapeControls = (text: string): string => text.replace(/\p{Cc}/gu, "?");

export const enabledStatus = ({ disabledAt }: { readonly disabledAt: number | null }): string =>
  disabledAt === null ? "enabled" : "disabled";

/** @returns the time, or `never` for null */
export const timeOrNever = (milliseconds: number | null): string => formatTimeOrNull(milliseconds) ?? "never";

/** Prints a list, and whether `--limit` cut it off. */
export async function printList<Item, Shown extends object>(
  call: Pick<Call, "io" | "values">,
  list: Promise<{ items: readonly Item[]; more: boolean }> | readonly Item[],
  view: {
    readonly record: (item: Item) => Shown;
    /** By heading: the member of the record, or a text made from the item. */
    readonly columns: Readonly<Record<string, (keyof Shown & string) | ((item: Item) => string)>>;
    readonly none: string;
  },
): Promise<number> {
  const { items, more } = list instanceof Promise ? await list : { items: list, more: false };
  const cells = Object.values(view.columns);
  const row = (item: Item): string[] => {
    const record = view.record(item);
    return cells.map((cell) => (typeof cell === "function" ? cell(item) : String(record[cell] ?? "")));
  };
  return printResult(call, { items: items.map(view.record), more }, () => {
    if (items.length === 0) return [view.none];
    const lines = table(Object.keys(view.columns), items.map(row));
    return more ? [...lines, "More entries exist: raise --limit to see them."] : lines;
  });
}

/** The message of an error for the operator, without a stack. */
export function errorMessage(error: unknown): string {
  // Connecting to a host name with several addresses throws one error per address.
  if (error instanceof AggregateError) return [...new Set(error.errors.map(errorMessage))].join("; ");
  return error instanceof Error ? error.message : String(error);
}

/** A database for messages: without user and password. */
export function databaseLocation(databaseUrl: string): string {
  if (databaseUrl.startsWith("sqlite:")) return databaseUrl.slice("sqlite:".length);
  return readServerAddresses(databaseUrl).shown;
}

/** Parses a file named by an option. @throws Error naming the option and the file */
export function readOptionFile<T>(
  option: string,
  path: string,
  maxBytes: number,
  parse: (file: Buffer) => T,
): T {
  try {
    if (statSync(path).size > maxBytes) throw new Error(`the file is larger than ${maxBytes / 1024} KiB`);
    return parse(readFileSync(path));
  } catch (error) {
    throw new Error(`--${option} ${path}: ${errorMessage(error)}`);
  }
}
