import type { AgentAlg } from "@signet/protocol/agent-signature";
import { isPostgres } from "../../db/is-postgres.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import type {
  AgentKeyTable,
  SigningAgentTable,
  SigningPoolTable,
} from "../../db/tables/sovereign-signing.ts";
import type { AgentKey, SigningAgent } from "./agent-key.ts";
import type { IssuerMode, SigningPool } from "./signing-pool.ts";

const selectPool = prepared((db, value: Parameter<{ orgId: string; id: string }>) =>
  db
    .selectFrom("signing_pool")
    .selectAll()
    .where("org_id", "=", value("orgId"))
    .where("id", "=", value("id")),
);

/** Disabled or not. */
export async function findPool(db: Db, orgId: string, id: string): Promise<SigningPool | undefined> {
  const [row] = await selectPool(db, { orgId, id });
  return row && toPool(row);
}

/**
 * Whether it is there; nobody deletes it until the transaction ends. Applications that name it do not wait for each other:
 * some take their own row first, and some several, so that each could wait for the other.
 */
export async function keepPool(tx: Db, orgId: string, id: string): Promise<boolean> {
  const found = tx.selectFrom("signing_pool").select("id").where("org_id", "=", orgId).where("id", "=", id);
  // SQLite's transactions come one after the other.
  const kept = isPostgres(tx) ? found.forShare() : found;
  return (await kept.executeTakeFirst()) !== undefined;
}

const selectAgentByApiKey = prepared((db, value: Parameter<{ orgId: string; hash: string }>) =>
  db
    .selectFrom("signing_agent")
    .selectAll()
    .where("org_id", "=", value("orgId"))
    .where("api_key_hash", "=", value("hash"))
    .where("deactivated_at", "is", null),
);

/** @param hash SHA-256 of the API key, base64url. Undefined for a deactivated agent's key: it died with it. */
export async function findAgentByApiKey(
  db: Db,
  orgId: string,
  hash: string,
): Promise<SigningAgent | undefined> {
  const [row] = await selectAgentByApiKey(db, { orgId, hash });
  return row && toAgent(row);
}

/** Deactivated or not. */
export async function findAgent(db: Db, orgId: string, id: string): Promise<SigningAgent | undefined> {
  const row = await db
    .selectFrom("signing_agent")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row && toAgent(row);
}

/** Disabled ones too, oldest first; an organisation has few. */
export async function listAllPools(db: Db, orgId: string): Promise<SigningPool[]> {
  const rows = await db
    .selectFrom("signing_pool")
    .selectAll()
    .where("org_id", "=", orgId)
    .orderBy("id")
    .execute();
  return rows.map(toPool);
}

/** The keys of all pools of the organisation that are not compromised; those that have retired are among them. */
export async function listLivingKeys(db: Db, orgId: string): Promise<AgentKey[]> {
  const rows = await db
    .selectFrom("agent_key")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("compromised_at", "is", null)
    .orderBy("created_at")
    .orderBy("kid")
    .execute();
  return rows.map(toKey);
}

/** All of the pool's keys that are still kept, whatever their state, oldest first: filter by `agentKeyState`. */
export async function listKeysOfPool(db: Db, orgId: string, poolId: string): Promise<AgentKey[]> {
  const rows = await db
    .selectFrom("agent_key")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("pool_id", "=", poolId)
    .orderBy("created_at")
    .orderBy("kid")
    .execute();
  return rows.map(toKey);
}

type ActiveKeys = { orgId: string; agentId: string; now: number };

const selectActiveKeys = prepared((db, value: Parameter<ActiveKeys>) =>
  db
    .selectFrom("agent_key")
    .selectAll()
    .where("org_id", "=", value("orgId"))
    .where("agent_id", "=", value("agentId"))
    .where("compromised_at", "is", null)
    .where("active_from", "<=", value("now"))
    .where((eb) => eb.or([eb("retiring_at", "is", null), eb("retiring_at", ">", value("now"))]))
    .orderBy("created_at")
    .orderBy("kid"),
);

/** The agent's keys that sign now, oldest first; whether the agent works is the caller's to know. */
export async function activeKeysOfAgent(db: Db, wanted: ActiveKeys): Promise<AgentKey[]> {
  return (await selectActiveKeys(db, wanted)).map(toKey);
}

/** Any key of the organisation, whatever its state. */
export async function findAgentKey(db: Db, orgId: string, kid: string): Promise<AgentKey | undefined> {
  const row = await db
    .selectFrom("agent_key")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("kid", "=", kid)
    .executeTakeFirst();
  return row && toKey(row);
}

/** Raises what the key signed last, never lowers it. @param exp milliseconds */
export async function noteTokenExp(
  db: Db,
  { orgId, kid, exp }: { orgId: string; kid: string; exp: number },
): Promise<void> {
  await db
    .updateTable("agent_key")
    .set({ last_token_exp: exp })
    .where("org_id", "=", orgId)
    .where("kid", "=", kid)
    .where((eb) => eb.or([eb("last_token_exp", "is", null), eb("last_token_exp", "<", exp)]))
    .execute();
}

/** @param now milliseconds; written only when what stands there is older by at least `every` */
export async function noteAgentSeen(
  db: Db,
  { orgId, id, now, every }: { orgId: string; id: string; now: number; every: number },
): Promise<void> {
  await db
    .updateTable("signing_agent")
    .set({ last_seen_at: now })
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .where((eb) => eb.or([eb("last_seen_at", "is", null), eb("last_seen_at", "<=", now - every)]))
    .execute();
}

/** Whether a working agent of the pool was seen since then. */
export async function isAgentSeen(
  db: Db,
  { orgId, poolId, since }: { orgId: string; poolId: string; since: number },
): Promise<boolean> {
  const row = await db
    .selectFrom("signing_agent")
    .select("id")
    .where("org_id", "=", orgId)
    .where("pool_id", "=", poolId)
    .where("deactivated_at", "is", null)
    .where("last_seen_at", ">", since)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export function toPool(row: SigningPoolTable): SigningPool {
  return {
    orgId: row.org_id,
    id: row.id,
    name: row.name,
    issuerMode: row.issuer_mode as IssuerMode,
    algs: JSON.parse(row.algs) as AgentAlg[],
    maxTokenLifetimeSeconds: row.max_token_lifetime_seconds,
    tokenWaitSeconds: row.token_wait_seconds,
    keyPublishDelaySeconds: row.key_publish_delay_seconds,
    maxPending: row.max_pending,
    trustedRoots: JSON.parse(row.trusted_roots) as string[],
    requireX5c: row.require_x5c === 1,
    createdAt: row.created_at,
    createdBy: row.created_by,
    updatedAt: row.updated_at,
    disabledAt: row.disabled_at,
    version: row.version,
  };
}

export function toAgent(row: SigningAgentTable): SigningAgent {
  return {
    orgId: row.org_id,
    id: row.id,
    poolId: row.pool_id,
    name: row.name,
    createdAt: row.created_at,
    createdBy: row.created_by,
    lastSeenAt: row.last_seen_at,
    deactivatedAt: row.deactivated_at,
    compromisedAt: row.compromised_at,
  };
}

export function toKey(row: AgentKeyTable): AgentKey {
  return {
    orgId: row.org_id,
    kid: row.kid,
    poolId: row.pool_id,
    agentId: row.agent_id,
    publicJwk: JSON.parse(row.public_jwk) as AgentKey["publicJwk"],
    alg: row.alg as AgentAlg,
    x5c: JSON.parse(row.x5c) as string[],
    createdAt: row.created_at,
    activeFrom: row.active_from,
    retiringAt: row.retiring_at,
    lastTokenExp: row.last_token_exp,
    compromisedAt: row.compromised_at,
  };
}
