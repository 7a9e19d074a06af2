/** How many devices were in which state at the end of each hour or day of a chart, and are now: one grouped query. */
import { type RawBuilder, sql } from "kysely";
import type { Db } from "../../db/open.ts";

/** Of this many, the newest, the states are counted. */
export const MAX_DEVICES = 10_000;

export const deviceStates = ["active", "expired", "revoked"] as const;
export type DeviceState = (typeof deviceStates)[number];

export interface DevicesByState {
  readonly now: Readonly<Record<DeviceState, number>>;
  /** One number for each point; zero for those that are still to come. */
  readonly overTime: Readonly<Record<DeviceState, readonly number[]>>;
}

/** Later than every point. */
const NEVER = 1_000_000;

/**
 * As the list of devices tells them: a device is expired when its last certificate is. Of a device whose certificate was
 * renewed, only the end of the newest is known: before, it counts as active.
 *
 * @param range.from milliseconds, the beginning of the first of `points` points, each of `step` milliseconds
 */
export async function countDevicesByState(
  db: Db,
  orgId: string,
  { from, step, points, now }: { from: number; step: number; points: number; now: number },
): Promise<DevicesByState> {
  const newest = db
    .selectFrom("device")
    .select(["org_id", "id", "enrolled_at", "revoked_at"])
    .where("org_id", "=", orgId)
    .orderBy("id", "desc")
    .limit(MAX_DEVICES);
  // The point at whose end it has happened: whole numbers of few values, so that the groups are few.
  const [start, length] = [sql`cast(${from} as bigint)`, sql`cast(${step} as bigint)`];
  const pointOf = (at: RawBuilder<unknown>) =>
    sql<number>`case when ${at} is null or ${at} > ${now} then ${NEVER} when ${at} < ${start} then 0 else (${at} - ${start}) / ${length} end`;
  const rows = await db
    .selectFrom(newest.as("device"))
    .leftJoin("device_certificate as held", (join) =>
      join
        .onRef("held.org_id", "=", "device.org_id")
        .onRef("held.device_id", "=", "device.id")
        .on("held.superseded_at", "is", null),
    )
    .select([
      pointOf(sql`device.enrolled_at`).as("enrolled"),
      pointOf(sql`device.revoked_at`).as("revoked"),
      // Without a certificate it is expired from the beginning.
      pointOf(sql`coalesce(held.not_after, 0)`).as("expired"),
    ])
    .select((eb) => eb.fn.countAll<number | string>().as("count"))
    .groupBy(["enrolled", "revoked", "expired"])
    .execute();
  const groups = rows.map((row) => ({
    enrolled: Number(row.enrolled),
    revoked: Number(row.revoked),
    expired: Number(row.expired),
    count: Number(row.count),
  }));
  const stateAt = (group: (typeof groups)[number], point: number): DeviceState | undefined => {
    if (group.enrolled > point) return undefined;
    if (group.revoked <= point) return "revoked";
    return group.expired <= point ? "expired" : "active";
  };
  const countAt = (state: DeviceState, point: number): number =>
    groups.reduce((sum, group) => sum + (stateAt(group, point) === state ? group.count : 0), 0);
  const present = Math.floor((now - from) / step);
  const ends = Array.from({ length: points }, (_, point) => point);
  const overTime = (state: DeviceState) => ends.map((point) => (point > present ? 0 : countAt(state, point)));
  return {
    now: byState((state) => countAt(state, NEVER - 1)),
    overTime: byState(overTime),
  };
}

const byState = <T>(of: (state: DeviceState) => T): Record<DeviceState, T> => ({
  active: of("active"),
  expired: of("expired"),
  revoked: of("revoked"),
});
