/** A device of a test with a certificate of its organisation's own CA, past the enrolment: for what devices do afterwards. */
import { createPublicKey, type KeyObject } from "node:crypto";
import { sha256Base64url } from "@signet/protocol/hash";
import { newEcKey } from "@signet/protocol/testing/test-certificate";
import { newUuid } from "@signet/protocol/uuid";
import type { Attestation, DeviceCertificate } from "../core/devices/device.ts";
import { insertCertificate, insertDevice, supersedeCertificate } from "../core/devices/store.ts";
import type { Service } from "../open-service.ts";

export interface EnrolledDevice {
  readonly id: string;
  readonly orgId: string;
  /** PEM. */
  readonly certificate: string;
  readonly der: Buffer;
  /** SHA-256 of the certificate. */
  readonly thumbprint: string;
  /** PEM (PKCS#8). */
  readonly key: string;
  readonly privateKey: KeyObject;
  /** The URI in the certificate's subject alternative names. */
  readonly uri: string;
}

export async function enrolledDevice(
  service: Service,
  orgId: string,
  attestation: Attestation = "none",
): Promise<EnrolledDevice> {
  const id = newUuid();
  await insertDevice(service.database.query, {
    orgId,
    id,
    name: "Meter",
    attestation,
    ekHash: null,
    akPublic: null,
    enrolledAt: service.clock(),
    revokedAt: null,
    revokedReason: null,
    lastSeenAt: null,
  });
  return certified(service, { id, orgId, attestation });
}

/** Another certificate for the same device, as a renewal gives it: the one before is superseded. */
export async function renewedDevice(service: Service, device: EnrolledDevice): Promise<EnrolledDevice> {
  const { orgId, thumbprint: fingerprint } = device;
  await supersedeCertificate(service.database.query, { orgId, fingerprint, now: service.clock() });
  return certified(service, { id: device.id, orgId: device.orgId, attestation: "none" });
}

async function certified(
  service: Service,
  { id, orgId, attestation }: { id: string; orgId: string; attestation: Attestation },
): Promise<EnrolledDevice> {
  const privateKey = newEcKey();
  const spki = createPublicKey(privateKey).export({ format: "der", type: "spki" });
  const issued = await service.deviceCa.issue({ orgId, deviceId: id, spki, attestation });
  const { der, pem, serial, fingerprint, generation, notBefore, notAfter } = issued;
  const certificate: DeviceCertificate = {
    orgId,
    fingerprint,
    deviceId: id,
    generation,
    serial,
    keyHash: sha256Base64url(spki),
    der,
    notBefore,
    notAfter,
    issuedAt: service.clock(),
    supersededAt: null,
    revokedAt: null,
  };
  await insertCertificate(service.database.query, certificate);
  return {
    id,
    orgId,
    certificate: pem,
    der,
    thumbprint: fingerprint,
    key: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
    privateKey,
    uri: `${service.config.baseUrl}/oauth/${orgId}/devices/${id}`,
  };
}

/** The header of RFC 9440. */
export const clientCertHeader = (der: Buffer): string => `:${der.toString("base64")}:`;
