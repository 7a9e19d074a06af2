/** The qualifying data of attestations (device-identity.md §1): binds one to its organisation, its purpose and its CSR, so that it serves nothing else. */
import { createHash } from "node:crypto";

const sha256 = (bytes: Buffer): Buffer => createHash("sha256").update(bytes).digest();

/** @param nonce the raw bytes of what the server sent. @returns 32 bytes */
export function enrolmentQualifyingData(
  orgId: string,
  challengeId: string,
  nonce: Buffer,
  csrDer: Buffer,
): Buffer {
  const head = Buffer.from(`device-enroll-v1\0${orgId}\0${challengeId}\0`);
  return sha256(Buffer.concat([head, nonce, sha256(csrDer)]));
}

/** @returns 32 bytes */
export function renewalQualifyingData(
  orgId: string,
  deviceId: string,
  currentCertificateDer: Buffer,
  csrDer: Buffer,
): Buffer {
  const head = Buffer.from(`device-renew-v1\0${orgId}\0${deviceId}\0`);
  return sha256(Buffer.concat([head, sha256(currentCertificateDer), sha256(csrDer)]));
}
