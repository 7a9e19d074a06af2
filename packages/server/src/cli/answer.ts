/** How a command answers: one JSON document, or lines for people. */
import type { Call, Options } from "./command.ts";

/** @returns exit code 0 */
export function answer(
  { io, values }: Pick<Call, "io" | "values">,
  document: unknown,
  lines: () => readonly string[],
): number {
  if (values.json) io.print(JSON.stringify(document));
  else for (const line of lines()) io.print(line);
  return 0;
}

/** Aligned columns under a heading each. */
export function table(headings: readonly string[], rows: ReadonlyArray<readonly string[]>): string[] {
  const shown = rows.map((row) => row.map(plain));
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

/** One `name  value` line each; what is undefined is left out. */
export function fields(pairs: Readonly<Record<string, string | undefined>>): string[] {
  const present = Object.entries(pairs).filter(([, value]) => value !== undefined);
  const width = Math.max(...present.map(([name]) => name.length));
  return present.map(([name, value]) => `${name.padEnd(width)}  ${plain(value ?? "")}`.trimEnd());
}

/** A name that somebody chose must not steer the terminal. */
export const plain = (text: string): string => text.replace(/\p{Cc}/gu, "?");

/** RFC 3339, as in every JSON interface. */
export const time = (milliseconds: number): string => new Date(milliseconds).toISOString();
export const timeOrNull = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : time(milliseconds);

export const stateOf = (disabledAt: number | null): string => (disabledAt === null ? "enabled" : "disabled");

export const limitOption: Options = {
  limit: { type: "string", value: "COUNT", help: "show at most so many (all when absent)" },
};

/** The answer of a list: its items, and whether `--limit` left some out. */
export function answerList<Item>(
  call: Pick<Call, "io" | "values">,
  { items, more }: { items: readonly Item[]; more: boolean },
  shown: {
    readonly record: (item: Item) => Readonly<Record<string, unknown>>;
    readonly headings: readonly string[];
    readonly row: (item: Item) => readonly string[];
    readonly none: string;
  },
): number {
  return answer(call, { items: items.map(shown.record), more }, () => {
    if (items.length === 0) return [shown.none];
    const lines = table(shown.headings, items.map(shown.row));
    return more ? [...lines, "There are more: give a larger --limit."] : lines;
  });
}
