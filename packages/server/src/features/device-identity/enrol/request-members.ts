/** What the calls of devices share: the caller, members of bodies, and the certificate as a row and as a response. */
import { type Csr, CsrError, readCsr } from "@signet/protocol/csr/csr";
import { isUuid } from "@signet/protocol/hash";
import Type, { type Static } from "typebox";
import type { IssuedCertificate } from "../../../core/device-ca/authority.ts";
import { attestations, type Device, type DeviceCertificate } from "../../../core/devices/device.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import type { ApiAuthenticator } from "../../../http/api/api-route.ts";
import { CodedError, codedNotFound } from "../../../http/coded-error.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { MAX_CODE_LENGTH } from "./enrolment-code.ts";

export interface DeviceCaller {
  readonly organisation: Organisation;
  readonly address: string;
}

/** Only resolves the organisation: the credential is in the body, or is the client certificate. */
export const deviceAuthenticator = (
  organisations: Pick<OrganisationDirectory, "find">,
): ApiAuthenticator<DeviceCaller> => ({
  authenticate: async (request) => {
    const { org = "" } = request.params as { org?: string };
    const organisation = isUuid(org) ? await organisations.find(org.toLowerCase()) : undefined;
    if (!organisation) throw codedNotFound();
    return { organisation, address: addressOf(request) };
  },
});

export const closed = { additionalProperties: false } as const;
export const codeMember = Type.String({
  maxLength: MAX_CODE_LENGTH,
  description: "the enrolment code, in upper or lower case, with or without dashes",
});

/** No maxLength: an oversized CSR has its own error code. */
export const csrMember = Type.String({
  description:
    "a certificate signing request (RFC 2986), PEM or base64 DER, at most 16 KiB: EC P-256 or P-384, RSA of 2048 to 4096 bits, Ed25519",
});

/** Parsed only after the caller is authenticated. @throws CodedError 400 csr_… */
export function parseCsr(text: string): Csr {
  try {
    return readCsr(text);
  } catch (error) {
    if (!(error instanceof CsrError)) throw error;
    throw new CodedError(400, error.code, csrFaults[error.code], { cause: error.message });
  }
}

const csrFaults = {
  csr_malformed: "the certificate signing request is malformed: send strict DER as PEM or base64",
  csr_too_large: "the certificate signing request is longer than 16 KiB",
  csr_key_weak: "the key is too weak: RSA keys need at least 2048 bits and the exponent 65537",
  csr_key_unsupported:
    "supported keys: EC P-256 or P-384 (named curve, uncompressed), RSA up to 4096 bits, Ed25519",
  csr_signature: "the certificate signing request is not signed by its own key",
  csr_signature_alg: "the signature algorithm does not match the key, or does not use SHA-2",
} as const;

export function certificateRow(
  issued: IssuedCertificate,
  { now, ...subject }: Pick<DeviceCertificate, "orgId" | "deviceId" | "keyHash"> & { readonly now: number },
): DeviceCertificate {
  const { fingerprint, generation, serial, der, notBefore, notAfter } = issued;
  const certificate = { fingerprint, generation, serial, der, notBefore, notAfter };
  return { ...subject, ...certificate, issuedAt: now, supersededAt: null, revokedAt: null };
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
export type CertifiedKey = Static<typeof certificateSchema>;

export const certifiedKey = (
  { id, attestation }: Pick<Device, "id" | "attestation">,
  { pem, caPem, notAfter }: Pick<IssuedCertificate, "pem" | "caPem" | "notAfter">,
): CertifiedKey => ({
  device_id: id,
  certificate: pem,
  ca: caPem,
  attestation,
  not_after: Math.floor(notAfter / 1000),
});
