/** Lists devices with their latest certificates, for administrators. */
import { sql } from "kysely";
import type { Device } from "../../../core/devices/device.ts";
import { toDevice } from "../../../core/devices/devices.store.ts";
import type { Db } from "../../../db/open.ts";
import { isNamed } from "../../../db/search-text.ts";

export const deviceStates = ["active", "expired", "revoked"] as const;
/** `expired`: not revoked, but the last certificate has expired. */
export type DeviceState = (typeof deviceStates)[number];

export interface ListedDevice extends Device {
  readonly state: DeviceState;
  /** The latest; null when there is none. Milliseconds. */
  readonly certificate: { readonly serial: string; readonly notAfter: number } | null;
}

export interface DeviceSearch {
  /** The last id of the previous page. */
  readonly after?: string | undefined;
  readonly limit: number;
  /** Part of a name or an id; on SQLite case-insensitive for ASCII only. */
  readonly text?: string | undefined;
  readonly state?: DeviceState | undefined;
}

/** Newest first. @param now milliseconds */
export async function listDevices(
  db: Db,
  orgId: string,
  { after, limit, text, state }: DeviceSearch,
  now: number,
): Promise<ListedDevice[]> {
  const rows = await db
    .selectFrom("device")
    .leftJoin("device_certificate as held", (join) =>
      join
        .onRef("held.org_id", "=", "device.org_id")
        .onRef("held.device_id", "=", "device.id")
        .on("held.superseded_at", "is", null),
    )
    .selectAll("device")
    .select(["held.serial", "held.not_after"])
    .where("device.org_id", "=", orgId)
    .$if(after !== undefined, (query) => query.where("device.id", "<", after ?? ""))
    .$if(text !== undefined, (query) => query.where(isNamed("device", text ?? "")))
    .$if(state !== undefined, (query) => query.where(hasState(state ?? "active", now)))
    .orderBy("device.id", "desc")
    .limit(limit)
    .execute();
  return rows.map(({ serial, not_after: notAfter, ...row }) => {
    const certificate = serial === null || notAfter === null ? null : { serial, notAfter };
    return { ...toDevice(row), certificate, state: stateOf(row.revoked_at, notAfter, now) };
  });
}

function stateOf(revokedAt: number | null, notAfter: number | null, now: number): DeviceState {
  if (revokedAt !== null) return "revoked";
  return notAfter !== null && notAfter > now ? "active" : "expired";
}

function hasState(state: DeviceState, now: number) {
  if (state === "revoked") return sql<boolean>`device.revoked_at is not null`;
  const isGood = sql`coalesce(held.not_after, 0) > ${now}`;
  return state === "active"
    ? sql<boolean>`device.revoked_at is null and ${isGood}`
    : sql<boolean>`device.revoked_at is null and not ${isGood}`;
}
