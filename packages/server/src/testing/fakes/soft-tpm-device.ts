/** A device with a software TPM and its vendor CA: enrols correctly or with a defect. */
import { createPublicKey, type KeyObject } from "node:crypto";
import { makeKeyCsr } from "@signet/protocol/csr/make-csr";
import {
  activateCredential,
  certify,
  type SoftEkKind,
  type SoftKey,
  softAk,
  softDeviceKey,
  softEk,
} from "@signet/protocol/testing/soft-tpm";
import {
  extension,
  type TestCertificate,
  type TestCertificateInput,
  testCertificate,
} from "@signet/protocol/testing/test-certificate";
import { enrolmentQualifyingData } from "@signet/protocol/tpm/qualifying-data";

/** 2.23.133.8.1, and a directoryName as the TCG's profile wants it where the subject is empty. */
const EK_USAGE = Buffer.from("300706056781050801", "hex");
const TPM_NAME = Buffer.from("3018a41630143112301006056781050201" + "0c0769643a49424d00", "hex");

export interface SoftVendor {
  readonly root: TestCertificate;
  readonly issuing: TestCertificate;
}

/** A vendor with a root and an authority below it that certifies EKs. */
export function softVendor(name = "Vendor"): SoftVendor {
  const root = testCertificate({ subject: `${name} root`, isCa: true });
  return { root, issuing: testCertificate({ subject: `${name} issuing`, isCa: true, issuer: root }) };
}

const publicOf = (key: KeyObject) => createPublicKey(key.export({ format: "pem", type: "pkcs8" }));

/** As vendors make it: critical extensions and all. */
export const ekCertificate = (
  { issuing }: SoftVendor,
  ek: KeyObject,
  more: Partial<TestCertificateInput> = {},
): TestCertificate =>
  testCertificate({
    subject: "EK",
    issuer: issuing,
    publicKey: publicOf(ek),
    keyUsage: [ek.asymmetricKeyType === "rsa" ? 2 : 4],
    more: [extension("551d25", EK_USAGE), extension("551d11", TPM_NAME, true)],
    ...more,
  });

export interface SoftTpmDevice {
  readonly ek: KeyObject;
  readonly ekCertificate: Buffer;
  readonly ekChain: readonly Buffer[];
  readonly ak: SoftKey;
  readonly key: SoftKey;
}

export function softTpmDevice(vendor: SoftVendor, kind: SoftEkKind = "p256"): SoftTpmDevice {
  const ek = softEk(kind);
  return {
    ek,
    ekCertificate: ekCertificate(vendor, ek).der,
    ekChain: [vendor.issuing.der],
    ak: softAk(),
    key: softDeviceKey(),
  };
}

export interface BeginResponse {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
}

export async function postJson(address: string, body: unknown): Promise<BeginResponse> {
  const answer = await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return {
    status: answer.status,
    body: (await answer.json()) as Record<string, unknown>,
    headers: answer.headers,
  };
}

export const beginBody = ({ ekCertificate, ekChain, ak }: SoftTpmDevice, code: string) => ({
  code,
  ek_certificate: ekCertificate.toString("base64"),
  ek_chain: ekChain.map((der) => der.toString("base64")),
  ak_public: ak.tpm2b.toString("base64"),
});

export interface PendingEnrolment {
  readonly challengeId: string;
  readonly nonce: Buffer;
  readonly secret: Buffer;
}

/** The activated credential of an honest TPM for the response of `begin`. */
export function activated(
  { ek, ak }: SoftTpmDevice,
  body: Readonly<Record<string, unknown>>,
): PendingEnrolment {
  const bytes = (name: string) => Buffer.from(String(body[name]), "base64");
  const credential = { credentialBlob: bytes("credential_blob"), encryptedSecret: bytes("encrypted_secret") };
  const secret = activateCredential(ek, ak.name, credential);
  return { challengeId: String(body["challenge_id"]), nonce: bytes("nonce"), secret };
}

/** Defects of an enrolment. */
export interface EnrolmentDefects {
  /** Whose request it is. */
  readonly csrKey?: KeyObject;
  readonly keyPublic?: Buffer;
  /** Whose attestation it is. */
  readonly signer?: SoftKey;
  /** What is certified. */
  readonly name?: Buffer;
  readonly extraData?: Buffer;
  readonly type?: "certify" | "quote" | "creation";
  /** The attestation is changed before it is signed. */
  readonly forge?: (attest: Buffer) => Buffer;
}

export async function completeBody(
  { ak, key }: SoftTpmDevice,
  orgId: string,
  { challengeId, nonce, secret }: PendingEnrolment,
  defects: EnrolmentDefects = {},
) {
  const csr = await makeKeyCsr(defects.csrKey ?? key.privateKey);
  const { attest, signature } = certify(defects.signer ?? ak, {
    name: defects.name ?? key.name,
    extraData: defects.extraData ?? enrolmentQualifyingData(orgId, challengeId, nonce, csr),
    ...(defects.type ? { type: defects.type } : {}),
    ...(defects.forge ? { forge: defects.forge } : {}),
  });
  return {
    challenge_id: challengeId,
    secret: secret.toString("base64"),
    csr: csr.toString("base64"),
    key_public: (defects.keyPublic ?? key.tpm2b).toString("base64"),
    attest: attest.toString("base64"),
    signature: signature.toString("base64"),
  };
}
