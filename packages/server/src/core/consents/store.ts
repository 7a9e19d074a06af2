import { randomUUIDv7 } from "node:crypto";
import { formatScope } from "@signet/protocol/scope";
import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import type { ConsentTable } from "../../db/tables/consents.ts";
import type { Consent } from "./consent.ts";

/** The living consents that speak for this user and application. */
export async function findConsents(
  db: Db,
  key: { orgId: string; applicationId: string; userId: string },
): Promise<Consent[]> {
  const rows = await db
    .selectFrom("consent")
    .selectAll()
    .where("org_id", "=", key.orgId)
    .where("application_id", "=", key.applicationId)
    .where("revoked_at", "is", null)
    .where((eb) => eb.or([eb("kind", "=", "organisation"), eb("user_id", "=", key.userId)]))
    .execute();
  return rows.map(fromRow);
}

/**
 * The user's yes, added to what they said yes to before. One living record per user and application: two browsers that
 * answer at once end with one.
 * @returns the record's id
 */
export async function grantUserConsent(
  db: Db,
  grant: { orgId: string; applicationId: string; userId: string; scopes: readonly string[]; now: number },
): Promise<string> {
  const { id } = await db
    .insertInto("consent")
    .values({
      org_id: grant.orgId,
      id: randomUUIDv7(),
      kind: "user",
      application_id: grant.applicationId,
      user_id: grant.userId,
      scope: formatScope(grant.scopes),
      granted_by: `user:${grant.userId}`,
      granted_at: grant.now,
      revoked_at: null,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["org_id", "application_id", "user_id"])
        .where("revoked_at", "is", null)
        // A literal: the index is chosen by its own condition, which a parameter cannot be compared with.
        .where("kind", "=", sql.lit("user"))
        .doUpdateSet({ granted_at: grant.now }),
    )
    .returning("id")
    .executeTakeFirstOrThrow();
  const held = await db
    .selectFrom("consent")
    .select("scope")
    .where("org_id", "=", grant.orgId)
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  const scope = formatScope([...new Set([...held.scope.split(" "), ...grant.scopes])]);
  await db
    .updateTable("consent")
    .set({ scope })
    .where("org_id", "=", grant.orgId)
    .where("id", "=", id)
    .execute();
  return id;
}

function fromRow(row: ConsentTable): Consent {
  return {
    orgId: row.org_id,
    id: row.id,
    kind: row.kind as Consent["kind"],
    applicationId: row.application_id,
    userId: row.user_id,
    scopes: row.scope.split(" "),
    grantedBy: row.granted_by,
    grantedAt: row.granted_at,
  };
}
