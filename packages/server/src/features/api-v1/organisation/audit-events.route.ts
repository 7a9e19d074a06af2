/** /api/v1/organisations/{org}/audit-events: the audit log, newest first, and all of it as a file. */
import { Readable } from "node:stream";
import Type from "typebox";
import { findAuditEvent, recordAuditEvent, type StoredEvent } from "../../../core/audit/audit.store.ts";
import { exportAuditEvents, type LineFormat, lineFormats } from "../../../core/audit/export/export.ts";
import { type ApiScope, apiRoute } from "../../../http/api/api-route.ts";
import { strictObject } from "../../../http/api/schemas.ts";
import { actOf, apiAuthenticator } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, getRoute, listRoute } from "../frame/resource-routes.ts";
import { auditEventRecord, auditEventSchema } from "./audit-event-record.ts";
import { auditEventFields, listAuditPage } from "./audit-events-list.store.ts";
import { filterParameters, readFilter } from "./audit-filter.ts";

export function apiAuditEventsRoutes(api: ApiScope, deps: ApiDeps): void {
  const events: ApiResource<StoredEvent> = {
    ...{ api, deps, tag: "API v1: organisation", one: "event", many: "events" },
    reads: ["signet:audit:read"],
    writes: ["signet:audit:read"],
    schema: auditEventSchema,
    record: auditEventRecord,
  };
  listRoute(
    events,
    "/api/v1/organisations/:org/audit-events",
    {
      operationId: "apiListAuditEvents",
      summary: "List audit events, newest first",
      fields: auditEventFields,
    },
    ({ orgId, list }) => listAuditPage(deps.database.query, orgId, list),
  );
  getRoute(
    events,
    "/api/v1/organisations/:org/audit-events/:id",
    { operationId: "apiReadAuditEvent", summary: "Get an audit event" },
    ({ orgId, id }) => findAuditEvent(deps.database.query, orgId, id),
  );
  exportRoute(api, deps);
}

function exportRoute(api: ApiScope, deps: ApiDeps): void {
  apiRoute(api, {
    method: "GET",
    path: "/api/v1/organisations/:org/audit-events/export",
    operationId: "apiExportAuditEvents",
    summary: "Export the audit log in the order of its chain, streamed",
    description:
      "Scope: `signet:audit:read`. With a filter: in the order of time, and what it matches; several must all match.",
    tag: "API v1: organisation",
    credential: "access-token",
    query: strictObject({
      format: Type.Optional(Type.Enum(["jsonl", "csv", ""], { description: "Default: jsonl" })),
      ...filterParameters,
    }),
    answers: {
      200: {
        description: "One event a line: JSON, or CSV as `text/csv`",
        schema: Type.String(),
        contentType: "application/x-ndjson",
      },
    },
    authenticator: apiAuthenticator(deps, "signet:audit:read"),
    handler: async ({ caller, query, reply }) => {
      const format = query.format === "csv" ? "csv" : "jsonl";
      const orgId = caller.organisation.id;
      const filter = await readFilter(deps.database.query, orgId, query);
      await recordAuditEvent(deps.database.query, {
        ...actOf(caller),
        ...{ at: deps.clock(), action: "audit.exported", target: orgId },
        details: { format, filters: Object.keys(filter) },
      });
      const read = <T>(from: (database: ApiDeps["database"]) => Promise<T>) => from(deps.database);
      const lines = linesOf(lineFormats[format], exportAuditEvents(read, orgId, filter));
      await reply
        .headers({ "cache-control": "no-store", "x-content-type-options": "nosniff" })
        .type(lineFormats[format].contentType)
        .send(Readable.from(lines, { objectMode: false }));
      return { status: 200, isSent: true };
    },
  });
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
