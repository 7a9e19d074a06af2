/** Command output: one JSON document with `--json`, otherwise lines of text. */
import type { Call } from "./command.ts";

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

/** RFC 3339, as in every JSON API. */
export const formatTime = (milliseconds: number): string => new Date(milliseconds).toISOString();
export const formatTimeOrNull = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : formatTime(milliseconds);

export const enabledStatus = (disabledAt: number | null): string =>
  disabledAt === null ? "enabled" : "disabled";

/** Prints a list, and whether `--limit` cut it off. */
export function printList<Item>(
  call: Pick<Call, "io" | "values">,
  { items, more }: { items: readonly Item[]; more: boolean },
  shown: {
    readonly record: (item: Item) => Readonly<Record<string, unknown>>;
    readonly headings: readonly string[];
    readonly row: (item: Item) => readonly string[];
    readonly none: string;
  },
): number {
  return printResult(call, { items: items.map(shown.record), more }, () => {
    if (items.length === 0) return [shown.none];
    const lines = table(shown.headings, items.map(shown.row));
    return more ? [...lines, "More entries exist: raise --limit to see them."] : lines;
  });
}
