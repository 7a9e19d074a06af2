/** The one way a device ends (device-identity.md §3): itself, its certificates and its refresh tokens, in one transaction. */
import type { Database, Db } from "../../db/open.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { Clock } from "../clock.ts";
import { noteRevocation } from "../device-ca/revocation/revocation.store.ts";
import { revokeTokenFamilies } from "../tokens/tokens.store.ts";
import type { RevocationReason } from "./device.ts";
import { markCertificatesRevoked, markDeviceRevoked } from "./devices.store.ts";

export interface DeviceRevocation {
  readonly orgId: string;
  readonly deviceId: string;
  readonly reason: RevocationReason;
  /** As the audit log has it. */
  readonly actor: string;
  readonly address?: string;
}

/**
 * At once: nobody keeps a device's standing for longer than a request.
 * @returns false when the organisation has no such device, or it was revoked before
 */
export const revokeDevice = (
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  revocation: DeviceRevocation,
): Promise<boolean> => database.transaction((tx) => revokeDeviceWithin(tx, revocation, clock()));

/** The same, in a transaction that does more. @param now milliseconds */
export async function revokeDeviceWithin(
  tx: Db,
  { orgId, deviceId, reason, actor, address }: DeviceRevocation,
  now: number,
): Promise<boolean> {
  // Its row first: a renewal holds it until its certificate is written, so that this one is found below.
  if (!(await markDeviceRevoked(tx, { orgId, id: deviceId, reason, now }))) return false;
  await markCertificatesRevoked(tx, { orgId, deviceId, now });
  await noteRevocation(tx, orgId);
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
