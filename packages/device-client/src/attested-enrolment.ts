/** Enrolment with a TPM (device-identity.md §1, §5): it proves that its attestation key is in it, and certifies the device's key. */
import path from "node:path";
import { enrolmentQualifyingData } from "@signet/protocol/tpm/qualifying-data";
import { tpmOf } from "./keys/open-device-key.ts";
import { createTpmKey, readBlobs, withStorageKey } from "./keys/tpm-key.ts";
import type { RequestFile } from "./request-file.ts";
import type { Challenge, DeviceService, Evidence, IssuedCertificate } from "./service/device-service.ts";
import type { DeviceRecord } from "./state/device-record.ts";
import { textOf } from "./state/private-file.ts";
import { activateCredential, certify } from "./tpm/attestation.ts";
import { type EndorsementKey, findEndorsementKey, withEndorsementKey } from "./tpm/endorsement-key.ts";
import { type KeyBlobs, withLoaded } from "./tpm/objects.ts";
import { attestationTemplate } from "./tpm/templates.ts";
import { type Tpm, withTpm } from "./tpm/tpm.ts";

export interface AttestedEnrolment {
  readonly record: DeviceRecord;
  readonly state: string;
  /** The generation with `key.tpm`. */
  readonly folder: string;
  readonly code: string;
  readonly request: RequestFile;
  readonly service: DeviceService;
}

const base64 = (bytes: Buffer): string => bytes.toString("base64");

export async function attestedEnrolment(enrolment: AttestedEnrolment): Promise<IssuedCertificate> {
  const { record, state, folder, code, request, service } = enrolment;
  const place = tpmOf(record.key);
  const ak = await attestationKey(record, state);
  const ek = await withTpm(place, (tpm) => findEndorsementKey(tpm, record.key.ek));
  const challenge = await service.begin({
    code,
    ek_certificate: base64(ek.certificate.raw),
    ...(ek.chain.length > 0 ? { ek_chain: ek.chain.map(({ raw }) => base64(raw)) } : {}),
    ak_public: base64(ak.publicPart),
  });
  const { organisation } = record;
  const { challengeId, nonce } = challenge;
  const qualifyingData = enrolmentQualifyingData(organisation, challengeId, nonce, request.der);
  const key = await readBlobs(path.join(folder, "key.tpm"));
  const answer = await withTpm(place, async (tpm) => ({
    secret: await openSecret(tpm, { ek, ak, challenge }),
    evidence: await evidenceOf(tpm, { key, ak }, qualifyingData),
  }));
  return await service.complete({
    challenge_id: challengeId,
    secret: base64(answer.secret),
    csr: request.pem,
    ...answer.evidence,
  });
}

/** One for all certificates of the device: renewals are proven by it. */
export async function attestationKey(record: DeviceRecord, state: string): Promise<KeyBlobs> {
  const file = path.join(state, "ak.tpm");
  if ((await textOf(file)) === undefined) await createTpmKey(tpmOf(record.key), file, attestationTemplate);
  return await readBlobs(file);
}

const openSecret = (
  tpm: Tpm,
  { ek, ak, challenge }: { ek: EndorsementKey; ak: KeyBlobs; challenge: Challenge },
): Promise<Buffer> =>
  withStorageKey(tpm, (parent) =>
    withLoaded(tpm, parent, ak, (loaded) =>
      withEndorsementKey(tpm, ek, (endorsement) =>
        activateCredential(tpm, { ak: loaded, ek: endorsement }, challenge),
      ),
    ),
  );

/** What the attestation key says of a key beside it. */
export const evidenceOf = (
  tpm: Tpm,
  { key, ak }: { key: KeyBlobs; ak: KeyBlobs },
  qualifyingData: Buffer,
): Promise<Evidence> =>
  withStorageKey(tpm, (parent) =>
    withLoaded(tpm, parent, ak, (signer) =>
      withLoaded(tpm, parent, key, async (subject) => {
        const { attest, signature } = await certify(tpm, { key: subject, ak: signer }, qualifyingData);
        return {
          attest: base64(attest),
          signature: base64(signature),
          key_public: base64(key.publicPart),
        };
      }),
    ),
  );
