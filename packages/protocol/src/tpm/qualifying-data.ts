/** Qualifying data of attestations (device-identity.md §1): binds one to its organisation, purpose and CSR. */
import { createHash } from "node:crypto";

const sha256 = (bytes: Buffer): Buffer => createHash("sha256").update(bytes).digest();

const qualifyingData = (header: readonly string[], freshness: Buffer, csrDer: Buffer): Buffer =>
  sha256(Buffer.concat([Buffer.from(header.map((text) => `${text}\0`).join("")), freshness, sha256(csrDer)]));

/** @param nonce the raw bytes of what the server sent. @returns 32 bytes */
export const enrolmentQualifyingData = (orgId: string, challengeId: string, nonce: Buffer, csrDer: Buffer) =>
  qualifyingData(["device-enroll-v1", orgId, challengeId], nonce, csrDer);

/** @returns 32 bytes */
export const renewalQualifyingData = (orgId: string, deviceId: string, currentDer: Buffer, csrDer: Buffer) =>
  qualifyingData(["device-renew-v1", orgId, deviceId], sha256(currentDer), csrDer);
