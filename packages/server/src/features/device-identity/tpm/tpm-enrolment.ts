/**
 * Enrolment with a TPM in two steps (device-identity.md §1): a secret that only the TPM with this EK and AK can decrypt, then
 * that secret with the AK's attestation of the device key.
 */
import { randomBytes } from "node:crypto";
import { constantTimeEqual, sha256Base64url } from "@signet/protocol/hash";
import { makeCredential } from "@signet/protocol/tpm/make-credential";
import { nameOf, readPublicArea } from "@signet/protocol/tpm/public-area";
import { enrolmentQualifyingData } from "@signet/protocol/tpm/qualifying-data";
import { newUuid } from "@signet/protocol/uuid";
import { recordUnauthenticatedEvent } from "../../../core/audit/unauthenticated-events.ts";
import { type EnrolmentCode, stricterPolicy } from "../../../core/devices/device.ts";
import { findDeviceByEk } from "../../../core/devices/devices.store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { displayHash } from "../ek-trust/trust-file.ts";
import { requireTrustedEk } from "../ek-trust/trusted-ek.ts";
import { type EnrolDeviceDeps, ekAlreadyEnrolled, enrolDevice } from "../enrol/enrol-device.ts";
import { findCodeByHash } from "../enrol/enrolment-code.store.ts";
import {
  countEnrolmentAttempt,
  type EnrolmentCodeDeps,
  findUsableCode,
  invalidCode,
  isUsable,
} from "../enrol/enrolment-code.ts";
import { type CertifiedKey, type DeviceCaller, parseCsr } from "../enrol/request-members.ts";
import { parseDeviceKey, requireAttestedKey } from "./attested-key.ts";
import { type DeviceChallenge, deleteOldestChallenges, insertChallenge, takeChallenge } from "./tpm.store.ts";
import { decodeBase64, parseAttestationKey, presentedEk } from "./tpm-members.ts";

export const CHALLENGE_MS = 300_000;
/** Allows a device that was interrupted to begin again. */
const MAX_CHALLENGES_PER_CODE = 2;
/** The maximum under an EK with SHA-256. */
const SECRET_BYTES = 32;

/** Base64, but for the code. */
interface BeginBody {
  readonly code: string;
  readonly ek_certificate: string;
  readonly ek_chain?: readonly string[];
  readonly ak_public: string;
}

/**
 * @returns the challenge as the response's body
 * @throws CodedError 400 invalid_request, ek_malformed, unsupported_ek, ak_attributes, ak_alg; 401 invalid_code; 403
 * attestation_disabled, ek_untrusted, ek_not_allowed; 409 ek_already_enrolled; 429
 */
export async function beginEnrolment(
  deps: EnrolmentCodeDeps,
  { organisation, address }: DeviceCaller,
  body: BeginBody,
) {
  const { codeHash, ...code } = await findUsableCode(deps, organisation, body.code, address);
  requireAttestationAllowed(organisation, code);
  const ekPath = { certificate: body.ek_certificate, chain: body.ek_chain ?? [] };
  const presented = presentedEk(ekPath);
  const ak = parseAttestationKey(body.ak_public);
  const { ek, ekHash } = presented;
  const { orgId } = code;
  await recordingRefusals(deps, { orgId, address, ekHash, code: code.id }, async () => {
    await requireTrustedEk(deps, organisation, presented);
    await requireUnusedEk(deps, code, ekHash);
  });
  const secret = randomBytes(SECRET_BYTES);
  const nonce = randomBytes(SECRET_BYTES);
  const { credentialBlob, encryptedSecret } = makeCredential({ ek: ek.publicKey, name: nameOf(ak), secret });
  const id = newUuid();
  const now = deps.clock();
  await deps.database.transaction(async (tx) => {
    const keys = { ekHash, ekPath, akPublic: ak.bytes };
    const challenge = { orgId, id, codeHash, secretHash: sha256Base64url(secret), nonce, ...keys };
    await insertChallenge(tx, { ...challenge, createdAt: now, expiresAt: now + CHALLENGE_MS });
    await deleteOldestChallenges(tx, { orgId, codeHash, keep: MAX_CHALLENGES_PER_CODE });
  });
  return {
    challenge_id: id,
    credential_blob: credentialBlob.toString("base64"),
    encrypted_secret: encryptedSecret.toString("base64"),
    nonce: nonce.toString("base64"),
    expires_in: CHALLENGE_MS / 1000,
  };
}

/** @throws CodedError 403 when neither the organisation nor the code uses TPMs */
function requireAttestationAllowed({ settings }: Organisation, code: EnrolmentCode): void {
  if (stricterPolicy(settings.deviceAttestation, code.attestation) === "none")
    throw new CodedError(403, "attestation_disabled", "this organisation enrols devices without a TPM");
}

/** A code that replaces a device may present that device's TPM. */
async function requireUnusedEk(
  { database }: EnrolmentCodeDeps,
  { orgId, replaces }: EnrolmentCode,
  ekHash: string,
): Promise<void> {
  const holder = await findDeviceByEk(database.query, orgId, ekHash);
  if (holder !== undefined && holder !== replaces) throw ekAlreadyEnrolled();
}

type CompleteDeps = EnrolmentCodeDeps & EnrolDeviceDeps;

/** Base64, but for the challenge's id and a CSR in PEM. */
type CompleteBody = Readonly<
  Record<"challenge_id" | "secret" | "csr" | "key_public" | "attest" | "signature", string>
>;

/**
 * Consumes the challenge in any case; a refusal doesn't redeem the code.
 * @throws CodedError 400 invalid_request, csr_…; 401 invalid_code; 403 when something is not proven or trusted; 404 challenge_not_found;
 * 409 key_already_enrolled, ek_already_enrolled; 410 challenge_expired; 429
 */
export async function completeEnrolment(
  deps: CompleteDeps,
  caller: DeviceCaller,
  body: CompleteBody,
): Promise<CertifiedKey> {
  const { organisation, address } = caller;
  const { id: orgId } = organisation;
  await countEnrolmentAttempt(deps, orgId, address);
  const challenge = await takeChallenge(deps.database.query, orgId, body.challenge_id.toLowerCase());
  if (!challenge)
    throw new CodedError(404, "challenge_not_found", "the challenge is unknown or was used before");
  return recordingRefusals(deps, { orgId, address, ekHash: challenge.ekHash }, () =>
    answerChallenge(deps, caller, body, challenge),
  );
}

async function answerChallenge(
  deps: CompleteDeps,
  { organisation, address }: DeviceCaller,
  body: CompleteBody,
  challenge: DeviceChallenge,
): Promise<CertifiedKey> {
  if (challenge.expiresAt <= deps.clock())
    throw new CodedError(410, "challenge_expired", "the challenge has expired: start again");
  // Before anything else: only the TPM can decrypt it, a key in a file that claims TPM attributes can't.
  if (!constantTimeEqual(sha256Base64url(decodeBase64(body.secret, "secret")), challenge.secretHash))
    throw new CodedError(403, "secret_mismatch", "the secret is not the one encrypted for the TPM");
  await requireCode(deps, organisation, challenge);
  // A root, an allowed EK or the policy may have changed since the first step.
  await requireTrustedEk(deps, organisation, presentedEk(challenge.ekPath));
  const csr = parseCsr(body.csr);
  const { id, orgId, codeHash, nonce, ekHash, akPublic } = challenge;
  const key = requireAttestedKey({
    ak: readPublicArea(akPublic),
    attest: body.attest,
    signature: body.signature,
    qualifyingData: enrolmentQualifyingData(orgId, id, nonce, csr.der),
    keyPublic: () => parseDeviceKey(body.key_public),
    csr,
  });
  const publics = { akPublic: akPublic.toString("base64"), keyPublic: key.bytes.toString("base64") };
  return enrolDevice(deps, { organisation, codeHash, csr, attested: { ekHash, ...publics }, address });
}

/** Before anything is parsed; redeeming the code checks it again. */
async function requireCode(
  { database, clock }: EnrolmentCodeDeps,
  organisation: Organisation,
  { orgId, codeHash }: DeviceChallenge,
): Promise<void> {
  const code = await findCodeByHash(database.query, orgId, codeHash);
  if (!code || !isUsable(code, clock())) throw invalidCode("used, withdrawn or expired meanwhile");
  requireAttestationAllowed(organisation, code);
}

/** Administrators see in the audit log why an enrolment failed. @throws what `work` throws, after recording a CodedError */
async function recordingRefusals<Result>(
  deps: EnrolmentCodeDeps,
  // As `signet ek-allow` prints the hash; the code's id is known in the first step only.
  { ekHash, code, ...caller }: { orgId: string; address: string; ekHash: string; code?: string },
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CodedError)
      await recordUnauthenticatedEvent(deps, {
        ...caller,
        actor: "anonymous",
        action: "device-attestation.refused",
        ...(code === undefined ? {} : { target: code }),
        details: { error: error.code, ek: displayHash(ekHash) },
      });
    throw error;
  }
}
