/**
 * Housekeeping: deletes expired rows, and rotates signing keys and device CAs that are due. In small batches, in the
 * background, on one node at a time. Nothing depends on it: expiry is checked wherever a row is read.
 */
import { newUuid } from "@signet/protocol/uuid";
import { deleteExpired, type ExpiringTable } from "../../db/delete-expired.ts";
import type { Db } from "../../db/open.ts";
import { recordPeaks } from "../activity/activity.store.ts";
import { forgetOldLogoutHints } from "../connections/sign-in/upstream-sign-ins.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { DeviceCa } from "../device-ca/authority.ts";
import { removeDrainedGenerations } from "../device-ca/rotation.ts";
import { deleteSupersededCertificates } from "../devices/devices.store.ts";
import { MAX_TOKEN_LIFETIME_MS } from "../signing-keys/signing-key.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import { deleteRetiredAgentKeys } from "../signing-pools/agent-key.store.ts";
import { AGENT_SEEN_MS } from "../signing-pools/agent-key.ts";
import { takeLease } from "./housekeeping.store.ts";

/** Deletes at most `limit` rows. @returns how many */
type Removal = (db: Db, now: number, limit: number) => Promise<number>;

export interface HousekeepingDeps extends CoreDeps {
  readonly keys: Pick<SigningKeys, "rotateDue">;
  readonly deviceCa: Pick<DeviceCa, "rotateDue">;
  /** Rows of features. */
  readonly featureRemovals?: readonly Removal[];
  /** Other works, each of a few minutes at most. */
  readonly works?: ReadonlyArray<() => Promise<unknown>>;
  onError(error: unknown): void;
}

type RemovalDeps = Pick<HousekeepingDeps, "database" | "clock" | "featureRemovals">;

const BATCH = 200;
/** Per round: a new RSA key costs a tenth of a second of CPU time. */
const MAX_ROTATIONS = 20;
const ROUND_INTERVAL_MS = 60_000;
const LEASE_MS = 5 * ROUND_INTERVAL_MS;
const DAY_MS = 86_400_000;

/** How long rows stay after their expiry, milliseconds. */
const keptMs: Readonly<Record<ExpiringTable, number>> = {
  // A used code is kept for another day: its replay is detected in that time, and revokes what the first use issued.
  authorization_code: DAY_MS,
  // The same for a device code.
  device_authorization: DAY_MS,
  // The same for a CIBA request.
  ciba_request: DAY_MS,
  // Access tokens may outlive their family's last refresh, and refer to it.
  token_family: MAX_TOKEN_LIFETIME_MS,
  pushed_request: 0,
  opaque_access_token: 0,
  revoked_access_token: MAX_TOKEN_LIFETIME_MS,
  browser_session: DAY_MS,
  session_key: DAY_MS,
  rate_limit: 0,
  signing_key: 30 * DAY_MS,
  // A day longer than needed: a clock that is set back must not make a value usable again.
  consumed_value: DAY_MS,
  // A key is free from its expiry on: that millisecond counts.
  idempotency_key: -1,
  remembered_device: 0,
  logout_delivery: 7 * DAY_MS,
  user_action: DAY_MS,
  outgoing_mail: 2 * DAY_MS,
  known_browser: 0,
  activity: 400 * DAY_MS,
  // Needed for support in the first weeks; the audit log keeps it longer.
  device_enrollment_code: 30 * DAY_MS,
  audit_typed_email: 0,
  // A late answer gets `challenge_expired` instead of `challenge_not_found`.
  device_challenge: DAY_MS,
  // Those that wait have no end yet.
  event_delivery: 30 * DAY_MS,
  connection_start: 0,
  saml_return: 0,
  connection_test: 0,
  connection_sign_in: 0,
  pending_identity: 0,
  sign_up: 0,
  // Whoever made it still reads what became of it.
  portal_link: 7 * DAY_MS,
  // The list still says what became of it.
  initial_access_token: 30 * DAY_MS,
  upstream_sign_in: 0,
  // Its page still says to which address a new one goes.
  email_code: 30 * 60_000,
};

const removals: readonly Removal[] = [
  ...Object.entries(keptMs).map(
    ([table, kept]): Removal =>
      (db, now, limit) =>
        deleteExpired(db, table as ExpiringTable, now - kept, limit),
  ),
  (db, now, limit) => deleteRetiredAgentKeys(db, now - 30 * DAY_MS, limit),
  // Expired certificates are no longer on the CRL; the newest of each device is kept.
  (db, now, limit) => deleteSupersededCertificates(db, now - 30 * DAY_MS, limit),
  removeDrainedGenerations,
  forgetOldLogoutHints,
];

/**
 * Deletes all kinds of rows batch by batch. A failing kind doesn't stop the others.
 * @returns the number of deleted rows.
 * @throws the first failure, after all kinds
 */
export async function removeExpired(deps: RemovalDeps): Promise<number> {
  const all = [...removals, ...(deps.featureRemovals ?? [])];
  const removed = await inTurn(all.map((remove) => () => removeAll(deps, remove)));
  return removed.reduce((sum, count) => sum + count, 0);
}

async function removeAll({ database, clock }: RemovalDeps, remove: Removal): Promise<number> {
  let removed = 0;
  for (let batch = BATCH; batch >= BATCH; removed += batch) {
    batch = await database.transaction((tx) => remove(tx, clock(), BATCH));
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
  deps: RemovalDeps & Pick<HousekeepingDeps, "keys" | "deviceCa" | "works">,
  holder: string,
): Promise<boolean> {
  const now = deps.clock();
  const lease = { name: "housekeeping", holder, now, until: now + LEASE_MS };
  if (!(await takeLease(deps.database.query, lease))) return false;
  await inTurn<unknown>([
    () => removeExpired(deps),
    () => deps.keys.rotateDue(MAX_ROTATIONS),
    () => deps.deviceCa.rotateDue(MAX_ROTATIONS),
    () => recordPeaks(deps.database.query, { now, since: now - AGENT_SEEN_MS }),
    ...(deps.works ?? []),
  ]);
  return true;
}
