/** Counts and warnings of the overview. An index answers each, and none reads more rows than it counts. */
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { undisclosedTemplates } from "../../../core/mail/mail.ts";
import type { Db } from "../../../db/open.ts";

/** Counted up to here. */
export const MAX_COUNTED = 200_000;

export interface Figures {
  readonly users: number;
  readonly applications: number;
  readonly sessions: number;
  readonly devices: number;
}

/** At most `MAX_COUNTED + 1` of each. */
export async function countFigures(db: Db, orgId: string, now: number): Promise<Figures> {
  const limit = MAX_COUNTED + 1;
  const count = async (
    table: "membership" | "application" | "browser_session" | "device",
    condition?: RawBuilder<SqlBool>,
  ) => {
    const rows = db
      .selectFrom(table)
      .select(sql<number>`1`.as("one"))
      .where("org_id", "=", orgId)
      .$if(condition !== undefined, (query) => query.where(condition ?? sql<SqlBool>`true`))
      .limit(limit);
    const row = await db
      .selectFrom(rows.as("counted"))
      .select((eb) => eb.fn.countAll<number | string>().as("count"))
      .executeTakeFirstOrThrow();
    return Number(row.count);
  };
  return {
    users: await count("membership"),
    applications: await count(
      "application",
      sql<boolean>`home_org_id is null and source <> 'metadata-document'`,
    ),
    sessions: await count("browser_session", sql`ended_at is null and expires_at > ${now}`),
    devices: await count("device", sql`revoked_at is null`),
  };
}

export interface EndingSecret {
  readonly applicationId: string;
  readonly applicationName: string;
  readonly label: string;
  readonly expiresAt: number;
}

/** Of enabled applications, the first to expire first. */
export async function secretsThatEnd(
  db: Db,
  orgId: string,
  { from, to, limit }: { from: number; to: number; limit: number },
): Promise<EndingSecret[]> {
  return db
    .selectFrom("client_secret as s")
    .innerJoin("application as a", (join) =>
      join.onRef("a.org_id", "=", "s.org_id").onRef("a.id", "=", "s.application_id"),
    )
    .select([
      "s.application_id as applicationId",
      "a.name as applicationName",
      "s.label",
      "s.expires_at as expiresAt",
    ])
    .where("s.org_id", "=", orgId)
    .where("s.revoked_at", "is", null)
    .where("s.expires_at", ">", from)
    .where("s.expires_at", "<=", to)
    .where("a.disabled_at", "is", null)
    .orderBy("s.expires_at")
    .limit(limit)
    .$narrowType<{ expiresAt: number }>()
    .execute();
}

/** When the issuing generation of the device CA expires; undefined where there is none yet. */
export async function endOfDeviceCa(db: Db, orgId: string): Promise<number | undefined> {
  const row = await db
    .selectFrom("device_ca")
    .select("not_after")
    .where("org_id", "=", orgId)
    .where("retired_at", "is", null)
    .executeTakeFirst();
  return row?.not_after;
}

/**
 * Undelivered mails since then, at most `limit`; without decoys, and without emails whose failure would disclose another
 * organisation's user.
 */
export async function countFailedMails(
  db: Db,
  orgId: string,
  { since, limit }: { since: number; limit: number },
): Promise<number> {
  const rows = await db
    .selectFrom("outgoing_mail")
    .select("id")
    .where("org_id", "=", orgId)
    .where("failed_at", ">", since)
    .where("recipient", "<>", "")
    .where("template", "not in", undisclosedTemplates)
    .limit(limit)
    .execute();
  return rows.length;
}
