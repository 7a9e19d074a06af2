/** Device authorizations: the decision, the polls and the single use are conditional updates. */

import { formatScope } from "@signet/protocol/oauth/scope";
import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { DeviceAuthorizationTable } from "../../db/tables/tokens.ts";
import { authenticationColumns, readRequest, requestColumns } from "../tokens/grant-columns.ts";
import {
  type DeviceApproval,
  type DeviceAuthorization,
  type DeviceSigning,
  POLL_INTERVAL_SECONDS,
} from "./device-authorization.ts";

export type NewDeviceAuthorization = Omit<
  DeviceAuthorization,
  "status" | "approval" | "familyId" | "signing"
> & { readonly userCodeHash: string };

/** @returns false when another authorization of the organisation has the same user code */
export function insertDeviceAuthorization(db: Db, authorization: NewDeviceAuthorization): Promise<boolean> {
  const { orgId, deviceCodeHash, userCodeHash, applicationId, address, userAgent, ...rest } = authorization;
  return hasRow(
    db
      .insertInto("device_authorization")
      .values({
        ...toRow({ orgId, deviceCodeHash, userCodeHash, applicationId, address, userAgent }),
        ...requestColumns(rest),
        status: "pending",
        interval_seconds: POLL_INTERVAL_SECONDS,
        created_at: rest.createdAt,
        expires_at: rest.expiresAt,
      })
      .onConflict((conflict) => conflict.columns(["org_id", "user_code_hash"]).doNothing())
      .returning("device_code_hash"),
  );
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
    .where((eb) => allOf(eb, { org_id: key.orgId, user_code_hash: key.hash }))
    .where("expires_at", ">", key.now)
    .executeTakeFirst();
  return row && fromRow(row);
}

/**
 * The organisations of a code that was typed where none is named: usually one, at most two. Nothing else of the
 * authorization is read.
 */
export async function findOrganisationsByUserCode(
  db: Db,
  { hash, now }: { hash: string; now: number },
): Promise<string[]> {
  const rows = await db
    .selectFrom("device_authorization")
    .select("org_id")
    .where("user_code_hash", "=", hash)
    .where("expires_at", ">", now)
    .limit(2)
    .execute();
  return rows.map(({ org_id }) => org_id);
}

type Decision = { readonly orgId: string; readonly deviceCodeHash: string; readonly now: number };

/**
 * @param scopes those that the user saw and could grant: whoever becomes an administrator later has granted no more
 * @param signing when an agent has to sign the tokens
 * @returns false when it was decided before or has expired
 */
export const approveAuthorization = (
  db: Db,
  answered: Decision,
  scopes: readonly string[],
  { authentication, userId, sessionId, consentId }: DeviceApproval,
  signing: DeviceSigning | null = null,
): Promise<boolean> =>
  decide(db, answered, {
    status: "approved",
    scope: formatScope(scopes),
    ...toRow({ userId, sessionId, consentId }),
    ...authenticationColumns(authentication),
    signing: signing && JSON.stringify(signing),
  });

export async function recordSigning(
  db: Db,
  { orgId, deviceCodeHash, signing }: Pick<DeviceAuthorization, "orgId" | "deviceCodeHash" | "signing">,
): Promise<void> {
  await db
    .updateTable("device_authorization")
    .set({ signing: signing && JSON.stringify(signing) })
    .where((eb) => allOf(eb, { org_id: orgId, device_code_hash: deviceCodeHash }))
    .execute();
}

/** @returns false when it was decided before or has expired */
export const denyAuthorization = (db: Db, answered: Decision, userId: string): Promise<boolean> =>
  decide(db, answered, { status: "denied", user_id: userId });

const decide = (
  db: Db,
  { orgId, deviceCodeHash, now }: Decision,
  change: Partial<DeviceAuthorizationTable>,
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("device_authorization")
      .set(change)
      .where((eb) => allOf(eb, { org_id: orgId, device_code_hash: deviceCodeHash, status: "pending" }))
      .where("expires_at", ">", now),
  );

/** A poll this much early still counts as in time: timers and networks are not exact. */
export const POLL_TOLERANCE_MS = 500;

/**
 * Records a poll before the decision. Of two concurrent polls the row lets one be in time.
 * @returns false when the poll was early: the interval grows by 5 s
 */
export const recordPoll = (db: Db, { orgId, deviceCodeHash, now }: Decision): Promise<boolean> =>
  recordTimedPoll(db, "device_authorization", { org_id: orgId, device_code_hash: deviceCodeHash }, now);

/** The same rule for whoever polls: RFC 8628 §3.5, CIBA Core §11. @param key the row's primary key */
export async function recordTimedPoll(
  db: Db,
  table: "device_authorization" | "ciba_request",
  key: Readonly<Record<string, string>>,
  now: number,
): Promise<boolean> {
  // Both tables have these columns; the type of one stands for either.
  const update = db.updateTable(table as "device_authorization").where((eb) => allOf(eb, key));
  const isInTime = await affectsAny(
    update
      .set({ polled_at: now })
      .where((eb) =>
        eb.or([
          eb("polled_at", "is", null),
          eb(eb("polled_at", "+", eb("interval_seconds", "*", 1000)), "<=", now + POLL_TOLERANCE_MS),
        ]),
      ),
  );
  if (isInTime) return true;
  await update
    .set((eb) => ({
      polled_at: now,
      interval_seconds: eb("interval_seconds", "+", POLL_INTERVAL_SECONDS),
    }))
    .execute();
  return false;
}

/** The single use. @returns false when it was used or has expired */
export const markDeviceCodeUsed = (
  db: Db,
  { orgId, deviceCodeHash, familyId, now }: Decision & { readonly familyId: string },
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("device_authorization")
      .set({ family_id: familyId })
      .where((eb) => allOf(eb, { org_id: orgId, device_code_hash: deviceCodeHash, status: "approved" }))
      .where("family_id", "is", null)
      .where("expires_at", ">", now),
  );

/** Expires the application's unredeemed device authorizations. */
export async function expireDeviceAuthorizations(
  db: Db,
  { orgId, applicationId, now }: { orgId: string; applicationId: string; now: number },
): Promise<void> {
  await db
    .updateTable("device_authorization")
    .set({ expires_at: now })
    .where((eb) => allOf(eb, { org_id: orgId, application_id: applicationId }))
    .where("family_id", "is", null)
    .where("expires_at", ">", now)
    .execute();
}

function fromRow(row: DeviceAuthorizationTable): DeviceAuthorization {
  const { org_id, device_code_hash, application_id, address, user_agent, signing } = row;
  const { created_at, expires_at, family_id } = row;
  return {
    ...toRecord({ org_id, device_code_hash, application_id, address, user_agent }),
    ...toRecord({ created_at, expires_at, family_id }),
    ...readRequest(row),
    status: row.status as DeviceAuthorization["status"],
    approval: readApproval(row),
    signing: signing === null ? null : (JSON.parse(signing) as DeviceSigning),
  };
}

function readApproval(row: DeviceAuthorizationTable): DeviceApproval | null {
  const { user_id: userId, session_id: sessionId, auth_time: authTime, amr, acr } = row;
  if (userId === null || sessionId === null || authTime === null || amr === null || acr === null) return null;
  const authentication = { authTime, amr: JSON.parse(amr) as string[], acr };
  return { userId, sessionId, consentId: row.consent_id, authentication };
}
