/** Lists devices with their latest certificates, for administrators. */
import { sql } from "kysely";
import type { Device } from "../../../core/devices/device.ts";
import { toDevice } from "../../../core/devices/devices.store.ts";
import { countRows, inListOrder, type KeysetPage, readPage } from "../../../db/keyset.ts";
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

export interface DeviceFilter {
  /** Part of a name or an id; on SQLite case-insensitive for ASCII only. */
  readonly text?: string | undefined;
  readonly state?: DeviceState | undefined;
}

export interface DeviceSearch extends DeviceFilter {
  /** The last id of the previous page. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Newest first. @param now milliseconds */
export const listDevices = (
  db: Db,
  orgId: string,
  { after, ...search }: DeviceSearch,
  now: number,
): Promise<ListedDevice[]> => {
  const cursor = after === undefined ? undefined : { value: after, id: after };
  return searchDevices(
    db,
    orgId,
    { ...search, page: { sort: "enrolled", isDescending: true, after: cursor } },
    now,
  );
};

/** What an index holds in order; ids rise with the time of enrolment. */
export type DeviceSort = "enrolled" | "name";

// As in the indexes.
const orderColumns = { enrolled: sql.ref("device.id"), name: sql`lower(device.name)` } as const;

export async function searchDevices(
  db: Db,
  orgId: string,
  { page, limit, ...filter }: DeviceFilter & { page: KeysetPage & { sort: DeviceSort }; limit: number },
  now: number,
): Promise<Array<ListedDevice & { readonly nameOrder: string }>> {
  const value = orderColumns[page.sort];
  const { within, direction } = readPage(page, { value, id: orderColumns.enrolled });
  const rows = await matching(db, orgId, filter, now)
    .selectAll("device")
    .select(["held.serial", "held.not_after"])
    .select(orderColumns.name.$castTo<string>().as("name_order"))
    .where(within)
    .orderBy(value, direction)
    .orderBy("device.id", direction)
    .limit(limit)
    .execute();
  return inListOrder(page, rows).map(({ serial, not_after: notAfter, name_order: nameOrder, ...row }) => {
    const certificate = serial === null || notAfter === null ? null : { serial, notAfter };
    return { ...toDevice(row), certificate, state: stateOf(row.revoked_at, notAfter, now), nameOrder };
  });
}

/** @param max counts no further */
export const countDevices = (
  db: Db,
  orgId: string,
  { max, ...filter }: DeviceFilter & { max: number },
  now: number,
): Promise<number> => countRows(db, matching(db, orgId, filter, now).select("device.id").limit(max));

const matching = (db: Db, orgId: string, { text, state }: DeviceFilter, now: number) =>
  db
    .selectFrom("device")
    .leftJoin("device_certificate as held", (join) =>
      join
        .onRef("held.org_id", "=", "device.org_id")
        .onRef("held.device_id", "=", "device.id")
        .on("held.superseded_at", "is", null),
    )
    .where("device.org_id", "=", orgId)
    .$if(text !== undefined, (query) => query.where(isNamed("device", text ?? "")))
    .$if(state !== undefined, (query) => query.where(hasState(state ?? "active", now)));

/** Of a device; `notAfter` of its last certificate, null without one. */
export function stateOf(revokedAt: number | null, notAfter: number | null, now: number): DeviceState {
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
