/**
 * Whose certificate a client has shown, and what it is worth now: asked anew at every request and kept nowhere, so that a
 * connection that was opened before a revocation is worth nothing after it (device-identity.md §3).
 */
import { X509Certificate } from "node:crypto";
import { sha256Base64url } from "@signet/protocol/hash";
import type { Database } from "../../db/open.ts";
import type { Clock } from "../clock.ts";
import { type CertificateStanding, type Device, type DeviceCertificate, standingOf } from "./device.ts";
import { findByCertificate, noteDeviceSeen } from "./devices.store.ts";

export interface PresentedDeviceDeps {
  readonly database: Database;
  readonly clock: Clock;
  /** The organisation's own CA: `isIssuedHere` asks its keys, not its name. */
  readonly deviceCa: { isIssuedHere(orgId: string, der: Buffer): Promise<boolean> };
}

export type PresentedDevice =
  | { readonly kind: "good"; readonly device: Device; readonly certificate: DeviceCertificate }
  | { readonly kind: "refused"; readonly reason: RefusedCertificate };

/** `unknown`: not on this organisation's record; `forged`: on its record, but its CA never signed it. */
export type RefusedCertificate = Exclude<CertificateStanding, "good"> | "unknown" | "forged";

/** How exactly it is known when a device came last. */
const SEEN_EVERY_MS = 60_000;

const refused = (reason: RefusedCertificate): PresentedDevice => ({ kind: "refused", reason });

/** @param der of `clientCertificateOf`: the caller has seen a proof of its key, or has had it from who has */
export async function presentedDevice(
  deps: PresentedDeviceDeps,
  orgId: string,
  der: Buffer,
): Promise<PresentedDevice> {
  const { query } = deps.database;
  // The whole certificate, its signature included: what merely says the same is another one.
  const found = await findByCertificate(query, orgId, sha256Base64url(der));
  if (!found) return refused("unknown");
  const { device, certificate } = found;
  const now = deps.clock();
  const standing = standingOf(certificate, device, now);
  if (standing !== "good") return refused(standing);
  if (!isInTime(der, now) || !(await deps.deviceCa.isIssuedHere(orgId, der))) return refused("forged");
  if ((device.lastSeenAt ?? 0) + SEEN_EVERY_MS <= now)
    await noteDeviceSeen(query, { orgId, id: device.id, now, before: now - SEEN_EVERY_MS });
  return { kind: "good", device, certificate };
}

/** As the certificate itself says, whatever the record does. */
function isInTime(der: Buffer, now: number): boolean {
  const { validFromDate, validToDate } = new X509Certificate(der);
  return validFromDate.getTime() <= now && now < validToDate.getTime();
}
