/** A certificate that the CA has just issued: as it is written down, and as its device is told of it. */
import Type, { type Static } from "typebox";
import type { IssuedCertificate } from "../../../core/device-ca/authority.ts";
import { type Attestation, attestations, type DeviceCertificate } from "../../../core/devices/device.ts";
import type { Answer } from "../../../http/api/api-route.ts";

export function certificateRow(
  issued: IssuedCertificate,
  { now, ...of }: Pick<DeviceCertificate, "orgId" | "deviceId" | "keyHash"> & { readonly now: number },
): DeviceCertificate {
  const { fingerprint, generation, serial, der, notBefore, notAfter } = issued;
  return {
    ...of,
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
  /** PEM of the CA that issued it. */
  readonly ca: string;
  readonly attestation: Attestation;
  /** Milliseconds. */
  readonly notAfter: number;
}

/** What enroll, enroll/complete and renew answer with. */
export const certificateAnswer = Type.Object(
  {
    device_id: Type.String({ format: "uuid" }),
    certificate: Type.String({ description: "PEM" }),
    ca: Type.String({ description: "PEM of the CA that issued it" }),
    attestation: Type.Enum([...attestations]),
    not_after: Type.Integer({ description: "seconds since 1970, when the certificate ends" }),
  },
  { title: "DeviceCertificate" },
);

export function answerWith({ deviceId, certificate, ca, attestation, notAfter }: CertifiedKey): Answer {
  const body: Static<typeof certificateAnswer> = {
    device_id: deviceId,
    certificate,
    ca,
    attestation,
    not_after: Math.floor(notAfter / 1000),
  };
  return { status: 201, body };
}
