/**
 * Revokes a device in one transaction: its certificates, and everything on the machine that rests on a sign-in
 * (device-identity.md §3, threshold-and-ledger.md §3).
 */
import type { Database, Db } from "../../db/open.ts";
import { recordAuditEvent, recordAuditEvents } from "../audit/audit.store.ts";
import type { Clock } from "../clock.ts";
import { invalidateRevocationLists } from "../device-ca/revocation/revocation.store.ts";
import { endDeviceSessions } from "../sessions/end-sessions.ts";
import type { RevocationReason } from "./device.ts";
import { markCertificatesRevoked, markDeviceRevoked } from "./devices.store.ts";

export interface DeviceRevocation {
  readonly orgId: string;
  readonly deviceId: string;
  readonly reason: RevocationReason;
  /** For the audit log. */
  readonly actor: string;
  readonly address?: string;
}

/**
 * Effective immediately on every node: neither the status of a device nor that of a session is cached.
 * @returns false when the device is unknown, or was revoked before
 */
export const revokeDevice = (
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  revocation: DeviceRevocation,
): Promise<boolean> => database.transaction((tx) => revokeDeviceInTransaction(tx, revocation, clock()));

export async function revokeDeviceInTransaction(
  tx: Db,
  { orgId, deviceId, reason, actor, address }: DeviceRevocation,
  now: number,
): Promise<boolean> {
  // The device first: a renewal locks it until its certificate is stored, so that this one is revoked below.
  if (!(await markDeviceRevoked(tx, { orgId, id: deviceId, reason, now }))) return false;
  await markCertificatesRevoked(tx, { orgId, deviceId, now });
  await invalidateRevocationLists(tx, orgId);
  const ended = await endDeviceSessions(tx, { orgId, deviceId, now });
  const act = { orgId, at: now, actor, ...(address === undefined ? {} : { address }) };
  const sessions = ended.length === 0 ? {} : { sessions: ended.length };
  await recordAuditEvent(tx, {
    ...{ ...act, action: "device.revoked", target: deviceId },
    details: { reason, ...sessions },
  });
  // Each on its own: what hears of a user's sessions hears of these too (CAEP).
  await recordAuditEvents(
    tx,
    ended.map(({ id: sessionId, userId }) => ({
      ...{ ...act, action: "user.session-ended", target: userId },
      details: { sessionId, deviceId },
    })),
  );
  return true;
}
