/**
 * An organisation's device CA: a line of self-signed roots, of which the newest issues (device-identity.md §2). No root is
 * shared: who trusts one organisation's `ca.pem` never accepts another's device.
 */
import { issuerOf } from "../organisations/organisation.ts";

export interface CaGeneration {
  readonly orgId: string;
  /** From 1. */
  readonly generation: number;
  readonly certificatePem: string;
  readonly der: Buffer;
  /** Milliseconds, as the others. */
  readonly notBefore: number;
  readonly notAfter: number;
  readonly createdAt: number;
  /** A newer one issues from then on; this one signs its CRL and OCSP answers until its last certificate has expired. */
  readonly retiredAt: number | null;
}

const DAY_MS = 86_400_000;

/** Ten years, with their leap days. */
export const CA_LIFE_MS = 3_652 * DAY_MS;
/** The longest that a device certificate lives. */
export const CERTIFICATE_LIFE_MS = 90 * DAY_MS;
/** A device whose clock is a little behind must not refuse its new certificate. */
export const BACKDATED_MS = 5 * 60_000;
/** So long after the retirement the last certificate that it issued has expired, and has left its CRL. */
export const DRAINED_MS = CERTIFICATE_LIFE_MS + 2 * DAY_MS;

/** A generation is replaced when less than this is left of it: its certificates never have to be cut short. */
export const ROTATE_AHEAD_MS = 2 * CERTIFICATE_LIFE_MS;

export const isDueForRotation = ({ notAfter }: Pick<CaGeneration, "notAfter">, now: number): boolean =>
  notAfter - now < ROTATE_AHEAD_MS;

/** X.509 knows whole seconds. */
export const wholeSeconds = (milliseconds: number): number => milliseconds - (milliseconds % 1000);

/** What the certificates name; {@link https://www.rfc-editor.org/rfc/rfc5280 RFC 5280} §4.2.1.13, §4.2.2.1. */
export const deviceUris = (baseUrl: string, orgId: string) => {
  const devices = `${issuerOf(baseUrl, orgId)}/devices`;
  return {
    device: (id: string) => `${devices}/${id}`,
    crl: (generation: number) => `${devices}/ca.crl?generation=${generation}`,
    ocsp: `${devices}/ocsp`,
  };
};
