/**
 * Removes what has expired and rotates signing keys and device CAs that have become old: small batches, in the background, on one node
 * at a time. Nothing depends on it: whatever is looked up is checked for its own end.
 */
import { newUuid } from "@signet/protocol/uuid";
import type { Database, Db } from "../../db/open.ts";
import { deletePassedActions } from "../actions/actions.store.ts";
import { deleteOldActivity, noteLiveAgents } from "../activity/activity.store.ts";
import { logoutDeliveries } from "../backchannel-logout/backchannel-logout.store.ts";
import type { Clock } from "../clock.ts";
import { deleteDeadCodes } from "../codes/codes.store.ts";
import { deletePassedValues } from "../consumed-values.store.ts";
import { deleteDeadDeviceAuthorizations } from "../device-authorizations/device-authorizations.store.ts";
import type { DeviceCa } from "../device-ca/authority.ts";
import { removeDrainedGenerations } from "../device-ca/rotation.ts";
import { deletePassedCertificates } from "../devices/devices.store.ts";
import { deletePassedRequests } from "../idempotency/idempotency.store.ts";
import { deleteForgottenBrowsers } from "../known-browsers/known-browsers.store.ts";
import { outgoingMails } from "../mail/mail.store.ts";
import { deleteOldRows } from "../outbox/outbox.store.ts";
import { deletePassedWindows } from "../rate-limits/rate-limits.store.ts";
import { deletePassedDevices } from "../second-factors/trusted-browsers/trusted-browsers.store.ts";
import { deleteDeadSessionKeys } from "../session-keys/session-keys.store.ts";
import { deleteDeadSessions } from "../sessions/sessions.store.ts";
import { LONGEST_TOKEN_MS } from "../signing-keys/signing-key.ts";
import { deleteRetiredKeys } from "../signing-keys/signing-keys.store.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import { AGENT_SEEN_MS } from "../signing-pools/agent-key.ts";
import { deleteRetiredAgentKeys } from "../signing-pools/registration.store.ts";
import { deleteDeadTokens } from "../tokens/tokens.store.ts";
import { takeLease } from "./housekeeping.store.ts";

export interface HousekeepingDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly keys: Pick<SigningKeys, "rotateDue">;
  readonly deviceCa: Pick<DeviceCa, "rotateDue">;
  /** What features keep: each removes at most `limit` rows and says how many it was. */
  readonly featureRemovals?: ReadonlyArray<(db: Db, now: number, limit: number) => Promise<number>>;
  onError(error: unknown): void;
}

type RemovalDeps = Pick<HousekeepingDeps, "database" | "clock" | "featureRemovals">;

const BATCH = 200;
/** In one round: a new RSA key costs a tenth of a second of a processor. */
const MOST_KEYS = 20;
const EVERY_MS = 60_000;
const LEASE_MS = 5 * EVERY_MS;
const DAY_MS = 86_400_000;

type Removal = (db: Db, now: number) => Promise<number>;

const removals: readonly Removal[] = [
  // A used code is kept a day longer: a second use in that time is told from nonsense and ends what the first began.
  (db, now) => deleteDeadCodes(db, now - DAY_MS, BATCH),
  // So is a device code.
  (db, now) => deleteDeadDeviceAuthorizations(db, now - DAY_MS, BATCH),
  // Access tokens may outlive the family's last refresh, and look it up.
  (db, now) => deleteDeadTokens(db, now - LONGEST_TOKEN_MS, BATCH),
  (db, now) => deleteDeadSessions(db, now - DAY_MS, BATCH),
  (db, now) => deleteDeadSessionKeys(db, now - DAY_MS, BATCH),
  (db, now) => deletePassedWindows(db, now, BATCH),
  (db, now) => deleteRetiredKeys(db, now - 30 * DAY_MS, BATCH),
  (db, now) => deleteRetiredAgentKeys(db, now - 30 * DAY_MS, BATCH),
  // A day longer than needed: a clock that is set back must not make a value good again.
  (db, now) => deletePassedValues(db, now - DAY_MS, BATCH),
  (db, now) => deletePassedRequests(db, now, BATCH),
  (db, now) => deletePassedDevices(db, now, BATCH),
  (db, now) => deleteOldRows(db, logoutDeliveries, now - 7 * DAY_MS, BATCH),
  (db, now) => deletePassedActions(db, now - DAY_MS, BATCH),
  (db, now) => deleteOldRows(db, outgoingMails, now - 2 * DAY_MS, BATCH),
  (db, now) => deleteForgottenBrowsers(db, now, BATCH),
  // They left their CRL when they expired; the newest of each device stays.
  (db, now) => deletePassedCertificates(db, now - 30 * DAY_MS, BATCH),
  (db, now) => removeDrainedGenerations(db, now, BATCH),
  (db, now) => deleteOldActivity(db, now - 400 * DAY_MS, BATCH),
];

/**
 * One round: every kind, batch by batch until nothing is left. A kind that fails holds up none of the others.
 * @returns how many rows were removed. @throws what failed first, when all have had their turn
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

/** One after the other, all of them. @throws what failed first, at the end */
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

/** @returns a function that stops it and waits for a round under way */
export function startHousekeeping(deps: HousekeepingDeps): () => Promise<void> {
  const holder = newUuid();
  let round: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    round = round.then(async () => void (await runRound(deps, holder))).catch(deps.onError);
  }, EVERY_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await round;
  };
}

/** One round, if no other node has the lease. @returns whether it was this node's turn */
export async function runRound(
  deps: RemovalDeps & Pick<HousekeepingDeps, "keys" | "deviceCa">,
  holder: string,
): Promise<boolean> {
  const now = deps.clock();
  const lease = { name: "housekeeping", holder, now, until: now + LEASE_MS };
  if (!(await takeLease(deps.database.query, lease))) return false;
  await inTurn<unknown>([
    () => removeExpired(deps),
    () => deps.keys.rotateDue(MOST_KEYS),
    () => deps.deviceCa.rotateDue(MOST_KEYS),
    () => noteLiveAgents(deps.database.query, { now, since: now - AGENT_SEEN_MS }),
  ]);
  return true;
}
