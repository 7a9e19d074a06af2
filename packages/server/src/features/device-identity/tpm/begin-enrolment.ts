/** The first half of enrolment with a TPM: a secret that only the TPM of this EK can read, with this AK in it (device-identity.md §1). */
import { randomBytes } from "node:crypto";
import { sha256Base64url } from "@signet/protocol/hash";
import { makeCredential } from "@signet/protocol/tpm/make-credential";
import { nameOf } from "@signet/protocol/tpm/public-area";
import { newUuid } from "@signet/protocol/uuid";
import { tightened } from "../../../core/devices/device.ts";
import { findDeviceOfEk } from "../../../core/devices/devices.store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { requireTrustedEk } from "../ek-trust/trusted-ek.ts";
import { type EnrollmentCodeDeps, findUsableCode, type UsableCode } from "../enroll/enrollment-code.ts";
import { withRefusalRecorded } from "./refusal-record.ts";
import { type EkPathText, insertChallenge, keepNewestChallenges } from "./tpm.store.ts";
import { attestationKeyOf, presentedEk } from "./tpm-members.ts";

export interface BegunEnrolment {
  readonly challengeId: string;
  /** TPM2B_ID_OBJECT and TPM2B_ENCRYPTED_SECRET. */
  readonly credentialBlob: Buffer;
  readonly encryptedSecret: Buffer;
  readonly nonce: Buffer;
}

export interface BeginEnrolment {
  readonly organisation: Organisation;
  readonly address: string;
  readonly code: string;
  readonly ekPath: EkPathText;
  /** Base64. */
  readonly akPublic: string;
}

export const CHALLENGE_MS = 300_000;
/** A device that went down halfway begins again; more at once have no use. */
const MOST_CHALLENGES = 2;
/** The length of SHA-256: a TPM takes no longer one under an EK of that hash. */
const SECRET_BYTES = 32;

/**
 * @throws CodedError 400 invalid_request, ek_malformed, unsupported_ek, ak_attributes, ak_alg; 401 invalid_code; 403
 * attestation_disabled, ek_untrusted, ek_not_allowed; 409 ek_already_enrolled; 429
 */
export async function beginEnrolment(
  deps: EnrollmentCodeDeps,
  begin: BeginEnrolment,
): Promise<BegunEnrolment> {
  const { organisation, address } = begin;
  const code = await findUsableCode(deps, organisation, begin.code, address);
  requireAttestationAllowed(organisation, code);
  const presented = presentedEk(begin.ekPath);
  const ak = attestationKeyOf(begin.akPublic);
  const { ek, ekHash } = presented;
  const about = { orgId: organisation.id, address, ekHash, code: code.id };
  await withRefusalRecorded(deps, about, async () => {
    await requireTrustedEk(deps, organisation, presented);
    await requireFreeEk(deps, code, ekHash);
  });
  const secret = randomBytes(SECRET_BYTES);
  const nonce = randomBytes(SECRET_BYTES);
  const credential = makeCredential({ ek: ek.publicKey, name: nameOf(ak), secret });
  const challengeId = newUuid();
  const now = deps.clock();
  const { orgId, codeHash } = code;
  await deps.database.transaction(async (tx) => {
    const secretHash = sha256Base64url(secret);
    const keys = { ekHash, ekPath: begin.ekPath, akPublic: ak.bytes };
    const row = { orgId, id: challengeId, codeHash, secretHash, nonce, ...keys };
    await insertChallenge(tx, { ...row, createdAt: now, expiresAt: now + CHALLENGE_MS });
    await keepNewestChallenges(tx, { orgId, codeHash, most: MOST_CHALLENGES });
  });
  return { challengeId, ...credential, nonce };
}

/** @throws CodedError 403 where neither the organisation nor the code wants a TPM */
export function requireAttestationAllowed(
  { settings }: Organisation,
  code: Pick<UsableCode, "attestation">,
): void {
  if (tightened(settings.deviceAttestation, code.attestation) === "none")
    throw new CodedError(403, "attestation_disabled", "this organisation enrols its devices without a TPM");
}

/** A code for another device's place may bring the same TPM: that device ends with it. */
async function requireFreeEk(
  { database }: EnrollmentCodeDeps,
  { orgId, replaces }: UsableCode,
  ekHash: string,
): Promise<void> {
  const holder = await findDeviceOfEk(database.query, orgId, ekHash);
  if (holder !== undefined && holder !== replaces)
    throw new CodedError(409, "ek_already_enrolled", "an active device of this organisation has this TPM");
}
