/** One event as a line for other programs. */
import type { KeptEvent } from "../audit.store.ts";

export type ExportFormat = "csv" | "jsonl";

export interface LineFormat {
  readonly contentType: string;
  /** Before the first event. */
  readonly head: string;
  line(event: KeptEvent): string;
}

const recordOf = (event: KeptEvent) => ({
  orgId: event.orgId,
  seq: event.seq ?? null,
  hash: event.hash ?? null,
  id: event.id,
  at: new Date(event.at).toISOString(),
  actor: event.actor,
  action: event.action,
  target: event.target ?? null,
  address: event.address ?? null,
  details: event.details,
});

/** As the JSON interfaces and `--json` show it. */
export type EventRecord = ReturnType<typeof recordOf>;
export const eventRecord: (event: KeptEvent) => EventRecord = recordOf;

const columns = ["seq", "hash", "id", "at", "actor", "action", "target", "address", "details"] as const;

/** RFC 4180 §2. */
const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(",")}\r\n`;

/**
 * What a spreadsheet would run, at the beginning of a cell (OWASP, CSV Injection). Where semicolons separate, it sees cells
 * within ours, for then no quote stands at the beginning of one; the same with tabs and line ends.
 */
const FORMULA = /(^(?=[\t\r\n])|(?:^|[;\t\r\n])["' ]*(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]))/g;

function csvCell(text: string): string {
  const safe = text.replace(FORMULA, "$1'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const lineFormats: Readonly<Record<ExportFormat, LineFormat>> = {
  csv: {
    contentType: "text/csv; charset=utf-8",
    head: csvLine(columns),
    line: (event) => {
      const record = { ...recordOf(event), details: JSON.stringify(event.details) };
      return csvLine(columns.map((column) => String(record[column] ?? "")));
    },
  },
  jsonl: {
    contentType: "application/x-ndjson; charset=utf-8",
    head: "",
    line: (event) => `${JSON.stringify(recordOf(event))}\n`,
  },
};
