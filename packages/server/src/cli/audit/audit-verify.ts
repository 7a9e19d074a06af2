/** `signet audit verify`: checks the hash chain of the audit log. */
import { chainOrganisation } from "../../core/audit/chain/chaining.ts";
import type { Checkpoint } from "../../core/audit/chain/link.ts";
import {
  type Anchor,
  type ChainFault,
  type Verification,
  verifyChain,
} from "../../core/audit/chain/verify.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import { listOrganisations } from "../../core/organisations/organisations.store.ts";
import type { Service } from "../../modules/open-service.ts";
import { type Command, jsonOption, optionalText, UsageError, type Values } from "../command.ts";
import { errorMessage, escapeControls, formatTime, printResult } from "../output.ts";
import { readAll, requireOrganisation } from "../with-service.ts";

export const auditVerify: Command = {
  name: "audit verify",
  summary: "verify the audit log's hash chain: exit code 1 if an event was changed, removed or inserted",
  usage: "[--org ID|all] [--expect SEQ:HASH] [--json]",
  options: {
    org: { value: "ID", help: "organisation ID, or all (default)" },
    expect: {
      value: "SEQ:HASH",
      help: "chain head recorded elsewhere: from a log line `audit head`, or the last line of an export",
    },
    ...jsonOption,
  },
  examples: ["signet audit verify", "signet audit verify --org 01998d6e-… --expect 1204:pQw1Yc…"],
  runWithService: async (service, call) => {
    const expect = readAnchor(call.values);
    const org = optionalText(call.values, "org") ?? "all";
    if (org === "all" && expect) throw new UsageError("--expect applies to one organisation: add --org");
    const organisations =
      org === "all"
        ? (await readAll({}, (page) => listOrganisations(service.database.query, page))).items
        : [await requireOrganisation(service, { org })];
    const reports: Report[] = [];
    for (const organisation of organisations) reports.push(await verify(service, organisation, expect));
    const ok = reports.every(({ fault }) => fault === undefined);
    printResult(call, { ok, organisations: reports.map(reportRecord) }, () =>
      reports.length === 0 ? ["No organisations yet."] : reports.flatMap(reportLines),
    );
    return ok ? 0 : 1;
  },
};

interface Report extends Verification {
  readonly organisation: Organisation;
  /** Pending events that this run added to the chain first. */
  readonly chained: number;
  /** Why pending events could not be added. */
  readonly hindrance?: string;
}

async function verify(service: Service, organisation: Organisation, expect?: Anchor): Promise<Report> {
  const { database, clock, chainKey: key } = service;
  const { id: orgId } = organisation;
  const chaining = await chainOrganisation({ database, clock, key }, orgId).then(
    (chained) => ({ chained }),
    (error: unknown) => ({ chained: 0, hindrance: errorMessage(error) }),
  );
  const verified = await verifyChain(database.query, orgId, key, expect ? { expect } : {});
  return { organisation, ...chaining, ...verified };
}

function readAnchor(values: Values): Anchor | undefined {
  const text = optionalText(values, "expect");
  if (text === undefined) return undefined;
  const [, seq, hash] = /^([1-9]\d{0,14}):([\w-]{43})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined)
    throw new UsageError("--expect must be a sequence number and a hash, such as 1204:pQw1Yc…");
  return { seq: Number(seq), hash };
}

const reportRecord = ({ organisation, fault, ...report }: Report) => ({
  orgId: organisation.id,
  name: organisation.name,
  ok: fault === undefined,
  events: report.events,
  head: { seq: report.headSeq, hash: report.headHash },
  chainedNow: report.chained,
  unchained: report.unchained,
  ...(report.cut ? { cut: cutRecord(report.cut) } : {}),
  ...(fault ? { fault } : {}),
  ...(report.hindrance === undefined ? {} : { hindrance: report.hindrance }),
});

const cutRecord = ({ seq, hash, events, cutAt, until }: Checkpoint) => ({
  seq,
  hash,
  events,
  cutAt: formatTime(cutAt),
  until: formatTime(until),
});

function reportLines(report: Report): string[] {
  const { organisation, events, headSeq, headHash, chained, unchained, hindrance, fault, cut } = report;
  const name = `${escapeControls(organisation.name)} (${organisation.id})`;
  const verdict = fault
    ? [
        `${name}: verification FAILED.`,
        `  ${faultText(fault)}`,
        // A forged head proves nothing about the events before it.
        ...(isOfSignature(fault) ? [] : [`  The ${events} events before it are intact.`]),
      ]
    : [`${name}: ${events} events, all intact.`];
  return [
    ...verdict,
    ...(cut
      ? [
          `  Events 1 to ${cut.seq}, until ${formatTime(cut.until)}, were deleted by the retention policy, last on ${formatTime(cut.cutAt)}.`,
        ]
      : []),
    ...(headSeq > 0 ? [`  Chain head: ${headSeq}:${headHash}`] : []),
    ...(chained > 0 ? [`  ${chained} pending events were added to the chain first.`] : []),
    ...(unchained > 0 ? [`  ${unchained} events are not yet in the chain, and not protected by it.`] : []),
    ...(hindrance === undefined ? [] : [`  Adding them failed: ${hindrance}`]),
  ];
}

const isOfSignature = ({ kind }: ChainFault): boolean => kind === "head" || kind === "checkpoint";

function faultText({ seq, id, kind }: ChainFault): string {
  const event = id === undefined ? `Event ${seq}` : `Event ${seq} (${escapeControls(id)})`;
  const texts: Readonly<Record<ChainFault["kind"], string>> = {
    changed: `${event} doesn't match the chain: it was changed, moved or inserted.`,
    missing: `${event} is missing.`,
    extra: `${event} follows the chain head: the head was reset, or events were inserted.`,
    head: `The chain head at ${seq} was not signed by this master key for these events: events or head were changed.`,
    checkpoint: `Where the log was cut, at ${seq}, was not signed by this master key: events or the cut were changed.`,
    cut: `Event ${seq} was deleted by the retention policy: --expect must name a head after the cut.`,
    anchor: `${event} doesn't match the head given by --expect: the log was truncated or replaced.`,
  };
  return texts[kind];
}
