/** Enrolment with a TPM (device-identity.md §1, §5): the TPM proves that it holds the attestation key, which certifies the device key. */
import path from "node:path";
import { readIfPresent } from "@signet/cli-runtime/private-file";
import { enrolmentQualifyingData } from "@signet/protocol/tpm/qualifying-data";
import { createTpmKey, readTpmKeyFile, requireTpm, withStorageKey } from "../keys/open-device-key.ts";
import type { Challenge, DeviceService, Evidence, IssuedCertificate } from "../service/device-service.ts";
import type { DeviceRecord } from "../state/device-record.ts";
import { type EndorsementKey, findEndorsementKey, withEndorsementKey } from "../tpm/endorsement-key.ts";
import { activateCredential, certify, type KeyBlobs, withLoaded } from "../tpm/objects.ts";
import { attestationTemplate } from "../tpm/templates.ts";
import { type Tpm, withTpm } from "../tpm/tpm.ts";
import type { CertificateRequest } from "./issued-certificate.ts";

export interface AttestedEnrolment {
  readonly record: DeviceRecord;
  readonly state: string;
  readonly service: DeviceService;
  /** The generation with `key.tpm`. */
  readonly folder: string;
  readonly code: string;
  readonly request: CertificateRequest;
}

const base64 = (bytes: Buffer): string => bytes.toString("base64");

export async function attestedEnrolment(enrolment: AttestedEnrolment): Promise<IssuedCertificate> {
  const { record, state, folder, code, request, service } = enrolment;
  const location = requireTpm(record.key);
  const ak = await attestationKey(record, state);
  const ek = await withTpm(location, (tpm) => findEndorsementKey(tpm, record.key.ek));
  const challenge = await service.beginEnrolment({
    code,
    ek_certificate: base64(ek.certificate.raw),
    ...(ek.chain.length > 0 ? { ek_chain: ek.chain.map(({ raw }) => base64(raw)) } : {}),
    ak_public: base64(ak.publicPart),
  });
  const { challengeId, nonce } = challenge;
  const data = enrolmentQualifyingData(record.organisation, challengeId, nonce, request.der);
  const key = await readTpmKeyFile(path.join(folder, "key.tpm"));
  const proof = await withTpm(location, async (tpm) => ({
    secret: base64(await decryptSecret(tpm, ak, ek, challenge)),
    ...(await certifyKey(tpm, key, ak, data)),
  }));
  return await service.completeEnrolment({ challenge_id: challengeId, csr: request.pem, ...proof });
}

/** One for all certificates of the device: it attests the keys of renewals. */
export async function attestationKey(record: DeviceRecord, state: string): Promise<KeyBlobs> {
  const file = path.join(state, "ak.tpm");
  if ((await readIfPresent(file)) === undefined)
    await createTpmKey(requireTpm(record.key), file, attestationTemplate);
  return await readTpmKeyFile(file);
}

const decryptSecret = (tpm: Tpm, ak: KeyBlobs, ek: EndorsementKey, challenge: Challenge): Promise<Buffer> =>
  withStorageKey(tpm, (parent) =>
    withLoaded(tpm, parent, ak, (loaded) =>
      withEndorsementKey(tpm, ek, (endorsement) =>
        activateCredential(tpm, { ak: loaded, ek: endorsement }, challenge),
      ),
    ),
  );

export const certifyKey = (
  tpm: Tpm,
  key: KeyBlobs,
  ak: KeyBlobs,
  qualifyingData: Buffer,
): Promise<Evidence> =>
  withStorageKey(tpm, (parent) =>
    withLoaded(tpm, parent, ak, (signer) =>
      withLoaded(tpm, parent, key, async (subject) => {
        const { attest, signature } = await certify(tpm, { key: subject, ak: signer }, qualifyingData);
        return { attest: base64(attest), signature: base64(signature), key_public: base64(key.publicPart) };
      }),
    ),
  );
