/** Device authorizations: the decision, the polls and the single use are conditional updates. */
import { formatScope } from "@signet/protocol/oauth/scope";
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

/** @returns false when another authorization of the organisation has the same user code */
export async function insertDeviceAuthorization(
  db: Db,
  authorization: NewDeviceAuthorization,
): Promise<boolean> {
  const row = await db
    .insertInto("device_authorization")
    .values({
      org_id: authorization.orgId,
      device_code_hash: authorization.deviceCodeHash,
      user_code_hash: authorization.userCodeHash,
      application_id: authorization.applicationId,
      scope: formatScope(authorization.scopes),
      resources: JSON.stringify(authorization.resources),
      address: authorization.address,
      user_agent: authorization.userAgent,
      status: "pending",
      interval_seconds: POLL_INTERVAL_SECONDS,
      created_at: authorization.createdAt,
      expires_at: authorization.expiresAt,
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

/** Finds expired and used ones too, to recognise a replay. */
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

type Decision = { readonly orgId: string; readonly deviceCodeHash: string; readonly now: number };

/**
 * @param signing when an agent has to sign the tokens
 * @returns false when it was decided before or has expired
 */
export function approveAuthorization(
  db: Db,
  answered: Decision,
  approval: DeviceApproval,
  signing: DeviceSigning | null = null,
): Promise<boolean> {
  return decide(db, answered, {
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

export async function recordSigning(
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

/** @returns false when it was decided before or has expired */
export function denyAuthorization(db: Db, answered: Decision, userId: string): Promise<boolean> {
  return decide(db, answered, { status: "denied", user_id: userId });
}

async function decide(
  db: Db,
  { orgId, deviceCodeHash, now }: Decision,
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

/** A poll this much early still counts as in time: timers and networks are not exact. */
const TOLERANCE_MS = 500;

/**
 * Records a poll before the decision. Of two concurrent polls the row lets one be in time.
 * @returns false when the poll was early: the interval grows by 5 s
 */
export async function recordPoll(db: Db, { orgId, deviceCodeHash, now }: Decision): Promise<boolean> {
  const update = db
    .updateTable("device_authorization")
    .where("org_id", "=", orgId)
    .where("device_code_hash", "=", deviceCodeHash);
  const inTime = await update
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
  await update
    .set((eb) => ({
      polled_at: now,
      interval_seconds: eb("interval_seconds", "+", POLL_INTERVAL_SECONDS),
    }))
    .execute();
  return false;
}

/** The single use. @returns false when it was used or has expired */
export async function markDeviceCodeUsed(
  db: Db,
  use: Decision & { readonly familyId: string },
): Promise<boolean> {
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

/** Expires the application's unredeemed device authorizations. */
export async function expireDeviceAuthorizations(
  db: Db,
  { orgId, applicationId, now }: { orgId: string; applicationId: string; now: number },
): Promise<void> {
  await db
    .updateTable("device_authorization")
    .set({ expires_at: now })
    .where("org_id", "=", orgId)
    .where("application_id", "=", applicationId)
    .where("family_id", "is", null)
    .where("expires_at", ">", now)
    .execute();
}

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
    approval: readApproval(row),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    familyId: row.family_id,
    signing: row.signing === null ? null : (JSON.parse(row.signing) as DeviceSigning),
  };
}

function readApproval(row: DeviceAuthorizationTable): DeviceApproval | null {
  const { user_id: userId, session_id: sessionId, auth_time: authTime, amr, acr } = row;
  if (userId === null || sessionId === null || authTime === null || amr === null || acr === null) return null;
  const authentication = { authTime, amr: JSON.parse(amr) as string[], acr };
  return { userId, sessionId, consentId: row.consent_id, authentication };
}
