/**
 * The device of a presented client certificate, if the certificate is valid now. Checked at every request and never cached:
 * a revocation also affects open connections (device-identity.md §3).
 */

import { X509Certificate } from "node:crypto";
import { sha256Base64url } from "@signet/protocol/hash";
import type { CoreDeps } from "../core-deps.ts";
import { type CertificateStatus, certificateStatus, type Device, type DeviceCertificate } from "./device.ts";
import { findByCertificate, recordDeviceSeen } from "./devices.store.ts";

export interface PresentedDeviceDeps extends CoreDeps {
  /** Checks signatures, not issuer names. */
  readonly deviceCa: { isIssuedByCa(orgId: string, der: Buffer): Promise<boolean> };
}

export type PresentedDevice =
  | { readonly kind: "good"; readonly device: Device; readonly certificate: DeviceCertificate }
  | { readonly kind: "refused"; readonly reason: RefusedCertificate };

/** `unknown`: not in this organisation's database; `forged`: in the database, but not signed by its CA. */
export type RefusedCertificate = Exclude<CertificateStatus, "good"> | "unknown" | "forged";

/** Precision of `last_seen_at`. */
const SEEN_INTERVAL_MS = 60_000;

const refused = (reason: RefusedCertificate): PresentedDevice => ({ kind: "refused", reason });

/** @param der from `clientCertificate`: possession of its key has been proven */
export async function presentedDevice(
  deps: PresentedDeviceDeps,
  orgId: string,
  der: Buffer,
): Promise<PresentedDevice> {
  const { query } = deps.database;
  // Over the whole DER with its signature: another certificate with the same content doesn't match.
  const found = await findByCertificate(query, orgId, sha256Base64url(der));
  if (!found) return refused("unknown");
  const { device, certificate } = found;
  const now = deps.clock();
  const status = certificateStatus(certificate, device, now);
  if (status !== "good") return refused(status);
  if (!isWithinValidity(der, now) || !(await deps.deviceCa.isIssuedByCa(orgId, der)))
    return refused("forged");
  if ((device.lastSeenAt ?? 0) + SEEN_INTERVAL_MS <= now)
    await recordDeviceSeen(query, { orgId, id: device.id, now, before: now - SEEN_INTERVAL_MS });
  return { kind: "good", device, certificate };
}

/** By the certificate's own dates, whatever the database says. */
function isWithinValidity(der: Buffer, now: number): boolean {
  const { validFromDate, validToDate } = new X509Certificate(der);
  return validFromDate.getTime() <= now && now < validToDate.getTime();
}
