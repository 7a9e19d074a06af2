/** First step of TPM enrolment: a secret that only the TPM with this EK and AK can decrypt (device-identity.md §1). */
import { randomBytes } from "node:crypto";
import { sha256Base64url } from "@signet/protocol/hash";
import { makeCredential } from "@signet/protocol/tpm/make-credential";
import { nameOf } from "@signet/protocol/tpm/public-area";
import { newUuid } from "@signet/protocol/uuid";
import { stricterPolicy } from "../../../core/devices/device.ts";
import { findDeviceByEk } from "../../../core/devices/devices.store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { requireTrustedEk } from "../ek-trust/trusted-ek.ts";
import { type EnrolmentCodeDeps, findUsableCode, type UsableCode } from "../enrol/enrolment-code.ts";
import { recordingRefusals } from "./refusal-record.ts";
import { deleteOldestChallenges, type EkPathText, insertChallenge } from "./tpm.store.ts";
import { parseAttestationKey, presentedEk } from "./tpm-members.ts";

export interface EnrolmentChallenge {
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
/** Allows a device that was interrupted to begin again. */
const MAX_CHALLENGES_PER_CODE = 2;
/** The maximum under an EK with SHA-256. */
const SECRET_BYTES = 32;

/**
 * @throws CodedError 400 invalid_request, ek_malformed, unsupported_ek, ak_attributes, ak_alg; 401 invalid_code; 403
 * attestation_disabled, ek_untrusted, ek_not_allowed; 409 ek_already_enrolled; 429
 */
export async function beginEnrolment(
  deps: EnrolmentCodeDeps,
  begin: BeginEnrolment,
): Promise<EnrolmentChallenge> {
  const { organisation, address } = begin;
  const code = await findUsableCode(deps, organisation, begin.code, address);
  requireAttestationAllowed(organisation, code);
  const presented = presentedEk(begin.ekPath);
  const ak = parseAttestationKey(begin.akPublic);
  const { ek, ekHash } = presented;
  const about = { orgId: organisation.id, address, ekHash, code: code.id };
  await recordingRefusals(deps, about, async () => {
    await requireTrustedEk(deps, organisation, presented);
    await requireUnusedEk(deps, code, ekHash);
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
    await deleteOldestChallenges(tx, { orgId, codeHash, keep: MAX_CHALLENGES_PER_CODE });
  });
  return { challengeId, ...credential, nonce };
}

/** @throws CodedError 403 when neither the organisation nor the code uses TPMs */
export function requireAttestationAllowed(
  { settings }: Organisation,
  code: Pick<UsableCode, "attestation">,
): void {
  if (stricterPolicy(settings.deviceAttestation, code.attestation) === "none")
    throw new CodedError(403, "attestation_disabled", "this organisation enrols devices without a TPM");
}

/** A code that replaces a device may present that device's TPM. */
async function requireUnusedEk(
  { database }: EnrolmentCodeDeps,
  { orgId, replaces }: UsableCode,
  ekHash: string,
): Promise<void> {
  const holder = await findDeviceByEk(database.query, orgId, ekHash);
  if (holder !== undefined && holder !== replaces)
    throw new CodedError(
      409,
      "ek_already_enrolled",
      "an active device of this organisation already has this TPM",
    );
}
