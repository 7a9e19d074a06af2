/** An issued certificate as a row and as a response. */
import Type, { type Static } from "typebox";
import type { IssuedCertificate } from "../../../core/device-ca/authority.ts";
import { type Attestation, attestations, type DeviceCertificate } from "../../../core/devices/device.ts";
import type { Answer } from "../../../http/api/api-route.ts";

export function certificateRow(
  issued: IssuedCertificate,
  { now, ...subject }: Pick<DeviceCertificate, "orgId" | "deviceId" | "keyHash"> & { readonly now: number },
): DeviceCertificate {
  const { fingerprint, generation, serial, der, notBefore, notAfter } = issued;
  return {
    ...subject,
    fingerprint,
    generation,
    serial,
    der,
    notBefore,
    notAfter,
    issuedAt: now,
    supersededAt: null,
    revokedAt: null,
  };
}

export interface CertifiedKey {
  readonly deviceId: string;
  /** PEM. */
  readonly certificate: string;
  /** PEM of the issuing CA. */
  readonly ca: string;
  readonly attestation: Attestation;
  /** Milliseconds. */
  readonly notAfter: number;
}

/** The response of enroll, enroll/complete and renew. */
export const certificateSchema = Type.Object(
  {
    device_id: Type.String({ format: "uuid" }),
    certificate: Type.String({ description: "PEM" }),
    ca: Type.String({ description: "PEM of the issuing CA" }),
    attestation: Type.Enum([...attestations]),
    not_after: Type.Integer({ description: "expiry, seconds since 1970" }),
  },
  { title: "DeviceCertificate" },
);

export function certificateResponse({
  deviceId,
  certificate,
  ca,
  attestation,
  notAfter,
}: CertifiedKey): Answer {
  const body: Static<typeof certificateSchema> = {
    device_id: deviceId,
    certificate,
    ca,
    attestation,
    not_after: Math.floor(notAfter / 1000),
  };
  return { status: 201, body };
}
