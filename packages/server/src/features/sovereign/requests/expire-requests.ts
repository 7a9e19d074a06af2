/**
 * What time does to a request (sovereign-signing.md §3). No timer belongs to a request: whoever looks settles what has
 * lapsed, and a request that nobody looks at is settled by the housekeeping.
 */
import type { CountActivity } from "../../../core/activity/kinds.ts";
import type { Db } from "../../../db/open.ts";
import { poolTopic, requestTopic } from "../notify/wake-up.ts";
import { countSignature } from "./count-signature.ts";
import {
  deleteOldRequests,
  endLapsedLease,
  expireRequest,
  failExhausted,
  forgetContinuations,
  listExpired,
  listLapsed,
  type Settled,
  type TimesRow,
  timeOutChallenge,
} from "./expire-requests.store.ts";
import type { LapseDeps } from "./request-deps.ts";
import { findRequest, type SigningRequestRow } from "./signing-request.store.ts";
import { MOST_ATTEMPTS } from "./signing-request.ts";

type Lapse = "expired" | "challenge_timeout" | "max_attempts" | "lease";

/** What has happened to it by now; of two things the one that came first. */
export function lapseOf(row: TimesRow, now: number): Lapse | undefined {
  if (row.ended_at !== null) return undefined;
  const ends: Array<readonly [Lapse, number | null]> = [
    ["expired", row.expires_at],
    ["challenge_timeout", row.state === "challenge" ? row.challenge_until : null],
    [row.attempts < MOST_ATTEMPTS ? "lease" : "max_attempts", row.lease_until],
  ];
  const [first] = ends
    .filter((end): end is readonly [Lapse, number] => end[1] !== null && end[1] <= now)
    .sort(([, one], [, other]) => one - other);
  // It would wait again, but its time is over.
  return first?.[0] === "lease" && row.expires_at <= now ? "expired" : first?.[0];
}

const transitions: Readonly<Record<Lapse, (db: Db, settled: Settled) => Promise<boolean>>> = {
  expired: expireRequest,
  challenge_timeout: timeOutChallenge,
  max_attempts: failExhausted,
  lease: endLapsedLease,
};

/** @returns whether the row has changed: read it again */
export async function settle(deps: LapseDeps, row: TimesRow): Promise<boolean> {
  const now = deps.clock();
  const lapse = lapseOf(row, now);
  if (!lapse) return false;
  const isDone = await transitions[lapse](deps.database.query, { row, now });
  if (isDone) {
    const { org_id: orgId, pool_id: poolId } = row;
    if (lapse !== "lease") countSignature(deps.count, { orgId, poolId }, "failed");
    deps.wakeUp.wake(requestTopic(orgId, row.id), ...(lapse === "lease" ? [poolTopic(orgId, poolId)] : []));
  }
  return isDone;
}

/** As it is now: what has lapsed is settled first. */
export async function currentRow(
  deps: LapseDeps,
  key: { readonly orgId: string; readonly requestId: string },
): Promise<SigningRequestRow | undefined> {
  const row = await findRequest(deps.database.query, key);
  return row && (await settle(deps, row)) ? findRequest(deps.database.query, key) : row;
}

const BATCH = 100;

/** All that has lapsed in a pool, oldest first: what it held waits again before anything newer is claimed. */
export async function settlePool(deps: LapseDeps, orgId: string, poolId: string): Promise<void> {
  const { query } = deps.database;
  for (let count = BATCH; count === BATCH; ) {
    const rows = await listLapsed(query, { orgId, poolId, now: deps.clock(), limit: BATCH });
    let settled = 0;
    for (const row of rows) if (await settle(deps, row)) settled++;
    // Rows that somebody else settles meanwhile are no reason to go round and round.
    count = settled === 0 ? 0 : rows.length;
  }
}

/** How often a pool is swept by the agents that ask it for work: leases are half a minute long. */
const SWEPT_EVERY_MS = 500;

/** @returns sweeps a pool when it is time again */
export function poolSweeps(deps: LapseDeps): (orgId: string, poolId: string) => Promise<void> {
  const swept = new Map<string, number>();
  return async (orgId, poolId) => {
    const key = `${orgId} ${poolId}`;
    const now = deps.clock();
    if (Math.abs(now - (swept.get(key) ?? 0)) < SWEPT_EVERY_MS) return;
    swept.set(key, now);
    await settlePool(deps, orgId, poolId);
  };
}

const HOUR_MS = 3_600_000;
const KEPT_DAYS_MS = 30 * 24 * HOUR_MS;

/** For the housekeeping: each removes at most `limit` and says how many it was. */
export const requestRemovals = (
  count: CountActivity,
): ReadonlyArray<(db: Db, now: number, limit: number) => Promise<number>> => [
  async (db, now, limit) => {
    const rows = await listExpired(db, now, limit);
    for (const row of rows)
      if (await expireRequest(db, { row, now }))
        countSignature(count, { orgId: row.org_id, poolId: row.pool_id }, "failed");
    return rows.length;
  },
  (db, now, limit) => forgetContinuations(db, now - HOUR_MS, limit),
  (db, now, limit) => deleteOldRequests(db, now - KEPT_DAYS_MS, limit),
];
