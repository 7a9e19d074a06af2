/** Counts and warnings of the overview. An index answers each, and none reads more rows than it counts. */
import { sql } from "kysely";
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
  const one = sql<number>`1`.as("one");
  const users = db.selectFrom("membership").select(one).where("org_id", "=", orgId).limit(limit);
  const applications = db.selectFrom("application").select(one).where("org_id", "=", orgId).limit(limit);
  const sessions = db
    .selectFrom("browser_session")
    .select(one)
    .where("org_id", "=", orgId)
    .where("ended_at", "is", null)
    .where("expires_at", ">", now)
    .limit(limit);
  const devices = db
    .selectFrom("device")
    .select(one)
    .where("org_id", "=", orgId)
    .where("revoked_at", "is", null)
    .limit(limit);
  const counted = async (rows: typeof users | typeof applications | typeof sessions | typeof devices) => {
    const row = await db
      .selectFrom(rows.as("counted"))
      .select((eb) => eb.fn.countAll<number | string>().as("count"))
      .executeTakeFirstOrThrow();
    return Number(row.count);
  };
  return {
    users: await counted(users),
    applications: await counted(applications),
    sessions: await counted(sessions),
    devices: await counted(devices),
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

/** Undelivered mails since then, at most `limit`. */
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
    .limit(limit)
    .execute();
  return rows.length;
}
