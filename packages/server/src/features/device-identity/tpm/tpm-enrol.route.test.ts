import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { softAk, softDeviceKey } from "@signet/protocol/testing/soft-tpm";
import { tpmAlg } from "@signet/protocol/tpm/algorithms";
import { findDevice } from "../../../core/devices/devices.store.ts";
import { revokeDevice } from "../../../core/devices/revoke-device.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { beginBody, completeBody, postJson, softTpmDevice } from "../../../testing/fakes/soft-tpm-device.ts";
import { refused, type TpmStage, tpmStage } from "../../../testing/fixtures/tpm-fixture.ts";
import { CHALLENGE_MS } from "./begin-enrolment.ts";

describe("enrolment with a TPM", () => {
  forEachDatabase(({ fresh }) => {
    let stage: TpmStage;
    before(async () => {
      stage = await tpmStage(await fresh());
    });
    after(() => stage.close());

    for (const kind of ["rsa2048", "p256", "p384"] as const)
      test(`enrols a device with a ${kind} endorsement key as attested`, async () => {
        const device = softTpmDevice(stage.vendor, kind);
        const told = await stage.enrol(device, await stage.newCode({ name: "Till" }));
        assert.equal(told.status, 201, JSON.stringify(told.body));
        assert.equal(told.headers.get("cache-control"), "no-store");
        assert.equal(told.body["attestation"], "tpm");
        const { publicKey } = new X509Certificate(String(told.body["certificate"]));
        const own = new X509Certificate(String(told.body["ca"]));
        assert.ok(new X509Certificate(String(told.body["certificate"])).verify(own.publicKey));
        assert.deepEqual(
          publicKey.export({ format: "jwk" }).x,
          device.key.privateKey.export({ format: "jwk" }).x,
        );
        const { orgId, ...found } =
          (await findDevice(
            stage.running.service.database.query,
            stage.orgId,
            String(told.body["device_id"]),
          )) ?? assert.fail("no device");
        assert.equal(found.attestation, "tpm");
        assert.equal(found.akPublic, device.ak.area.bytes.toString("base64"));
        assert.notEqual(found.ekHash, null);
        assert.equal(orgId, stage.orgId);
      });

    test("accepts all usual attestation keys, Certify and CertifyCreation", async () => {
      for (const ak of [
        softAk({ curve: "P-384", scheme: { alg: tpmAlg.ecdsa, hash: "sha384" }, nameAlg: "sha384" }),
        softAk({ kind: "rsa" }),
        softAk({ kind: "rsa", scheme: { alg: tpmAlg.rsaPss, hash: "sha256" } }),
      ]) {
        const device = { ...softTpmDevice(stage.vendor), ak };
        const told = await stage.enrol(device, await stage.newCode(), { type: "creation" });
        assert.equal(told.status, 201, JSON.stringify(told.body));
      }
      const withRsaKey = { ...softTpmDevice(stage.vendor), key: softDeviceKey({ kind: "rsa" }) };
      assert.equal((await stage.enrol(withRsaKey, await stage.newCode())).status, 201);
    });

    test("refuses TPM enrolment when disabled, and requires it when required", async () => {
      const device = softTpmDevice(stage.vendor);
      const code = await stage.newCode();
      await stage.settings({ deviceAttestation: "none" });
      refused(await stage.begin(device, code), 403, "attestation_disabled");
      assert.equal(
        (await stage.begin(device, await stage.newCode({ attestation: "required" }))).status,
        200,
        "a code tightens",
      );
      await stage.settings({ deviceAttestation: "optional" });
      const late = await stage.answer(device, code);
      await stage.settings({ deviceAttestation: "none" });
      refused(await stage.call("complete", late), 403, "attestation_disabled");
      await stage.settings({ deviceAttestation: "optional" });
      const required = await stage.newCode({ attestation: "required" });
      const { csr } = await stage.answer(device, required);
      const downgraded = await postJson(`${stage.org.issuer}/devices/enroll`, { code: required, csr });
      refused(downgraded, 403, "attestation_required", "the TPM's part left out");
      assert.equal((await stage.enrol(device, required)).status, 201);
    });

    test("a TPM is one active device; it can return after a revocation or replacement", async () => {
      const device = softTpmDevice(stage.vendor);
      const first = await stage.enrol(device, await stage.newCode());
      assert.equal(first.status, 201);
      const [one, other] = [await stage.newCode(), await stage.newCode()];
      const again = () => ({ ...device, ak: softAk(), key: softDeviceKey() });
      refused(await stage.begin(again(), one), 409, "ek_already_enrolled");
      const replaces = String(first.body["device_id"]);
      const second = await stage.enrol(again(), await stage.newCode({ replaces }));
      assert.equal(second.status, 201, "in its place");
      const { orgId } = stage;
      const ended = {
        orgId,
        deviceId: String(second.body["device_id"]),
        reason: "unspecified",
        actor: "test",
      } as const;
      await revokeDevice(stage.running.service, ended);
      // Two that began while the TPM was free: the second is told at its end.
      const [left, right] = [again(), again()];
      const [leftBegun, rightBegun] = [await stage.begun(left, one), await stage.begun(right, other)];
      const told = await Promise.all([
        stage.call("complete", await completeBody(left, orgId, leftBegun)),
        stage.call("complete", await completeBody(right, orgId, rightBegun)),
      ]);
      assert.deepEqual(told.map(({ status }) => status).sort(), [201, 409]);
      refused(told.find(({ status }) => status === 409) ?? assert.fail(), 409, "ek_already_enrolled");
    });

    test("a key is enrolled once, even by the same TPM", async () => {
      const device = softTpmDevice(stage.vendor);
      const first = await stage.enrol(device, await stage.newCode());
      const replaces = String(first.body["device_id"]);
      const code = await stage.newCode({ replaces });
      refused(await stage.enrol({ ...device, ak: softAk() }, code), 409, "key_already_enrolled");
      assert.equal(
        (await stage.enrol({ ...device, key: softDeviceKey() }, code)).status,
        201,
        "nothing had changed",
      );
    });

    test("a challenge is used once, before it expires, in its organisation", async () => {
      const device = softTpmDevice(stage.vendor);
      const code = await stage.newCode();
      const elsewhere = await stage.anotherOrganisation("Other");
      const sent = await stage.answer(device, code);
      refused(
        await stage.call("complete", sent, elsewhere),
        404,
        "challenge_not_found",
        "another organisation",
      );
      refused(await stage.begin(device, code, elsewhere), 401, "invalid_code", "its code there");
      assert.equal((await stage.call("complete", sent)).status, 201);
      refused(await stage.call("complete", sent), 404, "challenge_not_found", "again");
      const late = { ...softTpmDevice(stage.vendor) };
      const lateSent = await stage.answer(late, await stage.newCode());
      stage.clock.advance(CHALLENGE_MS);
      refused(await stage.call("complete", lateSent), 410, "challenge_expired");
      refused(await stage.call("complete", lateSent), 404, "challenge_not_found", "after its end");
      refused(await stage.call("complete", { ...sent, challenge_id: "none" }), 404, "challenge_not_found");
    });

    test("the first of two challenges of a code wins, and a third replaces the oldest", async () => {
      const [first, second] = [softTpmDevice(stage.vendor), softTpmDevice(stage.vendor)];
      const code = await stage.newCode();
      const { orgId } = stage;
      const [one, two] = [await stage.begun(first, code), await stage.begun(second, code)];
      assert.equal((await stage.call("complete", await completeBody(second, orgId, two))).status, 201);
      const late = { ...(await completeBody(first, orgId, one)), csr: "no request" };
      refused(await stage.call("complete", late), 401, "invalid_code", "before the rest is parsed");
      const next = await stage.newCode();
      const oldest = await stage.begun(first, next);
      stage.clock.advance(1);
      await stage.begun(first, next);
      stage.clock.advance(1);
      const newest = await stage.begun(first, next);
      refused(
        await stage.call("complete", await completeBody(first, orgId, oldest)),
        404,
        "challenge_not_found",
      );
      assert.equal((await stage.call("complete", await completeBody(first, orgId, newest))).status, 201);
    });

    test("of simultaneous answers to the challenges of one code, one enrols", async () => {
      const device = softTpmDevice(stage.vendor);
      const { orgId } = stage;
      const sent = await stage.answer(device, await stage.newCode());
      const told = await Promise.all(Array.from({ length: 10 }, () => stage.call("complete", sent)));
      assert.equal(told.filter(({ status }) => status === 201).length, 1);
      for (const one of told.filter(({ status }) => status !== 201)) refused(one, 404, "challenge_not_found");
      const code = await stage.newCode();
      const devices = [softTpmDevice(stage.vendor), softTpmDevice(stage.vendor)] as const;
      const bodies = [
        await completeBody(devices[0], orgId, await stage.begun(devices[0], code)),
        await completeBody(devices[1], orgId, await stage.begun(devices[1], code)),
      ];
      const race = await Promise.all(bodies.map((body) => stage.call("complete", body)));
      assert.deepEqual(race.map(({ status }) => status).sort(), [201, 401]);
    });

    test("validates members before anything else", async () => {
      const device = softTpmDevice(stage.vendor);
      const body = beginBody(device, "no code at all");
      const { ak_public: _, ...withoutAk } = body;
      for (const wrong of [
        { ...body, more: 1 },
        withoutAk,
        { ...body, ek_chain: Array(5).fill("AA==") },
        [],
        "x",
      ])
        refused(await stage.call("begin", wrong), 400, "invalid_request");
      refused(await stage.call("begin", body), 401, "invalid_code", "the code before the rest is parsed");
      refused(
        await stage.call("begin", { ...body, ek_certificate: "%", ak_public: "%" }),
        401,
        "invalid_code",
      );
      const code = await stage.newCode();
      for (const member of ["ek_certificate", "ak_public"])
        refused(
          await stage.call("begin", { ...beginBody(device, code), [member]: "not base64!" }),
          400,
          "invalid_request",
        );
      const sent = await stage.answer(device, code);
      const { attest: __, ...withoutAttest } = sent;
      refused(await stage.call("complete", withoutAttest), 400, "invalid_request");
      refused(await stage.call("complete", { ...sent, x: 1 }), 400, "invalid_request");
      assert.equal((await stage.call("complete", sent)).status, 201, "neither used up the challenge");
      assert.equal((await stage.call("begin", { ...body, ek_certificate: "A".repeat(40_000) })).status, 413);
    });
  });
});
