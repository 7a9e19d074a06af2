/** `signet audit verify`: whether the audit log is what the server wrote. */
import { chainOrganisation } from "../../core/audit/chain/chaining.ts";
import { chainKey } from "../../core/audit/chain/link.ts";
import {
  type Anchor,
  type ChainFault,
  type Verification,
  verifyChain,
} from "../../core/audit/chain/verify.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import { listOrganisations } from "../../core/organisations/organisations.store.ts";
import type { Service } from "../../modules/open-service.ts";
import { answer, plain } from "../answer.ts";
import { type Command, jsonOption, optionalText, UsageError, type Values } from "../command.ts";
import { reasonOf } from "../reason.ts";
import { organisationOf, readAll, withService } from "../with-service.ts";

export const auditVerify: Command = {
  name: "audit verify",
  summary: "check that no audit event was changed, taken out or put in; exit code 1 when one was",
  usage: "[--org ID|all] [--expect SEQ:HASH] [--json]",
  options: {
    org: { type: "string", value: "ID", help: "the organisation, or all of them (all when absent)" },
    expect: {
      type: "string",
      value: "SEQ:HASH",
      help: "an end of the chain that was noted elsewhere: a line `audit head` of the log, or an export's last",
    },
    ...jsonOption,
  },
  examples: ["signet audit verify", "signet audit verify --org 01998d6e-… --expect 1204:pQw1Yc…"],
  run: (call) =>
    withService(call, async (service) => {
      const expect = readAnchor(call.values);
      const org = optionalText(call.values, "org") ?? "all";
      if (org === "all" && expect) throw new UsageError("--expect is of one organisation: name it by --org");
      const organisations =
        org === "all"
          ? (await readAll({}, (page) => listOrganisations(service.database.query, page))).items
          : [await organisationOf(service, { org })];
      const reports: Report[] = [];
      for (const organisation of organisations) reports.push(await verify(service, organisation, expect));
      const isGood = reports.every(({ fault }) => fault === undefined);
      answer(call, { ok: isGood, organisations: reports.map(recordOf) }, () =>
        reports.length === 0 ? ["There is no organisation yet."] : reports.flatMap(linesOf),
      );
      return isGood ? 0 : 1;
    }),
};

interface Report extends Verification {
  readonly organisation: Organisation;
  /** How many waited, and were put into the chain first. */
  readonly chained: number;
  /** Why those that wait could not be. */
  readonly hindrance?: string;
}

async function verify(service: Service, organisation: Organisation, expect?: Anchor): Promise<Report> {
  const { database, clock, masterKey } = service;
  const { id: orgId } = organisation;
  const key = chainKey(masterKey);
  const chaining = await chainOrganisation({ database, clock, key }, orgId).then(
    (chained) => ({ chained }),
    (error: unknown) => ({ chained: 0, hindrance: reasonOf(error) }),
  );
  const verified = await verifyChain(database.query, orgId, key, expect ? { expect } : {});
  return { organisation, ...chaining, ...verified };
}

function readAnchor(values: Values): Anchor | undefined {
  const text = optionalText(values, "expect");
  if (text === undefined) return undefined;
  const [, seq, hash] = /^([1-9]\d{0,14}):([\w-]{43})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined)
    throw new UsageError("--expect must be the number of an event and its hash, as in 1204:pQw1Yc…");
  return { seq: Number(seq), hash };
}

const recordOf = ({ organisation, fault, ...report }: Report) => ({
  orgId: organisation.id,
  name: organisation.name,
  ok: fault === undefined,
  events: report.events,
  head: { seq: report.headSeq, hash: report.headHash },
  chainedNow: report.chained,
  unchained: report.unchained,
  ...(fault ? { fault } : {}),
  ...(report.hindrance === undefined ? {} : { hindrance: report.hindrance }),
});

function linesOf(report: Report): string[] {
  const { organisation, events, headSeq, headHash, chained, unchained, hindrance, fault } = report;
  const name = `${plain(organisation.name)} (${organisation.id})`;
  const verdict = fault
    ? [
        `${name}: NOT as the server wrote it.`,
        `  ${faultText(fault)}`,
        // Without its end nobody can say so: they may have been made anew, one after the other.
        ...(fault.kind === "head" ? [] : [`  The ${events} events before it are right.`]),
      ]
    : [`${name}: ${events} events, all as the server wrote them.`];
  return [
    ...verdict,
    ...(headSeq > 0 ? [`  The chain ends at ${headSeq}:${headHash}`] : []),
    ...(chained > 0 ? [`  ${chained} events that were waiting were put into the chain first.`] : []),
    ...(unchained > 0 ? [`  ${unchained} events wait to be chained: nothing protects them yet.`] : []),
    ...(hindrance === undefined ? [] : [`  They could not be chained now: ${hindrance}`]),
  ];
}

function faultText({ seq, id, kind }: ChainFault): string {
  const event = id === undefined ? `Event ${seq}` : `Event ${seq} (${plain(id)})`;
  const texts: Readonly<Record<ChainFault["kind"], string>> = {
    changed: `${event} is not what was chained there: it was changed, moved or put in.`,
    missing: `${event} is missing.`,
    extra: `${event} comes behind the end of the chain: the end was put back, or events were put in.`,
    head: `The end of the chain at ${seq} was not signed by this master key, or not for these events: something in them was changed.`,
    anchor: `${event} is not the one that was noted elsewhere: the log was cut off or replaced since.`,
  };
  return texts[kind];
}
