/**
 * The second half of enrolment with a TPM (device-identity.md §1). Nothing is looked at before the secret has come back: a
 * key in a file that says of itself what a TPM's would gets this far, and no farther.
 */
import { constantTimeEqual, sha256Base64url } from "@signet/protocol/hash";
import { readPublicArea } from "@signet/protocol/tpm/public-area";
import { enrolmentQualifyingData } from "@signet/protocol/tpm/qualifying-data";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { requireTrustedEk } from "../ek-trust/trusted-ek.ts";
import { type EnrolDeviceDeps, enrolDevice } from "../enroll/enrol-device.ts";
import { findCodeByHash } from "../enroll/enrollment-code.store.ts";
import {
  countEnrollment,
  type EnrollmentCodeDeps,
  invalidCode,
  isUsable,
} from "../enroll/enrollment-code.ts";
import type { CertifiedKey } from "../enroll/issued-certificate.ts";
import { csrOf } from "../enroll/request-members.ts";
import { deviceKeyOf, requireAttestedKey } from "./attested-key.ts";
import { requireAttestationAllowed } from "./begin-enrolment.ts";
import { withRefusalRecorded } from "./refusal-record.ts";
import { type DeviceChallenge, takeChallenge } from "./tpm.store.ts";
import { bytesOf, presentedEk } from "./tpm-members.ts";

export type CompleteEnrolmentDeps = EnrollmentCodeDeps & EnrolDeviceDeps;

export interface CompleteEnrolment {
  readonly organisation: Organisation;
  readonly address: string;
  readonly challengeId: string;
  /** PEM or base64 DER. */
  readonly csr: string;
  /** Base64, as the rest. */
  readonly secret: string;
  readonly keyPublic: string;
  readonly attest: string;
  readonly signature: string;
}

/**
 * Whatever comes of it, the challenge is used up; the code is not by a refusal.
 * @throws CodedError 400 invalid_request, csr_…; 401 invalid_code; 403 with what is not proven or trusted; 404 challenge_not_found;
 * 409 key_already_enrolled, ek_already_enrolled; 410 challenge_expired; 429
 */
export async function completeEnrolment(
  deps: CompleteEnrolmentDeps,
  complete: CompleteEnrolment,
): Promise<CertifiedKey> {
  const { organisation, address, challengeId } = complete;
  const { id: orgId } = organisation;
  await countEnrollment(deps, orgId, address);
  const challenge = await takeChallenge(deps.database.query, { orgId, id: challengeId.toLowerCase() });
  if (!challenge)
    throw new CodedError(404, "challenge_not_found", "there is no such challenge, or it was answered before");
  return withRefusalRecorded(deps, { orgId, address, ekHash: challenge.ekHash }, () =>
    answerChallenge(deps, complete, challenge),
  );
}

async function answerChallenge(
  deps: CompleteEnrolmentDeps,
  { organisation, address, ...sent }: CompleteEnrolment,
  challenge: DeviceChallenge,
): Promise<CertifiedKey> {
  if (challenge.expiresAt <= deps.clock())
    throw new CodedError(410, "challenge_expired", "the challenge has expired: begin again");
  requireSecret(challenge, bytesOf(sent.secret, "secret"));
  await requireCode(deps, organisation, challenge);
  // A root, a key of the list or the policy may have been taken back since.
  await requireTrustedEk(deps, organisation, presentedEk(challenge.ekPath));
  const csr = csrOf(sent.csr);
  const { id, orgId, codeHash, nonce, ekHash, akPublic } = challenge;
  const key = requireAttestedKey({
    ak: readPublicArea(akPublic),
    attest: sent.attest,
    signature: sent.signature,
    qualifyingData: enrolmentQualifyingData(orgId, id, nonce, csr.der),
    keyPublic: () => deviceKeyOf(sent.keyPublic),
    csr,
  });
  const publics = { akPublic: akPublic.toString("base64"), keyPublic: key.bytes.toString("base64") };
  return enrolDevice(deps, { organisation, codeHash, csr, attested: { ekHash, ...publics }, address });
}

function requireSecret({ secretHash }: DeviceChallenge, secret: Buffer): void {
  if (!constantTimeEqual(sha256Base64url(secret), secretHash))
    throw new CodedError(403, "secret_mismatch", "this is not the secret that was hidden for the TPM");
}

/** Asked again where it is used up; here a used one is told before anything is parsed. */
async function requireCode(
  { database, clock }: CompleteEnrolmentDeps,
  organisation: Organisation,
  { orgId, codeHash }: DeviceChallenge,
): Promise<void> {
  const code = await findCodeByHash(database.query, orgId, codeHash);
  if (!code || !isUsable(code, clock())) throw invalidCode("used, withdrawn or expired meanwhile");
  requireAttestationAllowed(organisation, code);
}
