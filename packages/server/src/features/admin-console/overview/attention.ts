/** What needs an administrator's attention, most urgent first. */
import { isDueForRotation } from "../../../core/device-ca/generation.ts";
import { listFactorResetRequests } from "../../../core/second-factors/lost-factors/lost-factors.store.ts";
import { REQUEST_SHOWN_MS } from "../../../core/second-factors/lost-factors/lost-factors.ts";
import { listSigningKeys } from "../../../core/signing-keys/signing-keys.store.ts";
import { AGENT_SEEN_MS } from "../../../core/signing-pools/agent-key.ts";
import { countAgentsByPool } from "../../../core/signing-pools/signing-agent.store.ts";
import { listAllPools } from "../../../core/signing-pools/signing-pool.store.ts";
import type { Db } from "../../../db/open.ts";
import { countFailedMails, type EndingSecret, endOfDeviceCa, secretsThatEnd } from "./overview.store.ts";

export type Attention =
  | { kind: "pool-away"; poolId: string; poolName: string }
  | { kind: "pool-empty"; poolId: string; poolName: string }
  | ({ kind: "secret-ended" | "secret-ends" } & EndingSecret)
  | { kind: "mail-off" }
  | { kind: "mail-failed"; count: number }
  | { kind: "key-old"; alg: string; createdAt: number }
  | { kind: "ca-ends"; at: number }
  | { kind: "factors-lost"; userId: string; email: string; at: number };

export interface AttentionDeps {
  /** Days; 0: keys are not rotated automatically. */
  readonly keyRotationDays: number;
  /** Whether mail is sent, or kept in the demo's mailbox. */
  readonly hasMail: boolean;
}

const DAY_MS = 86_400_000;
const SECRETS_AHEAD_MS = 14 * DAY_MS;
/** An expired secret may be why an application fails now; later nobody misses it. */
const SECRETS_BEHIND_MS = 7 * DAY_MS;
/** Without automatic rotation: the age at which a key is reported. */
const OLD_KEY_MS = 365 * DAY_MS;
/** Housekeeping should have rotated a key that is older than this. */
const ROUND_MS = DAY_MS;
const MAX_SECRETS = 5;
const MAX_REQUESTS = 5;
/** Mails are kept for two days. */
const MAX_MAILS = 1_000;

export async function needsAttention(
  deps: AttentionDeps,
  db: Db,
  orgId: string,
  now: number,
): Promise<Attention[]> {
  return [
    ...(await poolsAway(db, orgId, now)),
    ...(await lostFactors(db, orgId, now)),
    ...(await secrets(db, orgId, now)),
    ...(await mails(deps, db, orgId, now)),
    ...(await oldKeys(deps, db, orgId, now)),
    ...(await endingCa(db, orgId, now)),
  ];
}

async function poolsAway(db: Db, orgId: string, now: number): Promise<Attention[]> {
  const pools = (await listAllPools(db, orgId)).filter(({ disabledAt }) => disabledAt === null);
  if (pools.length === 0) return [];
  const agents = await countAgentsByPool(db, orgId, now - AGENT_SEEN_MS);
  return pools
    .filter(({ id }) => (agents.get(id)?.live ?? 0) === 0)
    .map(({ id, name }) => ({
      kind: agents.has(id) ? ("pool-away" as const) : ("pool-empty" as const),
      poolId: id,
      poolName: name,
    }));
}

async function lostFactors(db: Db, orgId: string, now: number): Promise<Attention[]> {
  const shown = { since: now - REQUEST_SHOWN_MS, limit: MAX_REQUESTS };
  const found = await listFactorResetRequests(db, orgId, shown);
  return found.map(({ userId, email, requestedAt }) => ({
    kind: "factors-lost",
    userId,
    email,
    at: requestedAt,
  }));
}

async function secrets(db: Db, orgId: string, now: number): Promise<Attention[]> {
  const times = { from: now - SECRETS_BEHIND_MS, to: now + SECRETS_AHEAD_MS, limit: MAX_SECRETS };
  const found = await secretsThatEnd(db, orgId, times);
  return found.map((secret) => ({
    kind: secret.expiresAt <= now ? ("secret-ended" as const) : ("secret-ends" as const),
    ...secret,
  }));
}

async function mails({ hasMail }: AttentionDeps, db: Db, orgId: string, now: number): Promise<Attention[]> {
  // Without a mail server every mail fails: one entry is enough.
  if (!hasMail) return [{ kind: "mail-off" }];
  const count = await countFailedMails(db, orgId, { since: now - 2 * DAY_MS, limit: MAX_MAILS });
  return count === 0 ? [] : [{ kind: "mail-failed", count }];
}

async function oldKeys(
  { keyRotationDays }: AttentionDeps,
  db: Db,
  orgId: string,
  now: number,
): Promise<Attention[]> {
  const longest = keyRotationDays === 0 ? OLD_KEY_MS : keyRotationDays * DAY_MS + ROUND_MS;
  return (await listSigningKeys(db, orgId))
    .filter(({ retireAt, createdAt }) => retireAt === null && now - createdAt > longest)
    .map(({ alg, createdAt }) => ({ kind: "key-old", alg, createdAt }));
}

async function endingCa(db: Db, orgId: string, now: number): Promise<Attention[]> {
  const at = await endOfDeviceCa(db, orgId);
  return at !== undefined && isDueForRotation({ notAfter: at + ROUND_MS }, now)
    ? [{ kind: "ca-ends", at }]
    : [];
}
