/**
 * Second step of TPM enrolment (device-identity.md §1). The secret is checked before anything else: only the TPM itself can
 * decrypt it, a key in a file that claims TPM attributes can't.
 */
import { constantTimeEqual, sha256Base64url } from "@signet/protocol/hash";
import { readPublicArea } from "@signet/protocol/tpm/public-area";
import { enrolmentQualifyingData } from "@signet/protocol/tpm/qualifying-data";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { requireTrustedEk } from "../ek-trust/trusted-ek.ts";
import { type EnrolDeviceDeps, enrolDevice } from "../enrol/enrol-device.ts";
import { findCodeByHash } from "../enrol/enrolment-code.store.ts";
import {
  countEnrolmentAttempt,
  type EnrolmentCodeDeps,
  invalidCode,
  isUsable,
} from "../enrol/enrolment-code.ts";
import type { CertifiedKey } from "../enrol/issued-certificate.ts";
import { parseCsr } from "../enrol/request-members.ts";
import { parseDeviceKey, requireAttestedKey } from "./attested-key.ts";
import { requireAttestationAllowed } from "./begin-enrolment.ts";
import { recordingRefusals } from "./refusal-record.ts";
import { type DeviceChallenge, takeChallenge } from "./tpm.store.ts";
import { decodeBase64, presentedEk } from "./tpm-members.ts";

export type CompleteEnrolmentDeps = EnrolmentCodeDeps & EnrolDeviceDeps;

export interface CompleteEnrolment {
  readonly organisation: Organisation;
  readonly address: string;
  readonly challengeId: string;
  /** PEM or base64 DER. */
  readonly csr: string;
  /** Base64, as the following. */
  readonly secret: string;
  readonly keyPublic: string;
  readonly attest: string;
  readonly signature: string;
}

/**
 * Consumes the challenge in any case; a refusal doesn't redeem the code.
 * @throws CodedError 400 invalid_request, csr_…; 401 invalid_code; 403 when something is not proven or trusted; 404 challenge_not_found;
 * 409 key_already_enrolled, ek_already_enrolled; 410 challenge_expired; 429
 */
export async function completeEnrolment(
  deps: CompleteEnrolmentDeps,
  complete: CompleteEnrolment,
): Promise<CertifiedKey> {
  const { organisation, address, challengeId } = complete;
  const { id: orgId } = organisation;
  await countEnrolmentAttempt(deps, orgId, address);
  const challenge = await takeChallenge(deps.database.query, { orgId, id: challengeId.toLowerCase() });
  if (!challenge)
    throw new CodedError(404, "challenge_not_found", "the challenge is unknown or was used before");
  return recordingRefusals(deps, { orgId, address, ekHash: challenge.ekHash }, () =>
    answerChallenge(deps, complete, challenge),
  );
}

async function answerChallenge(
  deps: CompleteEnrolmentDeps,
  { organisation, address, ...sent }: CompleteEnrolment,
  challenge: DeviceChallenge,
): Promise<CertifiedKey> {
  if (challenge.expiresAt <= deps.clock())
    throw new CodedError(410, "challenge_expired", "the challenge has expired: start again");
  requireSecret(challenge, decodeBase64(sent.secret, "secret"));
  await requireCode(deps, organisation, challenge);
  // A root, an allowed EK or the policy may have changed since the first step.
  await requireTrustedEk(deps, organisation, presentedEk(challenge.ekPath));
  const csr = parseCsr(sent.csr);
  const { id, orgId, codeHash, nonce, ekHash, akPublic } = challenge;
  const key = requireAttestedKey({
    ak: readPublicArea(akPublic),
    attest: sent.attest,
    signature: sent.signature,
    qualifyingData: enrolmentQualifyingData(orgId, id, nonce, csr.der),
    keyPublic: () => parseDeviceKey(sent.keyPublic),
    csr,
  });
  const publics = { akPublic: akPublic.toString("base64"), keyPublic: key.bytes.toString("base64") };
  return enrolDevice(deps, { organisation, codeHash, csr, attested: { ekHash, ...publics }, address });
}

function requireSecret({ secretHash }: DeviceChallenge, secret: Buffer): void {
  if (!constantTimeEqual(sha256Base64url(secret), secretHash))
    throw new CodedError(403, "secret_mismatch", "the secret is not the one encrypted for the TPM");
}

/** Before anything is parsed; redeeming the code checks it again. */
async function requireCode(
  { database, clock }: CompleteEnrolmentDeps,
  organisation: Organisation,
  { orgId, codeHash }: DeviceChallenge,
): Promise<void> {
  const code = await findCodeByHash(database.query, orgId, codeHash);
  if (!code || !isUsable(code, clock())) throw invalidCode("used, withdrawn or expired meanwhile");
  requireAttestationAllowed(organisation, code);
}
