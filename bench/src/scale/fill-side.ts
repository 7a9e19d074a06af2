// Beside a service, in a process of its own: fills its database, and times what only the core does.
import { performance } from "node:perf_hooks";
import { inOneTransaction } from "../../../packages/server/src/cli/with-service.ts";
import { readConfig } from "../../../packages/server/src/config/config.ts";
import { createApplication } from "../../../packages/server/src/core/applications/applications.ts";
import { createClientSecret } from "../../../packages/server/src/core/applications/client-secrets.ts";
import { listAuditEvents, recordAuditEvent } from "../../../packages/server/src/core/audit/audit.store.ts";
import { createOrganisation } from "../../../packages/server/src/core/organisations/organisations.ts";
import { openService } from "../../../packages/server/src/modules/open-service.ts";
import {
  analyse,
  copyId,
  copyRows,
  idOf,
} from "../../../packages/server/src/testing/fixtures/copied-rows.ts";
import { answerQuestions } from "../child-side.ts";
import { median } from "../load/statistics.ts";
import { type Directory, makeDirectory } from "./big-directory.ts";
import { type Appends, fillLedger, timeAppends } from "./big-ledger.ts";

const [settings = "{}"] = process.argv.slice(2);
const config = readConfig(JSON.parse(settings) as Record<string, string>);
const service = await openService(config, { onError: console.error });
const db = service.database.query;

export type FillQuestion =
  /** An organisation with a client, so many times, one after the other. */
  | { kind: "make-organisations"; count: number }
  /** Copies of the organisation and its client. */
  | { kind: "copy-organisations"; orgId: string; from: number; count: number }
  | { kind: "copy-families"; orgId: string; from: number; count: number }
  | { kind: "copy-events"; orgId: string; from: number; count: number }
  /** Users, groups and roles beside what there is. */
  | { kind: "make-directory"; directory: Directory }
  | { kind: "analyse" }
  /** So many leaves more in the organisation's ledger. */
  | { kind: "fill-ledger"; orgId: string; count: number }
  /** So many appends to each of these ledgers, in turns. */
  | { kind: "time-ledger"; orgIds: readonly string[]; count: number }
  /** One event written and the newest page read, so many times. */
  | { kind: "time-events"; orgId: string; count: number };

export interface FillAnswer {
  /** Milliseconds of processor time of one, the median. */
  readonly cpuMs: number;
  readonly seconds: number;
  /** In the order of the organisations. */
  readonly appends?: readonly Appends[];
  readonly last?: { readonly orgId: string; readonly clientId: string; readonly clientSecret: string };
}

const actor = "bench";

async function makeOne() {
  return inOneTransaction(service, async (inside) => {
    const { id: orgId } = await createOrganisation(inside, inside.database.query, { name: "Bench", actor });
    const settings = { grantTypes: ["client_credentials"] } as const;
    const app = { orgId, actor, name: "Bench", clientType: "confidential", settings } as const;
    const { id: clientId } = await createApplication(inside, app);
    const named = { orgId, actor, applicationId: clientId, label: "first", expiresAt: null };
    const { plaintext: clientSecret } = await createClientSecret(inside, named);
    return { orgId, clientId, clientSecret };
  });
}

async function timed<T>(
  count: number,
  work: () => Promise<T>,
): Promise<FillAnswer & { result: T | undefined }> {
  const times: number[] = [];
  const begun = performance.now();
  let result: T | undefined;
  for (let index = 0; index < count; index += 1) {
    const before = process.cpuUsage();
    result = await work();
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
  }
  return { cpuMs: median(times), seconds: (performance.now() - begun) / 1000, result };
}

async function copyOrganisations(orgId: string, from: number, count: number): Promise<void> {
  const where = `org_id = '${orgId}'`;
  const org_id = idOf(db, 0);
  const application_id = idOf(db, 1);
  const range = { from, count };
  await copyRows(db, { table: "organisation", where: `id = '${orgId}'`, ...range, changed: { id: org_id } });
  await copyRows(db, { table: "application", where, ...range, changed: { org_id, id: application_id } });
  const changed = { org_id, application_id };
  await copyRows(db, { table: "client_secret", where, ...range, changed });
  await analyse(db);
}

async function copyFamilies(orgId: string, from: number, count: number): Promise<void> {
  const where = `org_id = '${orgId}'`;
  const changed = { id: idOf(db, 2), user_id: idOf(db, 3), session_id: idOf(db, 4), consent_id: idOf(db, 5) };
  await copyRows(db, { table: "token_family", where, from, count, changed });
  await analyse(db);
}

async function copyEvents(orgId: string, from: number, count: number): Promise<void> {
  const where = `org_id = '${orgId}' and seq is null`;
  const target = `('user-' || (n.i % 100000))`;
  const changed = { id: idOf(db, 6), at: "t.at - 10000000000 + n.i * 10", actor: target, target };
  await copyRows(db, { table: "audit_event", where, from, count, changed });
  await analyse(db);
}

async function timeEvents(orgId: string, count: number): Promise<FillAnswer> {
  const { cpuMs, seconds } = await timed(count, async () => {
    const target = copyId(3, Math.floor(Math.random() * 100_000));
    await recordAuditEvent(db, { orgId, at: Date.now(), actor, action: "session.started", target });
    await listAuditEvents(db, orgId, 50);
  });
  return { cpuMs, seconds };
}

answerQuestions<FillQuestion, FillAnswer>({ port: 0 }, async (question) => {
  if (question.kind === "make-organisations") {
    const { result, ...answer } = await timed(question.count, makeOne);
    return result === undefined ? answer : { ...answer, last: result };
  }
  const begun = performance.now();
  if (question.kind === "make-directory" || question.kind === "analyse") {
    if (question.kind === "analyse") await analyse(db);
    else await makeDirectory(db, question.directory);
    return { cpuMs: 0, seconds: (performance.now() - begun) / 1000 };
  }
  const ledger = { ...service, baseUrl: config.baseUrl };
  if (question.kind === "time-ledger") {
    const appends = await timeAppends(ledger, question.orgIds, question.count);
    return { cpuMs: 0, seconds: (performance.now() - begun) / 1000, appends };
  }
  const { orgId, count } = question;
  if (question.kind === "fill-ledger") {
    await fillLedger(ledger, orgId, count);
    await analyse(db);
  }
  if (question.kind === "time-events") return timeEvents(orgId, count);
  if (question.kind === "copy-organisations") await copyOrganisations(orgId, question.from, count);
  if (question.kind === "copy-families") await copyFamilies(orgId, question.from, count);
  if (question.kind === "copy-events") await copyEvents(orgId, question.from, count);
  return { cpuMs: 0, seconds: (performance.now() - begun) / 1000 };
});
