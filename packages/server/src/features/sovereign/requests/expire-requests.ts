/**
 * Expiry of requests, leases and challenges (sovereign-signing.md §3). No request has a timer: every read applies what has
 * expired, and the housekeeping does so for requests that nobody reads.
 */
import type { CountActivity } from "../../../core/activity/kinds.ts";
import type { Db } from "../../../db/open.ts";
import { poolTopic, requestTopic } from "../notify/wake-up.ts";
import { deleteUsedCommitments } from "../threshold/commitment.store.ts";
import { deleteOldParts } from "../threshold/round.store.ts";
import {
  clearOldContinuations,
  type DueRequest,
  deleteOldRequests,
  expireLease,
  expireRequest,
  failExhausted,
  listDue,
  listExpired,
  type TimesRow,
  timeOutChallenge,
} from "./expire-requests.store.ts";
import { findRequest, findRequests, type SigningRequestRow } from "./signing-request.store.ts";
import {
  countSignature,
  type ExpiryDeps,
  MAX_ATTEMPTS,
  type RequestKey,
  type SigningDeps,
} from "./signing-request.ts";

type Expiry = "request" | "challenge" | "last-lease" | "lease";

const transitions: Readonly<Record<Expiry, (db: Db, due: DueRequest) => Promise<boolean>>> = {
  request: expireRequest,
  challenge: timeOutChallenge,
  "last-lease": failExhausted,
  lease: expireLease,
};

/** What has expired by now; of several, what expired first. */
function dueExpiry(row: TimesRow, now: number): Expiry | undefined {
  if (row.ended_at !== null) return undefined;
  const ends: Array<readonly [Expiry, number | null]> = [
    ["request", row.expires_at],
    ["challenge", row.state === "challenge" ? row.challenge_until : null],
    [row.attempts < MAX_ATTEMPTS ? "lease" : "last-lease", row.lease_until],
  ];
  const [first] = ends
    .filter((end): end is readonly [Expiry, number] => end[1] !== null && end[1] <= now)
    .sort(([, one], [, other]) => one - other);
  // An expired request doesn't return to the queue.
  return first?.[0] === "lease" && row.expires_at <= now ? "request" : first?.[0];
}

/** @returns whether the row changed: read it again */
async function applyExpiry(deps: ExpiryDeps, row: TimesRow): Promise<boolean> {
  const now = deps.clock();
  const expiry = dueExpiry(row, now);
  if (!expiry || !(await transitions[expiry](deps.database.query, { row, now }))) return false;
  const { org_id: orgId, pool_id: poolId } = row;
  deps.wakeUp.notify(requestTopic(orgId, row.id));
  if (expiry === "lease") deps.wakeUp.notify(poolTopic(orgId, poolId));
  else countSignature(deps.count, { orgId, poolId }, "failed");
  return true;
}

/** The row as it is now, after everything that has expired was applied. */
export async function currentRow(deps: ExpiryDeps, key: RequestKey): Promise<SigningRequestRow | undefined> {
  const row = await findRequest(deps.database.query, key);
  return row && (await applyExpiry(deps, row)) ? findRequest(deps.database.query, key) : row;
}

/** The same for several, by id. */
export async function currentRows(
  deps: ExpiryDeps,
  orgId: string,
  requests: ReadonlyArray<{ readonly requestId: string }>,
): Promise<Map<string, SigningRequestRow>> {
  const ids = [...new Set(requests.map(({ requestId }) => requestId))];
  const rows = new Map<string, SigningRequestRow>();
  for (const row of await findRequests(deps.database.query, orgId, ids)) {
    const key = { orgId, requestId: row.id };
    const current = (await applyExpiry(deps, row)) ? await findRequest(deps.database.query, key) : row;
    if (current) rows.set(row.id, current);
  }
  return rows;
}

const BATCH = 100;

/** Applies every expiry in a pool, oldest first, so that reclaimed requests go before newer ones. */
export async function expireInPool(deps: ExpiryDeps, orgId: string, poolId: string): Promise<void> {
  for (;;) {
    const rows = await listDue(deps.database.query, { orgId, poolId, now: deps.clock(), limit: BATCH });
    let changed = 0;
    for (const row of rows) if (await applyExpiry(deps, row)) changed++;
    // A batch without changes is being applied by another node.
    if (changed === 0 || rows.length < BATCH) return;
  }
}

/** Leases last 30 s: agents that poll need no more. */
const SWEEP_INTERVAL_MS = 500;

/** `expireInPool`, at most twice a second. */
export async function sweepPool(deps: SigningDeps, orgId: string, poolId: string): Promise<void> {
  const key = `${orgId} ${poolId}`;
  const now = deps.clock();
  if (Math.abs(now - (deps.poolSweeps.get(key) ?? 0)) < SWEEP_INTERVAL_MS) return;
  deps.poolSweeps.set(key, now);
  await expireInPool(deps, orgId, poolId);
}

const HOUR_MS = 3_600_000;
const RETENTION_MS = 30 * 24 * HOUR_MS;

/** For the housekeeping: each removes at most `limit` rows and returns how many. */
export const signingRequestRemovals = (
  count: CountActivity,
): ReadonlyArray<(db: Db, now: number, limit: number) => Promise<number>> => [
  async (db, now, limit) => {
    const rows = await listExpired(db, now, limit);
    for (const row of rows)
      if (await expireRequest(db, { row, now }))
        countSignature(count, { orgId: row.org_id, poolId: row.pool_id }, "failed");
    return rows.length;
  },
  (db, now, limit) => clearOldContinuations(db, now - HOUR_MS, limit),
  (db, now, limit) => deleteOldRequests(db, now - RETENTION_MS, limit),
  (db, now, limit) => deleteOldParts(db, now - RETENTION_MS, limit),
  (db, now, limit) => deleteUsedCommitments(db, now - RETENTION_MS, limit),
];
