import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import { AGENTS, HOUR_MS } from "./kinds.ts";

export interface ActivityRow {
  readonly orgId: string;
  readonly kind: string;
  /** Its beginning, milliseconds. */
  readonly hour: number;
  readonly total: number;
}

const byKey = (one: ActivityRow, other: ActivityRow): number => {
  const [a, b] = [`${one.orgId} ${one.kind} ${one.hour}`, `${other.orgId} ${other.kind} ${other.hour}`];
  return a < b ? -1 : Number(a > b);
};

/**
 * Adds what was counted, in one statement: two nodes add up. Organisations that are gone by now are left out.
 * @param rows of different keys
 */
export async function addActivity(db: Db, rows: readonly ActivityRow[]): Promise<void> {
  if (rows.length === 0) return;
  // In one order: else two nodes that write the same rows could wait for each other.
  const values = [...rows.toSorted(byKey), ...filling(rows.length)].map(
    ({ orgId, kind, hour, total }) => sql`(${orgId}, ${kind}, ${whole(hour)}, ${whole(total)})`,
  );
  // Both databases call the columns of a list of values column1 and so on.
  await sql`insert into activity (org_id, kind, hour, total)
    select o.id, v.column2, v.column3, v.column4 from (values ${sql.join(values)}) as v
    join organisation as o on o.id = v.column1 where true
    on conflict (org_id, kind, hour) do update set total = activity.total + excluded.total`.execute(db);
}

/** Nobody's rows, up to the next power of two: a dozen statements are kept prepared instead of thousands. */
function filling(count: number): ActivityRow[] {
  const size = 2 ** Math.ceil(Math.log2(count));
  return Array.from({ length: size - count }, () => ({ orgId: "", kind: "", hour: 0, total: 0 }));
}

/** The type must be said: PostgreSQL takes a parameter in a list of values for text. */
const whole = (number: number) => sql`cast(${number} as bigint)`;

/** Notes for this hour how many agents are there now, where that is the most so far. @param since when they were seen at the latest */
export async function noteLiveAgents(db: Db, { now, since }: { now: number; since: number }): Promise<void> {
  const hour = now - (now % HOUR_MS);
  await sql`insert into activity (org_id, kind, hour, total)
    select org_id, ${AGENTS}, ${whole(hour)}, count(*) from signing_agent
    where deactivated_at is null and last_seen_at > ${since} group by org_id
    on conflict (org_id, kind, hour) do update set total = excluded.total where excluded.total > activity.total`.execute(
    db,
  );
}

/** @returns how many were removed, at most `limit` */
export async function deleteOldActivity(db: Db, before: number, limit: number): Promise<number> {
  const rows = await db
    .deleteFrom("activity")
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple("org_id", "kind", "hour"),
        "in",
        selectFrom("activity")
          .select(["org_id", "kind", "hour"])
          .where("hour", "<", before)
          .limit(limit)
          .$asTuple("org_id", "kind", "hour"),
      ),
    )
    .returning("hour")
    .execute();
  return rows.length;
}

/**
 * What was counted from one time to another, by steps of so many milliseconds: a sum, or for the agents the most.
 * @param asked.from the beginning of a step
 */
export async function sumActivity(
  db: Db,
  asked: { orgId: string; kinds: readonly string[]; from: number; to: number; step: number },
): Promise<Array<{ kind: string; at: number; total: number }>> {
  const { orgId, kinds, from, to, step } = asked;
  if (kinds.length === 0) return [];
  const at = sql<number>`${whole(from)} + (hour - ${whole(from)}) / ${whole(step)} * ${whole(step)}`;
  return (
    db
      .selectFrom("activity")
      .select(({ eb, fn }) => [
        "kind",
        at.as("at"),
        eb
          .case()
          .when("kind", "=", AGENTS)
          .then(fn.max<number>("total"))
          // PostgreSQL adds bigints up as numeric.
          .else(sql<number>`cast(sum(total) as bigint)`)
          .end()
          .as("total"),
      ])
      .where("org_id", "=", orgId)
      .where("kind", "in", kinds)
      .where("hour", ">=", from)
      .where("hour", "<", to)
      // By its place: its parameters would make another expression of it.
      .groupBy([sql`1`, sql`2`])
      .orderBy("kind")
      .orderBy(sql`2`)
      .execute()
  );
}
