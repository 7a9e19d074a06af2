/** Stores hourly activity counts. */
import { sql } from "kysely";
import type { Db } from "../../db/open.ts";
import { AGENTS, DAY_MS, HOUR_MS, isPeak, OF_APPLICATIONS, peakOfPool, type StoredKind } from "./kinds.ts";

export interface ActivityRow {
  readonly orgId: string;
  readonly kind: string;
  /** The start of the hour, milliseconds. */
  readonly hour: number;
  readonly total: number;
}

const byKey = (one: ActivityRow, other: ActivityRow): number => {
  const [a, b] = [`${one.orgId} ${one.kind} ${one.hour}`, `${other.orgId} ${other.kind} ${other.hour}`];
  return a < b ? -1 : Number(a > b);
};

/** Adds counts in one statement, so that nodes sum up. Deleted organisations are skipped. @param rows with distinct keys */
export async function addActivity(db: Db, rows: readonly ActivityRow[]): Promise<void> {
  if (rows.length === 0) return;
  // In a fixed order, so that two nodes writing the same rows can't deadlock.
  const values = [...rows.toSorted(byKey), ...padding(rows.length)].map(
    ({ orgId, kind, hour, total }) => sql`(${orgId}, ${kind}, ${whole(hour)}, ${whole(total)})`,
  );
  // Both databases name the columns of a VALUES list column1 and so on.
  await sql`insert into activity (org_id, kind, hour, total)
    select o.id, v.column2, v.column3, v.column4 from (values ${sql.join(values)}) as v
    join organisation as o on o.id = v.column1 where true
    on conflict (org_id, kind, hour) do update set total = activity.total + excluded.total`.execute(db);
}

/** Padding up to the next power of two: a dozen prepared statements instead of thousands. */
function padding(count: number): ActivityRow[] {
  const size = 2 ** Math.ceil(Math.log2(count));
  return Array.from({ length: size - count }, () => ({ orgId: "", kind: "", hour: 0, total: 0 }));
}

/** PostgreSQL takes an untyped parameter in a VALUES list for text. */
const whole = (number: number) => sql`cast(${number} as bigint)`;

/**
 * Raises this hour's peaks: connected agents of organisations and of pools, and requests that wait for a pool's agents.
 * @param since agents last seen before are not connected
 */
export async function recordPeaks(db: Db, { now, since }: { now: number; since: number }): Promise<void> {
  const hour = now - (now % HOUR_MS);
  await sql`insert into activity (org_id, kind, hour, total)
    select org_id, ${AGENTS}, ${whole(hour)}, count(*) from signing_agent
    where deactivated_at is null and last_seen_at > ${since} group by org_id
    union all
    select org_id, cast(${peakOfPool("pool-agents", "")} as text) || pool_id, ${whole(hour)}, count(*) from signing_agent
    where deactivated_at is null and last_seen_at > ${since} group by org_id, pool_id
    union all
    select org_id, cast(${peakOfPool("pool-queue", "")} as text) || pool_id, ${whole(hour)}, count(*) from signing_request
    where ended_at is null and state <> 'signed' and state = 'pending' and expires_at > ${now} group by org_id, pool_id
    on conflict (org_id, kind, hour) do update set total = excluded.total where excluded.total > activity.total`.execute(
    db,
  );
}

/** Quarters of a day start at 0, 6, 12 and 18 UTC. */
const steps = { hour: HOUR_MS, quarter: 6 * HOUR_MS, day: DAY_MS } as const;

export interface ActivitySeries<Kind extends StoredKind> {
  /** The start of each hour, quarter or day (UTC), milliseconds, oldest first. */
  readonly times: readonly number[];
  /** One number per time; zero without activity. */
  readonly totals: Readonly<Record<Kind, readonly number[]>>;
}

export interface ActivityRange<Kind extends StoredKind> {
  readonly kinds: readonly Kind[];
  /** Milliseconds, rounded down to its hour, quarter or day. */
  readonly from: number;
  /** Milliseconds, exclusive. */
  readonly to: number;
  readonly by: keyof typeof steps;
}

/** Activity of an organisation up to the last flush: sums, and peaks for agents. */
export async function readActivity<Kind extends StoredKind>(
  db: Db,
  orgId: string,
  { kinds, from, to, by }: ActivityRange<Kind>,
): Promise<ActivitySeries<Kind>> {
  const step = steps[by];
  const first = from - (from % step);
  const times: number[] = [];
  for (let at = first; at < to; at += step) times.push(at);
  const totals = Object.fromEntries(kinds.map((kind) => [kind, times.map(() => 0)])) as Record<
    Kind,
    number[]
  >;
  if (kinds.length === 0) return { times, totals };
  const rows = await db
    .selectFrom("activity")
    .select(({ eb, fn }) => [
      "kind",
      sql<number>`(hour - ${whole(first)}) / ${whole(step)}`.as("place"),
      eb
        .case()
        .when("kind", "in", [AGENTS, ...kinds.filter(isPeak)])
        .then(fn.max<number>("total"))
        // PostgreSQL sums bigints to numeric.
        .else(sql<number>`cast(sum(total) as bigint)`)
        .end()
        .as("total"),
    ])
    .where("org_id", "=", orgId)
    .where("kind", "in", kinds)
    .where("hour", ">=", first)
    .where("hour", "<", to)
    // By position: with parameters it would be a different expression.
    .groupBy([sql`1`, sql`2`])
    .execute();
  for (const { kind, place, total } of rows) totals[kind as Kind][place] = total;
  return { times, totals };
}

/** Totals of an organisation's kinds over a time. @param from, to milliseconds, whole hours; `to` is exclusive */
export async function sumActivity<Kind extends StoredKind>(
  db: Db,
  orgId: string,
  { kinds, from, to }: Omit<ActivityRange<Kind>, "by">,
): Promise<Readonly<Record<Kind, number>>> {
  const rows = await db
    .selectFrom("activity")
    .select(["kind", sql<number>`cast(sum(total) as bigint)`.as("total")])
    .where("org_id", "=", orgId)
    .where("kind", "in", kinds)
    .where("hour", ">=", from)
    .where("hour", "<", to)
    .groupBy("kind")
    .execute();
  const found = new Map(rows.map(({ kind, total }) => [kind, total]));
  return Object.fromEntries(kinds.map((kind) => [kind, found.get(kind) ?? 0])) as Record<Kind, number>;
}

/** The applications with most tokens, most first. @param from, to milliseconds, whole hours; `to` is exclusive */
export async function busiestApplications(
  db: Db,
  orgId: string,
  { from, to, limit }: { readonly from: number; readonly to: number; readonly limit: number },
): Promise<ReadonlyArray<{ readonly applicationId: string; readonly tokens: number }>> {
  const rows = await db
    .selectFrom("activity")
    .select(["kind", sql<number>`cast(sum(total) as bigint)`.as("tokens")])
    .where("org_id", "=", orgId)
    .where("kind", "like", `${OF_APPLICATIONS}%`)
    .where("hour", ">=", from)
    .where("hour", "<", to)
    .groupBy("kind")
    .orderBy("tokens", "desc")
    .orderBy("kind")
    .limit(limit)
    .execute();
  return rows.map(({ kind, tokens }) => ({ applicationId: kind.slice(OF_APPLICATIONS.length), tokens }));
}
