/** The search result as a file, streamed. The export is recorded too. */
import { Readable } from "node:stream";
import { recordAuditEvent, type StoredEvent } from "../../../core/audit/audit.store.ts";
import { exportAuditEvents, type LineFormat, lineFormats } from "../../../core/audit/export/export.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { oldReaderFor } from "../../../page-kit/old-reads.ts";
import {
  auditContext,
  type ConsoleDeps,
  consolePath,
  queryString,
  requireRecentAuthentication,
  type Visit,
} from "../../../page-kit/page.ts";
import { readFilterInput, toFilter } from "./filter.ts";

export async function sendExport(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation, request, reply } = visit;
  const { values } = parseQuery(request);
  const input = readFilterInput(values);
  const format = values.get("format") === "jsonl" ? "jsonl" : "csv";
  const path = consolePath(organisation, `/audit-log/export${queryString({ ...input, format })}`);
  const signedIn = await requireRecentAuthentication(deps, visit, path);
  const read = oldReaderFor(deps, visit);
  const { filter } = await read(({ query }) => toFilter(query, organisation.id, input));
  const now = deps.clock();
  await recordAuditEvent(deps.database.query, {
    ...auditContext(visit, signedIn),
    at: now,
    action: "audit.exported",
    target: organisation.id,
    details: { format, filters: Object.keys(filter) },
  });
  const day = new Date(now).toISOString().slice(0, "2027-01-31".length);
  const lines = linesOf(lineFormats[format], exportAuditEvents(read, organisation.id, filter));
  await reply
    .headers({
      "cache-control": "no-store",
      "content-disposition": `attachment; filename="audit-${day}.${format}"`,
      "x-content-type-options": "nosniff",
    })
    .type(lineFormats[format].contentType)
    .send(Readable.from(lines, { objectMode: false }));
}

/** Lines are batched into chunks. */
const PIECE_CHARACTERS = 32_000;

async function* linesOf(
  { head, line }: LineFormat,
  events: AsyncIterable<StoredEvent>,
): AsyncGenerator<string> {
  let piece = head;
  for await (const event of events) {
    piece += line(event);
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}
