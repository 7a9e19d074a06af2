/** Session keys; one SQL expression says which are active. */

import { type Expression, type ExpressionBuilder, type SqlBool, sql } from "kysely";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRecord, toRow } from "../../db/records.ts";
import { lockedInOrder } from "../../db/row-locks.ts";
import type { Schema } from "../../db/schema.ts";
import type { SessionKeyTable } from "../../db/tables/session-keys.ts";
import { SESSION_KEY_IDLE_MS, type SessionKey, type SessionKeyKind } from "./session-key.ts";

const columns = [
  ...(["org_id", "id", "kind", "application_id", "user_id", "session_id", "auth_time", "amr"] as const),
  ...(["acr", "address", "created_at", "validated_at", "last_seen_at", "expires_at"] as const),
];

type ListedRow = Pick<SessionKeyTable, (typeof columns)[number]>;

const fromRow = ({ amr, kind, ...row }: ListedRow): SessionKey => ({
  ...toRecord(row),
  kind: kind as SessionKeyKind,
  amr: JSON.parse(amr) as string[],
});

export async function insertSessionKey(db: Db, key: SessionKey & { keyHash: string }): Promise<void> {
  await db
    .insertInto("session_key")
    .values({ ...toRow(key), amr: JSON.stringify(key.amr), revoked_at: null, revoked_reason: null })
    .execute();
}

const selectByHash = prepared((db, value: Parameter<{ keyHash: string }>) =>
  db
    .selectFrom("session_key")
    .leftJoin("browser_session", (join) =>
      join
        .onRef("browser_session.org_id", "=", "session_key.org_id")
        .onRef("browser_session.id", "=", "session_key.session_id"),
    )
    .select(columns.map((column) => `session_key.${column}` as const))
    .select(["revoked_at", "browser_session.id as found_session_id", "ended_at"])
    .where("session_key.key_hash", "=", value("keyHash")),
);

export interface StoredSessionKey extends SessionKey {
  readonly revokedAt: number | null;
  /** Its browser session has ended or was deleted. */
  readonly isSessionEnded: boolean;
}

/** Finds ended keys too. By the hash alone: a call names no organisation. */
export async function findSessionKey(db: Db, keyHash: string): Promise<StoredSessionKey | undefined> {
  const [row] = await selectByHash(db, { keyHash });
  if (!row) return undefined;
  const { revoked_at: revokedAt, found_session_id, ended_at, ...key } = row;
  const isSessionEnded = key.session_id !== null && (found_session_id === null || ended_at !== null);
  return { ...fromRow(key), revokedAt, isSessionEnded };
}

/** The rules of session-key.ts as SQL. */
function isActive(eb: ExpressionBuilder<Schema, "session_key">, now: number): Expression<SqlBool> {
  return eb.and([
    eb("session_key.revoked_at", "is", null),
    eb.or([eb("session_key.expires_at", "is", null), eb("session_key.expires_at", ">", now)]),
    eb.or([
      eb("session_key.kind", "!=", "Service"),
      eb("session_key.last_seen_at", ">", now - SESSION_KEY_IDLE_MS),
    ]),
    eb.or([
      eb("session_key.session_id", "is", null),
      eb.exists(
        eb
          .selectFrom("browser_session")
          .select("browser_session.id")
          .whereRef("browser_session.org_id", "=", "session_key.org_id")
          .whereRef("browser_session.id", "=", "session_key.session_id")
          .where("browser_session.ended_at", "is", null),
      ),
    ]),
  ]);
}

/**
 * Records a use, if the key is still active; the first use sets the lifetime of a `Service` key. Locks the row until the
 * transaction ends, so that a concurrent revocation comes before or after.
 * @param validUntil the expiry that a `Service` key gets at its first use
 * @returns undefined when the key has ended meanwhile
 */
export async function touchSessionKey(
  db: Db,
  key: { orgId: string; id: string },
  validUntil: number,
  now: number,
): Promise<SessionKey | undefined> {
  const row = await db
    .updateTable("session_key")
    .set((eb) => ({
      validated_at: eb.fn.coalesce("validated_at", sql<number>`cast(${now} as bigint)`),
      last_seen_at: now,
      expires_at: eb
        .case()
        .when(eb.and([eb("kind", "=", "Service"), eb("validated_at", "is", null)]))
        .then(sql<number>`cast(${validUntil} as bigint)`)
        .else(eb.ref("expires_at"))
        .end(),
    }))
    .where((eb) => allOf(eb, { org_id: key.orgId, id: key.id }))
    .where((eb) => isActive(eb, now))
    .returning(columns)
    .executeTakeFirst();
  return row && fromRow(row);
}

export type RevokedKeys = { orgId: string; now: number; reason: string } & (
  | { id: string }
  | { userId: string; applicationId?: string }
  | { sessionId: string }
  | { sessionIds: readonly string[] }
  /** Of the sessions that began on the device. */
  | { deviceId: string }
  | { applicationId: string }
);

const isKeyOf = (which: RevokedKeys) => (eb: ExpressionBuilder<Schema, "session_key">) => {
  const active = [eb("org_id", "=", which.orgId), eb("revoked_at", "is", null)];
  if ("id" in which) return eb.and([...active, eb("id", "=", which.id)]);
  if ("sessionId" in which) return eb.and([...active, eb("session_id", "=", which.sessionId)]);
  if ("sessionIds" in which) return eb.and([...active, eb("session_id", "in", which.sessionIds)]);
  if ("deviceId" in which) {
    const ofDevice = eb
      .selectFrom("browser_session")
      .select("browser_session.id")
      .where("browser_session.org_id", "=", which.orgId)
      .where("browser_session.device_id", "=", which.deviceId);
    return eb.and([...active, eb("session_id", "in", ofDevice)]);
  }
  if ("userId" in which) active.push(eb("user_id", "=", which.userId));
  if (which.applicationId !== undefined) active.push(eb("application_id", "=", which.applicationId));
  return eb.and([...active]);
};

/** @returns how many were active */
export async function revokeSessionKeys(db: Db, which: RevokedKeys): Promise<number> {
  let count = 0;
  // Repeated while it finds keys: a key that was converted while the statement waited has a successor that only a new
  // statement sees.
  for (let revoked = 1; revoked > 0; count += revoked) {
    const all = db.selectFrom("session_key").select("id").where(isKeyOf(which));
    const query = db
      .updateTable("session_key")
      .set((eb) => ({
        revoked_at: which.now,
        revoked_reason: which.reason,
        // Gives a permanent key a time for its deletion.
        expires_at: eb.fn.coalesce("expires_at", sql<number>`cast(${which.now} as bigint)`),
      }))
      .where(isKeyOf(which))
      .$if(!("id" in which), (keys) => keys.where("id", "in", lockedInOrder(db, all, "id")));
    revoked = Number((await query.executeTakeFirst()).numUpdatedRows);
  }
  return count;
}

/** The user's active keys, oldest first; one more than the limit. */
export async function listActiveSessionKeys(
  db: Db,
  of: { orgId: string; userId: string; applicationIds?: readonly string[]; now: number },
  page: { limit: number; after: string | undefined },
): Promise<SessionKey[]> {
  const { applicationIds } = of;
  if (applicationIds?.length === 0) return [];
  const rows = await db
    .selectFrom("session_key")
    .select(columns)
    .where((eb) => allOf(eb, { org_id: of.orgId, user_id: of.userId }))
    .where((eb) => isActive(eb, of.now))
    .$if(applicationIds !== undefined, (query) => query.where("application_id", "in", applicationIds ?? []))
    .$if(page.after !== undefined, (query) => query.where("id", ">", page.after ?? ""))
    .orderBy("id")
    .limit(page.limit + 1)
    .execute();
  return rows.map(fromRow);
}
