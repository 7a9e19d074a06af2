import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { after, before, describe, test } from "node:test";
import {
  AK_ATTRIBUTES,
  activateCredential,
  DEVICE_KEY_ATTRIBUTES,
  type SoftKey,
  softAk,
  softDeviceKey,
  softEk,
} from "@signet/protocol/testing/soft-tpm";
import { newEcKey } from "@signet/protocol/testing/test-certificate";
import { keyAttributes } from "@signet/protocol/tpm/public-area";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import {
  activated,
  beginBody,
  completeBody,
  type EnrolmentDefects,
  type SoftTpmDevice,
  softTpmDevice,
} from "../../../testing/fakes/soft-tpm-device.ts";
import { refused, type TpmFixture, tpmFixture } from "../../../testing/fixtures/tpm-fixture.ts";

const { fixedTpm, decrypt, restricted } = keyAttributes;
const mine = (attributes: number) => softAk({ attributes });
const unusableAks: ReadonlyArray<readonly [what: string, ak: SoftKey, error: string]> = [
  ["not restricted", mine(AK_ATTRIBUTES & ~restricted), "ak_attributes"],
  ["not fixed to the TPM", mine(AK_ATTRIBUTES & ~fixedTpm), "ak_attributes"],
  ["one that decrypts too", mine(AK_ATTRIBUTES | decrypt), "ak_attributes"],
  ["no scheme", softAk({ scheme: null }), "ak_alg"],
  ["an RSA key of 1024 bits", softAk({ kind: "rsa", bits: 1024 }), "ak_alg"],
];
const another = softDeviceKey();
const weak = (attributes: number) => {
  const key = softDeviceKey({ attributes });
  return { key, defects: { keyPublic: key.tpm2b, name: key.name, csrKey: key.privateKey } };
};
const attacks: ReadonlyArray<
  readonly [what: string, defects: EnrolmentDefects, status: number, error: string]
> = [
  ["a swapped CSR key", { csrKey: newEcKey() }, 403, "csr_key_mismatch"],
  ["certify of another key", { name: another.name }, 403, "attest_name"],
  ["another key than is certified", { keyPublic: another.tpm2b }, 403, "attest_name"],
  ["signed by another AK", { signer: softAk() }, 403, "attest_signature"],
  ["a quote in place of certify", { type: "quote" }, 403, "attest_type"],
  [
    "what no TPM made",
    { forge: (made) => Buffer.concat([Buffer.alloc(4), made.subarray(4)]) },
    403,
    "attest_type",
  ],
  ["what is cut off", { forge: (made) => made.subarray(0, -1) }, 403, "attest_type"],
  ["a stale nonce", { extraData: createHash("sha256").update("another").digest() }, 403, "attest_nonce"],
  ["the constant of tpm2_certify", { extraData: Buffer.from("00ff55aa", "hex") }, 403, "attest_nonce"],
  ["no nonce", { extraData: Buffer.alloc(0) }, 403, "attest_nonce"],
  ["an exportable key", weak(DEVICE_KEY_ATTRIBUTES & ~fixedTpm).defects, 403, "key_attributes"],
  ["a restricted key", weak(DEVICE_KEY_ATTRIBUTES | restricted).defects, 403, "key_attributes"],
  ["a key that decrypts", weak(DEVICE_KEY_ATTRIBUTES | decrypt).defects, 403, "key_attributes"],
  ["no TPM2B", { keyPublic: Buffer.from("nonsense") }, 400, "invalid_request"],
];
describe("forged evidence in TPM enrolment", () => {
  forEachDatabase(({ fresh }) => {
    let fixture: TpmFixture;
    before(async () => {
      fixture = await tpmFixture(await fresh());
    });
    after(() => fixture.close());

    test("rejects unrestricted and weak attestation keys", async () => {
      const code = await fixture.newCode();
      for (const [what, ak, error] of unusableAks)
        refused(await fixture.begin({ ...softTpmDevice(fixture.vendor), ak }, code), 400, error, what);
      const sha1 = Buffer.from(softAk().tpm2b);
      sha1.writeUInt16BE(0x0004, 16);
      const body = { ...beginBody(softTpmDevice(fixture.vendor), code), ak_public: sha1.toString("base64") };
      refused(await fixture.call("begin", body), 400, "ak_alg", "SHA-1");
    });

    test("checks the secret before any other evidence", async () => {
      const device = softTpmDevice(fixture.vendor);
      const code = await fixture.newCode();
      // A forged AK in a file, with attributes that lie, under the certificate of somebody's real TPM.
      const forged: SoftTpmDevice = { ...device, ak: softAk(), key: softDeviceKey() };
      const { body } = await fixture.begin(forged, code);
      assert.throws(() => activated({ ...forged, ek: softEk("p256") }, body), "wrong EK");
      const wrong = {
        challengeId: String(body["challenge_id"]),
        nonce: Buffer.from(String(body["nonce"]), "base64"),
      };
      const sent = await completeBody(forged, fixture.orgId, { ...wrong, secret: randomBytes(32) });
      const nonsense = { ...sent, csr: "no request", attest: "AA==", signature: "AA==" };
      refused(await fixture.call("complete", nonsense), 403, "secret_mismatch", "before all else");
      refused(await fixture.call("complete", sent), 404, "challenge_not_found", "one shot");
      assert.equal((await fixture.enrol(device, code)).status, 201, "the code is not used up");
    });

    test("the TPM releases the secret only for the named attestation key", async () => {
      const device = softTpmDevice(fixture.vendor);
      const { body } = await fixture.begin(device, await fixture.newCode());
      const bytes = (member: string) => Buffer.from(String(body[member]), "base64");
      const credential = {
        credentialBlob: bytes("credential_blob"),
        encryptedSecret: bytes("encrypted_secret"),
      };
      assert.throws(() => activateCredential(device.ek, softAk().name, credential), /INTEGRITY/);
    });

    test("rejects every forged attestation with its error code, and leaves the code usable", async () => {
      const device = softTpmDevice(fixture.vendor);
      const code = await fixture.newCode();
      for (const [what, defects, status, error] of attacks)
        refused(await fixture.enrol(device, code, defects), status, error, what);
      assert.equal((await fixture.enrol(device, code)).status, 201);
      const events = await listAuditEvents(fixture.running.service.database.query, fixture.orgId, 200);
      const told = events.filter(({ action }) => action === "device-attestation.refused");
      for (const [, , , error] of attacks)
        assert.ok(
          told.some(({ details }) => details?.["error"] === error),
          error,
        );
    });

    test("rejects a CSR without proof of possession", async () => {
      const device = softTpmDevice(fixture.vendor);
      const code = await fixture.newCode();
      const sent = await fixture.answer(device, code);
      const csr = Buffer.from(sent.csr, "base64");
      csr[csr.length - 1] = (csr.at(-1) ?? 0) ^ 1;
      refused(await fixture.call("complete", { ...sent, csr: csr.toString("base64") }), 400, "csr_signature");
    });
  });
});
