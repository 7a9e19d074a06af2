import { formatScope } from "@signet/protocol/oauth/scope";
import { deleteExpired } from "../../db/delete-expired.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import type { DeviceAuthorizationTable } from "../../db/tables/tokens.ts";
import {
  type DeviceApproval,
  type DeviceAuthorization,
  type DeviceSigning,
  POLL_INTERVAL_SECONDS,
} from "./device-authorization.ts";

export type NewDeviceAuthorization = Pick<
  DeviceAuthorization,
  | "orgId"
  | "deviceCodeHash"
  | "applicationId"
  | "scopes"
  | "resources"
  | "address"
  | "userAgent"
  | "createdAt"
  | "expiresAt"
> & { readonly userCodeHash: string };

/** @returns false when another device of the organisation has the same user code */
export async function insertDeviceAuthorization(db: Db, made: NewDeviceAuthorization): Promise<boolean> {
  const row = await db
    .insertInto("device_authorization")
    .values({
      org_id: made.orgId,
      device_code_hash: made.deviceCodeHash,
      user_code_hash: made.userCodeHash,
      application_id: made.applicationId,
      scope: formatScope(made.scopes),
      resources: JSON.stringify(made.resources),
      address: made.address,
      user_agent: made.userAgent,
      status: "pending",
      interval_seconds: POLL_INTERVAL_SECONDS,
      created_at: made.createdAt,
      expires_at: made.expiresAt,
    })
    .onConflict((conflict) => conflict.columns(["org_id", "user_code_hash"]).doNothing())
    .returning("device_code_hash")
    .executeTakeFirst();
  return row !== undefined;
}

const selectByDeviceCode = prepared((db, value: Parameter<{ orgId: string; hash: string }>) =>
  db
    .selectFrom("device_authorization")
    .selectAll()
    .where("org_id", "=", value("orgId"))
    .where("device_code_hash", "=", value("hash")),
);

/** Expired and used ones too: a second use must be recognised. */
export async function findByDeviceCode(
  db: Db,
  orgId: string,
  hash: string,
): Promise<DeviceAuthorization | undefined> {
  const [row] = await selectByDeviceCode(db, { orgId, hash });
  return row && fromRow(row);
}

export async function findByUserCode(
  db: Db,
  key: { orgId: string; hash: string; now: number },
): Promise<DeviceAuthorization | undefined> {
  const row = await db
    .selectFrom("device_authorization")
    .selectAll()
    .where("org_id", "=", key.orgId)
    .where("user_code_hash", "=", key.hash)
    .where("expires_at", ">", key.now)
    .executeTakeFirst();
  return row && fromRow(row);
}

type Answered = { readonly orgId: string; readonly deviceCodeHash: string; readonly now: number };

/**
 * A person's yes, once.
 * @param signing when an agent has to sign the tokens
 * @returns false when it was answered, or expired, before
 */
export function approveDevice(
  db: Db,
  answered: Answered,
  approval: DeviceApproval,
  signing: DeviceSigning | null = null,
): Promise<boolean> {
  return answer(db, answered, {
    status: "approved",
    user_id: approval.userId,
    session_id: approval.sessionId,
    consent_id: approval.consentId,
    auth_time: approval.authentication.authTime,
    amr: JSON.stringify(approval.authentication.amr),
    acr: approval.authentication.acr,
    signing: signing && JSON.stringify(signing),
  });
}

/** What an approved device's tokens are signed by. */
export async function recordDeviceSigning(
  db: Db,
  { orgId, deviceCodeHash, signing }: Pick<DeviceAuthorization, "orgId" | "deviceCodeHash" | "signing">,
): Promise<void> {
  await db
    .updateTable("device_authorization")
    .set({ signing: signing && JSON.stringify(signing) })
    .where("org_id", "=", orgId)
    .where("device_code_hash", "=", deviceCodeHash)
    .execute();
}

/** A person's no, once. @returns false when it was answered, or expired, before */
export function denyDevice(db: Db, answered: Answered, userId: string): Promise<boolean> {
  return answer(db, answered, { status: "denied", user_id: userId });
}

async function answer(
  db: Db,
  { orgId, deviceCodeHash, now }: Answered,
  change: Partial<DeviceAuthorizationTable>,
): Promise<boolean> {
  const row = await db
    .updateTable("device_authorization")
    .set(change)
    .where("org_id", "=", orgId)
    .where("device_code_hash", "=", deviceCodeHash)
    .where("status", "=", "pending")
    .where("expires_at", ">", now)
    .returning("device_code_hash")
    .executeTakeFirst();
  return row !== undefined;
}

/** Timers and networks are not exact: a poll that comes this much early is still in time. */
const TOLERANCE_MS = 500;

/**
 * Notes a poll of a device that still waits. Two polls at once are told apart by the row: one is in time, the other is not.
 * @returns false when it came too soon; the device has to wait 5 s more from then on
 */
export async function recordPoll(db: Db, { orgId, deviceCodeHash, now }: Answered): Promise<boolean> {
  const of = db
    .updateTable("device_authorization")
    .where("org_id", "=", orgId)
    .where("device_code_hash", "=", deviceCodeHash);
  const inTime = await of
    .set({ polled_at: now })
    .where((eb) =>
      eb.or([
        eb("polled_at", "is", null),
        eb(eb("polled_at", "+", eb("interval_seconds", "*", 1000)), "<=", now + TOLERANCE_MS),
      ]),
    )
    .returning("device_code_hash")
    .executeTakeFirst();
  if (inTime) return true;
  await of
    .set((eb) => ({
      polled_at: now,
      interval_seconds: eb("interval_seconds", "+", POLL_INTERVAL_SECONDS),
    }))
    .execute();
  return false;
}

/** The single use. @returns false when it was used, or expired, before */
export async function useDeviceCode(db: Db, use: Answered & { readonly familyId: string }): Promise<boolean> {
  const row = await db
    .updateTable("device_authorization")
    .set({ family_id: use.familyId })
    .where("org_id", "=", use.orgId)
    .where("device_code_hash", "=", use.deviceCodeHash)
    .where("status", "=", "approved")
    .where("family_id", "is", null)
    .where("expires_at", ">", use.now)
    .returning("device_code_hash")
    .executeTakeFirst();
  return row !== undefined;
}

/** What waits of the application, for an answer or for its use, ends now. */
export async function expireDeviceAuthorizations(
  db: Db,
  which: { orgId: string; applicationId: string; now: number },
): Promise<void> {
  await db
    .updateTable("device_authorization")
    .set({ expires_at: which.now })
    .where("org_id", "=", which.orgId)
    .where("application_id", "=", which.applicationId)
    .where("family_id", "is", null)
    .where("expires_at", ">", which.now)
    .execute();
}

/** @returns how many were deleted, at most `limit` */
export const deleteDeadDeviceAuthorizations = (db: Db, before: number, limit: number): Promise<number> =>
  deleteExpired(
    db,
    { table: "device_authorization", key: ["org_id", "device_code_hash"], column: "expires_at" },
    before,
    limit,
  );

function fromRow(row: DeviceAuthorizationTable): DeviceAuthorization {
  return {
    orgId: row.org_id,
    deviceCodeHash: row.device_code_hash,
    applicationId: row.application_id,
    scopes: row.scope.split(" "),
    resources: JSON.parse(row.resources) as string[],
    address: row.address,
    userAgent: row.user_agent,
    status: row.status as DeviceAuthorization["status"],
    approval: approvalOf(row),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    familyId: row.family_id,
    signing: row.signing === null ? null : (JSON.parse(row.signing) as DeviceSigning),
  };
}

function approvalOf(row: DeviceAuthorizationTable): DeviceApproval | null {
  const { user_id: userId, session_id: sessionId, auth_time: authTime, amr, acr } = row;
  if (userId === null || sessionId === null || authTime === null || amr === null || acr === null) return null;
  const authentication = { authTime, amr: JSON.parse(amr) as string[], acr };
  return { userId, sessionId, consentId: row.consent_id, authentication };
}
