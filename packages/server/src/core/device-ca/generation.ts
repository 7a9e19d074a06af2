/**
 * The generations of a device CA: self-signed roots, of which the newest issues (device-identity.md §2). Organisations share
 * no root: trusting one organisation's `ca.pem` never accepts another's devices.
 */
import type { RecordOf } from "../../db/records.ts";
import type { DeviceCaTable } from "../../db/tables/device-identity.ts";
import { issuerOf } from "../organisations/organisation.ts";

export interface CaGeneration extends RecordOf<Omit<DeviceCaTable, "certificate" | "private_key">> {
  readonly certificatePem: string;
  readonly der: Buffer;
  /** Milliseconds, as all times here. */
  readonly notBefore: number;
}

const DAY_MS = 86_400_000;

/** Ten years. */
export const CA_LIFETIME_MS = 3_652 * DAY_MS;
export const CERTIFICATE_LIFETIME_MS = 90 * DAY_MS;
/** A device whose clock is behind must accept its new certificate. */
export const BACKDATE_MS = 5 * 60_000;
/** This long after its retirement a generation's last certificate has expired and has left the CRL. */
export const DRAIN_MS = CERTIFICATE_LIFETIME_MS + 2 * DAY_MS;

/** A generation with less time left is rotated, so that no certificate is shortened. */
export const ROTATE_AHEAD_MS = 2 * CERTIFICATE_LIFETIME_MS;

export const isDueForRotation = ({ notAfter }: Pick<CaGeneration, "notAfter">, now: number): boolean =>
  notAfter - now < ROTATE_AHEAD_MS;

/** X.509 times have whole seconds. */
export const wholeSeconds = (milliseconds: number): number => milliseconds - (milliseconds % 1000);

/** The URIs in device certificates (RFC 5280 §4.2.1.13, §4.2.2.1). */
export const deviceCaUris = (baseUrl: string, orgId: string) => {
  const devices = `${issuerOf(baseUrl, orgId)}/devices`;
  return {
    device: (id: string) => `${devices}/${id}`,
    crl: (generation: number) => `${devices}/ca.crl?generation=${generation}`,
    ocsp: `${devices}/ocsp`,
  };
};
