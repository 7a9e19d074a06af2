/** `signet audit …`: searching, exporting and verifying the audit log. */

import { recordAuditEvent, type StoredEvent } from "../../core/audit/audit.store.ts";
import {
  type ExportFormat,
  eventRecord,
  exportAuditEvents,
  lineFormats,
} from "../../core/audit/export/export.ts";
import { searchAuditEvents } from "../../core/audit/search/search.ts";
import { type Command, choice, jsonOption, orgOption, requiredText } from "../command.ts";
import { formatTime, printList } from "../output.ts";
import { OPERATOR, readLimit, requireOrganisation } from "../with-service.ts";
import { filterOptions, filterUsage, readFilter } from "./audit-filter.ts";
import { auditVerify } from "./audit-verify.ts";

const PAGE = 200;
const DEFAULT_LIMIT = 50;

const auditList: Command = {
  name: "audit list",
  summary: "search the audit log, newest events first",
  usage: `--org ID ${filterUsage} [--limit COUNT] [--json]`,
  options: {
    ...orgOption,
    ...filterOptions,
    limit: { type: "string", value: "COUNT", help: `maximum number of events (default ${DEFAULT_LIMIT})` },
    ...jsonOption,
  },
  examples: [
    "signet audit list --org 01998d6e-… --who ada@acme.example --from 2027-01-01",
    "signet audit list --org 01998d6e-… --what sign-in.failed --address 192.0.2.7 --limit 200",
  ],
  runWithService: async (service, call) => {
    const organisation = await requireOrganisation(service, call.values);
    const filter = await readFilter(service, organisation, call.values);
    const limit = readLimit(call.values) ?? DEFAULT_LIMIT;
    const items: StoredEvent[] = [];
    let before: string | undefined;
    do {
      const page = { before, limit: Math.min(PAGE, limit - items.length) };
      const found = await searchAuditEvents(service.database.query, organisation.id, filter, page);
      items.push(...found.events);
      before = found.next;
    } while (before !== undefined && items.length < limit);
    return printList(
      call,
      { items, more: before !== undefined },
      {
        record: eventRecord,
        headings: ["TIME", "ACTOR", "EVENT", "TARGET", "ADDRESS", "DETAILS"],
        row: ({ at, actor, action, target = "", address = "", details }) => [
          formatTime(at),
          actor,
          action,
          target,
          address,
          Object.keys(details).length === 0 ? "" : JSON.stringify(details),
        ],
        none: "No matching events.",
      },
    );
  },
};

const auditExport: Command = {
  name: "audit export",
  summary: "export the audit log as CSV or JSON Lines, oldest events first, with hash chain positions",
  usage: `--org ID --format csv|jsonl ${filterUsage}`,
  options: {
    ...orgOption,
    format: {
      type: "string",
      value: "FORMAT",
      help: "csv or jsonl (one JSON document per line)",
      required: true,
    },
    ...filterOptions,
  },
  examples: [
    "signet audit export --org 01998d6e-… --format jsonl > audit.jsonl",
    "signet audit export --org 01998d6e-… --format csv --from 2027-01-01 --to 2027-01-31 > january.csv",
  ],
  runWithService: async (service, call) => {
    const format = choice("format", requiredText(call.values, "format"), [
      "csv",
      "jsonl",
    ] satisfies ExportFormat[]);
    const organisation = await requireOrganisation(service, call.values);
    const filter = await readFilter(service, organisation, call.values);
    const { id: orgId } = organisation;
    const { database, clock } = service;
    await recordAuditEvent(database.query, {
      orgId,
      at: clock(),
      actor: OPERATOR,
      action: "audit.exported",
      target: orgId,
      details: { format, filters: Object.keys(filter) },
    });
    const { head, line } = lineFormats[format];
    // print adds the line break.
    const print = (text: string) => call.io.print(text.slice(0, -1));
    if (head !== "") print(head);
    for await (const event of exportAuditEvents(database.query, orgId, filter)) print(line(event));
    return 0;
  },
};

export const auditCommands: readonly Command[] = [auditList, auditExport, auditVerify];
