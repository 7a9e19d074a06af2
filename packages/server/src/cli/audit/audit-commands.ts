/** `signet audit …`: searching, exporting and verifying the audit log. */
import { auditActions } from "../../core/audit/actions.ts";
import { matchActors } from "../../core/audit/actor-names.ts";
import { recordAuditEvent, type StoredEvent } from "../../core/audit/audit.store.ts";
import { withTypedEmails } from "../../core/audit/event-context.store.ts";
import {
  type ExportFormat,
  eventRecord,
  exportAuditEvents,
  lineFormats,
} from "../../core/audit/export/export.ts";
import { canonicalAddress } from "../../core/audit/ip-address.ts";
import { findSubjects } from "../../core/audit/search/find-subjects.ts";
import { type AuditFilter, matchActions, searchAuditEvents } from "../../core/audit/search/search.ts";
import { oldReaderOfNow } from "../../db/old-reads.ts";
import type { Service } from "../../modules/open-service.ts";
import {
  type Call,
  type Command,
  choice,
  definedOnly,
  type Options,
  type OrganisationCall,
  optionalText,
  orgOption,
  requiredText,
  UsageError,
  type Values,
} from "../command.ts";
import { formatTime, printList } from "../output.ts";
import { readTime } from "../times.ts";
import { OPERATOR, organisationCall, readLimit } from "../with-service.ts";
import { auditVerify } from "./audit-verify.ts";

const PAGE = 200;
export const DEFAULT_LIMIT = 50;
/** For a replica to have all that there is at the beginning of an export. */
const REPLICA_WAIT_MS = 5_000;

const filterOptions: Options = {
  search: {
    value: "TEXT",
    help: "email address, name, ID or IP address of actor, target or application, or the reference on an error page",
  },
  who: { value: "WHO", help: "an email address, an ID, operator, system or anonymous" },
  what: { value: "ACTION", help: "event, such as user.disabled, or a prefix such as user." },
  on: { value: "ID", help: "ID of the target" },
  address: { value: "ADDRESS", help: "IP address of the actor" },
  from: { value: "TIME", help: "start: a date, or a time such as 2027-01-31T12:00:00Z" },
  to: { value: "TIME", help: "end; a date includes the whole day" },
  text: { value: "TEXT", help: "text anywhere in the event" },
};

const filterUsage =
  "[--search TEXT] [--who WHO] [--what ACTION] [--on ID] [--address ADDRESS] [--from TIME] [--to TIME] [--text TEXT]";

export const auditCommands: readonly Command[] = [
  {
    name: "audit list",
    summary: "search the audit log, newest events first",
    usage: `--org ID ${filterUsage} [--limit COUNT] [--json]`,
    options: {
      ...filterOptions,
      limit: { value: "COUNT", help: `maximum number of events (default ${DEFAULT_LIMIT})` },
    },
    examples: [
      "signet audit list --org 01998d6e-… --who ada@acme.example --from 2027-01-01",
      "signet audit list --org 01998d6e-… --what sign-in.failed --address 192.0.2.7 --limit 200",
      "signet audit list --org 01998d6e-… --search payroll --from 2027-01-01",
    ],
    runInOrganisation: (call) =>
      printList(call, searchEvents(call), {
        record: eventRecord,
        columns: {
          TIME: ({ at }) => formatTime(at),
          ACTOR: ({ actor }) => actor,
          EVENT: ({ action }) => action,
          TARGET: ({ target = "" }) => target,
          ADDRESS: ({ address = "" }) => address,
          DETAILS: ({ details }) => (Object.keys(details).length === 0 ? "" : JSON.stringify(details)),
        },
        none: "No matching events.",
      }),
  },
  {
    name: "audit export",
    summary: "export the audit log as CSV or JSON Lines, oldest events first, with hash chain positions",
    usage: `--org ID --format csv|jsonl ${filterUsage}`,
    options: {
      ...orgOption,
      format: { value: "FORMAT", help: "csv or jsonl (one JSON document per line)", required: true },
      ...filterOptions,
    },
    examples: [
      "signet audit export --org 01998d6e-… --format jsonl > audit.jsonl",
      "signet audit export --org 01998d6e-… --format csv --from 2027-01-01 --to 2027-01-31 > january.csv",
    ],
    runWithService: exportEvents,
  },
  auditVerify,
];

async function searchEvents(call: OrganisationCall) {
  const limit = readLimit(call.values) ?? DEFAULT_LIMIT;
  const filter = await readFilter(call);
  const { service, organisation } = call;
  const items: StoredEvent[] = [];
  let before: string | undefined;
  do {
    const page = { before, limit: Math.min(PAGE, limit - items.length) };
    const found = await searchAuditEvents(service.database.query, organisation.id, filter, page);
    items.push(...found.events);
    before = found.next;
  } while (before !== undefined && items.length < limit);
  const events = await withTypedEmails(service.database.query, organisation.id, items);
  return { items: events, more: before !== undefined };
}

async function exportEvents(service: Service, call: Call): Promise<number> {
  const { values, io } = call;
  const format = choice("format", requiredText(values, "format"), ["csv", "jsonl"] satisfies ExportFormat[]);
  const named = await organisationCall(call, service);
  const filter = await readFilter(named);
  const { id: orgId } = named.organisation;
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
  const print = (text: string) => io.print(text.slice(0, -1));
  if (head !== "") print(head);
  const read = await oldReaderOfNow(database, REPLICA_WAIT_MS);
  for await (const event of exportAuditEvents(read, orgId, filter)) print(line(event));
  return 0;
}

/** @throws UsageError */
async function readFilter(call: OrganisationCall): Promise<AuditFilter> {
  const { values } = call;
  const who = optionalText(values, "who");
  const what = optionalText(values, "what");
  const actions = what === undefined ? undefined : requireActions(what);
  const times = { from: readTimeOption(values, "from"), to: readTimeOption(values, "to") };
  const { service, organisation } = call;
  const [search, address] = [optionalText(values, "search"), optionalText(values, "address")];
  const db = service.database.query;
  return definedOnly({
    subjects: search === undefined ? undefined : (await findSubjects(db, organisation.id, search)).filters,
    actors: who === undefined ? undefined : await matchActors(db, organisation.id, who),
    actions,
    target: optionalText(values, "on"),
    address: address === undefined ? undefined : (canonicalAddress(address) ?? address),
    text: optionalText(values, "text"),
    ...times,
  });
}

/** @throws UsageError when there is none */
export function requireActions(what: string): readonly string[] {
  const actions = matchActions(what);
  if (actions.length > 0) return actions;
  const nouns = new Set(auditActions.map((action) => `${action.split(".")[0]}.`));
  throw new UsageError(`--what: unknown event "${what}"; events begin with ${[...nouns].join(" ")}`);
}

const DAY_MS = 86_400_000;

/** Milliseconds; the day of `--to` is included. @throws UsageError */
export function readTimeOption(values: Values, option: "from" | "to"): number | undefined {
  const text = optionalText(values, option);
  if (text === undefined) return undefined;
  const at = readTime(text);
  if (at === undefined)
    throw new UsageError(
      `--${option} must be a date (2027-01-31) or a time with a time zone (2027-01-31T12:00:00Z)`,
    );
  return option === "to" && text.length === "2027-01-31".length ? at + DAY_MS : at;
}
