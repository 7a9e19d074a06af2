/** A ledger of very many leaves, grown as the service grows it, in large steps; and what one more append takes. */
import { randomBytes } from "node:crypto";
import { formatEntry } from "../../../packages/protocol/src/ledger/entry.ts";
import { newUuid } from "../../../packages/protocol/src/uuid.ts";
import { changeLog, insertBatch, lockLog } from "../../../packages/server/src/core/ledger/append.store.ts";
import {
  type AppendDeps,
  appendBatches,
  growTree,
  openLog,
} from "../../../packages/server/src/core/ledger/append.ts";
import { median } from "../load/statistics.ts";
import { ledgerInput } from "./ledger-input.ts";

const STEP = 12_800;

/** @param count of leaves that are added; the last ones with a checkpoint of all */
export async function fillLedger(deps: AppendDeps, orgId: string, count: number): Promise<void> {
  await openLog(deps, orgId);
  for (let from = 0; from < count; from += STEP) {
    const numbers = Array.from({ length: Math.min(STEP, count - from) }, (_, at) => from + at);
    const entries = numbers.map((index) => ledgerInput(index).entry);
    await deps.database.transaction(async (tx) => {
      const log = await lockLog(tx, orgId);
      if (!log) throw new Error("no ledger");
      await growTree(tx, log, entries);
      await changeLog(tx, orgId, { size: log.size + entries.length });
    });
  }
  await record(deps, orgId, 1);
  await appendBatches(deps, orgId);
}

/** As tokens of that many signatures leave them. */
async function record({ database }: AppendDeps, orgId: string, count: number): Promise<void> {
  const entries = Array.from({ length: count }, () => {
    const sha256 = randomBytes(32).toString("base64url");
    const named = { kid: "bench", time: 1_800_000_000, signer: "local", approvals: [] } as const;
    return formatEntry({ v: 1, kind: "access_token", sha256, ...named });
  });
  await insertBatch(database.query, { orgId, id: newUuid(), entries });
}

/** Medians. */
export interface Appends {
  readonly cpuMs: number;
  readonly ms: number;
  /** Entries. */
  readonly perSecond: number;
  /** Of one entry. */
  readonly checkpointMs: number;
}

/** Of a second with much load. */
const ENTRIES = 500;

/** The ledgers in turns. @returns in the order of the organisations */
export async function timeAppends(
  deps: AppendDeps,
  orgIds: readonly string[],
  count: number,
): Promise<Appends[]> {
  const all = orgIds.map((orgId) => ({
    orgId,
    cpuMs: [] as number[],
    ms: [] as number[],
    one: [] as number[],
  }));
  for (const { orgId } of all) await openLog(deps, orgId);
  for (let round = 0; round < count; round += 1)
    for (const { orgId, cpuMs, ms, one } of all) {
      await record(deps, orgId, ENTRIES);
      const append = await timed(() => appendBatches(deps, orgId));
      cpuMs.push(append.cpuMs);
      ms.push(append.ms);
      await record(deps, orgId, 1);
      one.push((await timed(() => appendBatches(deps, orgId))).ms);
    }
  return all.map(({ cpuMs, ms, one }) => ({
    ...{ cpuMs: median(cpuMs), ms: median(ms), checkpointMs: median(one) },
    perSecond: (ENTRIES / median(ms)) * 1000,
  }));
}

async function timed(work: () => Promise<unknown>): Promise<{ cpuMs: number; ms: number }> {
  const [begun, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, ms: performance.now() - begun };
}
