/** Revokes a device with its certificates and refresh tokens in one transaction (device-identity.md §3). */
import type { Database, Db } from "../../db/open.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { Clock } from "../clock.ts";
import { invalidateRevocationLists } from "../device-ca/revocation/revocation.store.ts";
import { revokeTokenFamilies } from "../tokens/tokens.store.ts";
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
 * Effective immediately: no device status is cached.
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
  await revokeTokenFamilies(tx, { orgId, deviceId, now, reason: "device_revoked" });
  await recordAuditEvent(tx, {
    orgId,
    at: now,
    actor,
    action: "device.revoked",
    target: deviceId,
    ...(address === undefined ? {} : { address }),
    details: { reason },
  });
  return true;
}
