/** Keeps every organisation's audit log as long as its settings say: part of housekeeping. */
import { listOrganisations } from "../../organisations/organisations.store.ts";
import type { ChainDeps } from "../chain/chaining.ts";
import { isStreamInUse } from "../stream/stream.store.ts";
import { cutBatch } from "./cut-chain.ts";

export interface RetentionDeps extends ChainDeps {
  /** Whether this node has an audit stream, which must have sent what is cut; other nodes may have one. */
  readonly isStreamed?: boolean;
  /** Reports why an organisation's log was not cut; others are. */
  onError(error: unknown): void;
}

const HOUR_MS = 3_600_000;
const PAGE = 200;
/** Per round, which may take a few minutes. */
const MAX_BATCHES = 200;

/**
 * The beginning of the day (UTC) so many months before: a log is cut at most once a day. Of a month without that day, its last one:
 * never later, as that would cut too much.
 */
export function retentionStart(now: number, months: number): number {
  const today = new Date(now);
  const [year, month] = [today.getUTCFullYear(), today.getUTCMonth() - months];
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return Date.UTC(year, month, Math.min(today.getUTCDate(), lastDay));
}

/** @returns whether everything due is cut */
export async function cutAuditLogs(deps: RetentionDeps, maxBatches = MAX_BATCHES): Promise<boolean> {
  const isStreamed = deps.isStreamed === true || (await isStreamInUse(deps.database.query, deps.clock()));
  let left = maxBatches;
  let after = "";
  for (;;) {
    const page = await listOrganisations(deps.database.query, { after, limit: PAGE });
    for (const { id: orgId, settings } of page) {
      after = orgId;
      if (settings.auditRetentionMonths === 0) continue;
      left -= await cutOne(
        { ...deps, isStreamed },
        { orgId, months: settings.auditRetentionMonths },
        left,
      ).catch((error: unknown) => {
        deps.onError(error);
        return 1;
      });
      if (left <= 0) return false;
    }
    if (page.length < PAGE) return true;
  }
}

/** @returns how many batches it took */
async function cutOne(
  deps: RetentionDeps,
  { orgId, months }: { readonly orgId: string; readonly months: number },
  maxBatches: number,
): Promise<number> {
  const { isStreamed = false } = deps;
  const before = retentionStart(deps.clock(), months);
  let batches = 0;
  while (
    batches < maxBatches &&
    (await cutBatch(deps, { orgId, before, months, isFirst: batches === 0, isStreamed })) > 0
  )
    batches++;
  return batches;
}

/** For the rounds of housekeeping: looks once an hour, and at the next round again while something is left. */
export function auditRetention(deps: RetentionDeps): () => Promise<void> {
  let next = 0;
  return async () => {
    const now = deps.clock();
    if (now < next) return;
    if (await cutAuditLogs(deps)) next = now + HOUR_MS;
  };
}
