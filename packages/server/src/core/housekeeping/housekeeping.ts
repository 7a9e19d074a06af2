/**
 * Housekeeping: deletes expired rows, and rotates signing keys and device CAs that are due. In small batches, in the
 * background, on one node at a time. Nothing depends on it: expiry is checked wherever a row is read.
 */
import { newUuid } from "@signet/protocol/uuid";
import type { Database, Db } from "../../db/open.ts";
import { deleteExpiredActions } from "../actions/actions.store.ts";
import { deleteOldActivity, recordAgentPeak } from "../activity/activity.store.ts";
import { logoutDeliveries } from "../backchannel-logout/backchannel-logout.store.ts";
import type { Clock } from "../clock.ts";
import { deleteExpiredCodes } from "../codes/codes.store.ts";
import { deleteExpiredValues } from "../consumed-values.store.ts";
import { deleteExpiredDeviceAuthorizations } from "../device-authorizations/device-authorizations.store.ts";
import type { DeviceCa } from "../device-ca/authority.ts";
import { removeDrainedGenerations } from "../device-ca/rotation.ts";
import { deleteSupersededCertificates } from "../devices/devices.store.ts";
import { deleteExpiredRequests } from "../idempotency/idempotency.store.ts";
import { deleteExpiredKnownBrowsers } from "../known-browsers/known-browsers.store.ts";
import { outgoingMails } from "../mail/mail.store.ts";
import { deleteOldRows } from "../outbox/outbox.store.ts";
import { deleteExpiredRateLimits } from "../rate-limits/rate-limits.store.ts";
import { deleteExpiredTrustedBrowsers } from "../second-factors/trusted-browsers/trusted-browsers.store.ts";
import { deleteExpiredSessionKeys } from "../session-keys/session-keys.store.ts";
import { deleteExpiredSessions } from "../sessions/sessions.store.ts";
import { MAX_TOKEN_LIFETIME_MS } from "../signing-keys/signing-key.ts";
import { deleteRetiredKeys } from "../signing-keys/signing-keys.store.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import { deleteRetiredAgentKeys } from "../signing-pools/agent-key.store.ts";
import { AGENT_SEEN_MS } from "../signing-pools/agent-key.ts";
import { deleteExpiredTokens } from "../tokens/tokens.store.ts";
import { takeLease } from "./housekeeping.store.ts";

export interface HousekeepingDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly keys: Pick<SigningKeys, "rotateDue">;
  readonly deviceCa: Pick<DeviceCa, "rotateDue">;
  /** Rows of features: each function deletes at most `limit` rows and returns how many. */
  readonly featureRemovals?: ReadonlyArray<(db: Db, now: number, limit: number) => Promise<number>>;
  onError(error: unknown): void;
}

type RemovalDeps = Pick<HousekeepingDeps, "database" | "clock" | "featureRemovals">;

const BATCH = 200;
/** Per round: a new RSA key costs a tenth of a second of CPU time. */
const MAX_ROTATIONS = 20;
const ROUND_INTERVAL_MS = 60_000;
const LEASE_MS = 5 * ROUND_INTERVAL_MS;
const DAY_MS = 86_400_000;

type Removal = (db: Db, now: number) => Promise<number>;

const removals: readonly Removal[] = [
  // A used code is kept for another day: its replay is detected in that time, and revokes what the first use issued.
  (db, now) => deleteExpiredCodes(db, now - DAY_MS, BATCH),
  // The same for a device code.
  (db, now) => deleteExpiredDeviceAuthorizations(db, now - DAY_MS, BATCH),
  // Access tokens may outlive their family's last refresh, and refer to it.
  (db, now) => deleteExpiredTokens(db, now - MAX_TOKEN_LIFETIME_MS, BATCH),
  (db, now) => deleteExpiredSessions(db, now - DAY_MS, BATCH),
  (db, now) => deleteExpiredSessionKeys(db, now - DAY_MS, BATCH),
  (db, now) => deleteExpiredRateLimits(db, now, BATCH),
  (db, now) => deleteRetiredKeys(db, now - 30 * DAY_MS, BATCH),
  (db, now) => deleteRetiredAgentKeys(db, now - 30 * DAY_MS, BATCH),
  // A day longer than needed: a clock that is set back must not make a value usable again.
  (db, now) => deleteExpiredValues(db, now - DAY_MS, BATCH),
  (db, now) => deleteExpiredRequests(db, now, BATCH),
  (db, now) => deleteExpiredTrustedBrowsers(db, now, BATCH),
  (db, now) => deleteOldRows(db, logoutDeliveries, now - 7 * DAY_MS, BATCH),
  (db, now) => deleteExpiredActions(db, now - DAY_MS, BATCH),
  (db, now) => deleteOldRows(db, outgoingMails, now - 2 * DAY_MS, BATCH),
  (db, now) => deleteExpiredKnownBrowsers(db, now, BATCH),
  // Expired certificates are no longer on the CRL; the newest of each device is kept.
  (db, now) => deleteSupersededCertificates(db, now - 30 * DAY_MS, BATCH),
  (db, now) => removeDrainedGenerations(db, now, BATCH),
  (db, now) => deleteOldActivity(db, now - 400 * DAY_MS, BATCH),
];

/**
 * Deletes all kinds of rows batch by batch. A failing kind doesn't stop the others.
 * @returns the number of deleted rows.
 * @throws the first failure, after all kinds
 */
export async function removeExpired(deps: RemovalDeps): Promise<number> {
  const ofFeatures = (deps.featureRemovals ?? []).map(
    (remove): Removal =>
      (db, now) =>
        remove(db, now, BATCH),
  );
  const all = [...removals, ...ofFeatures];
  const removed = await inTurn(all.map((remove) => () => removeAll(deps, remove)));
  return removed.reduce((sum, count) => sum + count, 0);
}

async function removeAll({ database, clock }: RemovalDeps, remove: Removal): Promise<number> {
  let removed = 0;
  for (let batch = BATCH; batch >= BATCH; removed += batch) {
    batch = await database.transaction((tx) => remove(tx, clock()));
  }
  return removed;
}

/** Runs all in sequence. @throws the first failure, at the end */
async function inTurn<Result>(works: ReadonlyArray<() => Promise<Result>>): Promise<Result[]> {
  const results: Result[] = [];
  const failures: unknown[] = [];
  for (const work of works) {
    try {
      results.push(await work());
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return results;
}

/** @returns a function that stops it and waits for the current round */
export function startHousekeeping(deps: HousekeepingDeps): () => Promise<void> {
  const holder = newUuid();
  let round: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    round = round.then(async () => void (await runRound(deps, holder))).catch(deps.onError);
  }, ROUND_INTERVAL_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await round;
  };
}

/** Runs one round, if no other node has the lease. @returns whether this node ran it */
export async function runRound(
  deps: RemovalDeps & Pick<HousekeepingDeps, "keys" | "deviceCa">,
  holder: string,
): Promise<boolean> {
  const now = deps.clock();
  const lease = { name: "housekeeping", holder, now, until: now + LEASE_MS };
  if (!(await takeLease(deps.database.query, lease))) return false;
  await inTurn<unknown>([
    () => removeExpired(deps),
    () => deps.keys.rotateDue(MAX_ROTATIONS),
    () => deps.deviceCa.rotateDue(MAX_ROTATIONS),
    () => recordAgentPeak(deps.database.query, { now, since: now - AGENT_SEEN_MS }),
  ]);
  return true;
}
