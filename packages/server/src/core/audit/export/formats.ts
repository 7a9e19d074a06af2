/** Export formats: one event per line. */
import type { StoredEvent } from "../audit.store.ts";

export type ExportFormat = "csv" | "jsonl";

export interface LineFormat {
  readonly contentType: string;
  readonly head: string;
  line(event: StoredEvent): string;
}

/** As the JSON APIs and `--json` show it. */
export const eventRecord = (event: StoredEvent) => ({
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

const columns = ["seq", "hash", "id", "at", "actor", "action", "target", "address", "details"] as const;

/** RFC 4180 §2. */
const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(",")}\r\n`;

/**
 * Formula prefixes at the start of a cell (OWASP, CSV Injection). With semicolons, tabs or line ends as separators a
 * spreadsheet sees cells within ours, whose start has no quote.
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
      const record = { ...eventRecord(event), details: JSON.stringify(event.details) };
      return csvLine(columns.map((column) => String(record[column] ?? "")));
    },
  },
  jsonl: {
    contentType: "application/x-ndjson; charset=utf-8",
    head: "",
    line: (event) => `${JSON.stringify(eventRecord(event))}\n`,
  },
};
