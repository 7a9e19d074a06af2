import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { softAk, softDeviceKey } from "@signet/protocol/testing/soft-tpm";
import { tpmAlg } from "@signet/protocol/tpm/algorithms";
import { findDevice } from "../../../core/devices/devices.store.ts";
import { revokeDevice } from "../../../core/devices/revoke-device.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { beginBody, completeBody, postJson, softTpmDevice } from "../../../testing/fakes/soft-tpm-device.ts";
import { refused, type TpmFixture, tpmFixture } from "../../../testing/fixtures/tpm-fixture.ts";
import { CHALLENGE_MS } from "./tpm-enrolment.ts";

describe("enrolment with a TPM", () => {
  forEachDatabase(({ fresh }) => {
    let fixture: TpmFixture;
    before(async () => {
      fixture = await tpmFixture(await fresh());
    });
    after(() => fixture.close());

    for (const kind of ["rsa2048", "p256", "p384"] as const)
      test(`enrols a device with a ${kind} endorsement key as attested`, async () => {
        const device = softTpmDevice(fixture.vendor, kind);
        const told = await fixture.enrol(device, await fixture.newCode({ name: "Till" }));
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
            fixture.running.service.database.query,
            fixture.orgId,
            String(told.body["device_id"]),
          )) ?? assert.fail("no device");
        assert.equal(found.attestation, "tpm");
        assert.equal(found.akPublic, device.ak.area.bytes.toString("base64"));
        assert.notEqual(found.ekHash, null);
        assert.equal(orgId, fixture.orgId);
      });

    test("accepts all usual attestation keys, Certify and CertifyCreation", async () => {
      for (const ak of [
        softAk({ curve: "P-384", scheme: { alg: tpmAlg.ecdsa, hash: "sha384" }, nameAlg: "sha384" }),
        softAk({ kind: "rsa" }),
        softAk({ kind: "rsa", scheme: { alg: tpmAlg.rsaPss, hash: "sha256" } }),
      ]) {
        const device = { ...softTpmDevice(fixture.vendor), ak };
        const told = await fixture.enrol(device, await fixture.newCode(), { type: "creation" });
        assert.equal(told.status, 201, JSON.stringify(told.body));
      }
      const withRsaKey = { ...softTpmDevice(fixture.vendor), key: softDeviceKey({ kind: "rsa" }) };
      assert.equal((await fixture.enrol(withRsaKey, await fixture.newCode())).status, 201);
    });

    test("refuses TPM enrolment when disabled, and requires it when required", async () => {
      const device = softTpmDevice(fixture.vendor);
      const code = await fixture.newCode();
      await fixture.settings({ deviceAttestation: "none" });
      refused(await fixture.begin(device, code), 403, "attestation_disabled");
      assert.equal(
        (await fixture.begin(device, await fixture.newCode({ attestation: "required" }))).status,
        200,
        "a code tightens",
      );
      await fixture.settings({ deviceAttestation: "optional" });
      const late = await fixture.answer(device, code);
      await fixture.settings({ deviceAttestation: "none" });
      refused(await fixture.call("complete", late), 403, "attestation_disabled");
      await fixture.settings({ deviceAttestation: "optional" });
      const required = await fixture.newCode({ attestation: "required" });
      const { csr } = await fixture.answer(device, required);
      const downgraded = await postJson(`${fixture.org.issuer}/devices/enroll`, { code: required, csr });
      refused(downgraded, 403, "attestation_required", "the TPM's part left out");
      assert.equal((await fixture.enrol(device, required)).status, 201);
    });

    test("a TPM is one active device; it can return after a revocation or replacement", async () => {
      const device = softTpmDevice(fixture.vendor);
      const first = await fixture.enrol(device, await fixture.newCode());
      assert.equal(first.status, 201);
      const [one, other] = [await fixture.newCode(), await fixture.newCode()];
      const again = () => ({ ...device, ak: softAk(), key: softDeviceKey() });
      refused(await fixture.begin(again(), one), 409, "ek_already_enrolled");
      const replaces = String(first.body["device_id"]);
      const second = await fixture.enrol(again(), await fixture.newCode({ replaces }));
      assert.equal(second.status, 201, "in its place");
      const { orgId } = fixture;
      const ended = {
        orgId,
        deviceId: String(second.body["device_id"]),
        reason: "unspecified",
        actor: "test",
      } as const;
      await revokeDevice(fixture.running.service, ended);
      // Two that began while the TPM was free: the second is told at its end.
      const [left, right] = [again(), again()];
      const [leftBegun, rightBegun] = [await fixture.begun(left, one), await fixture.begun(right, other)];
      const told = await Promise.all([
        fixture.call("complete", await completeBody(left, orgId, leftBegun)),
        fixture.call("complete", await completeBody(right, orgId, rightBegun)),
      ]);
      assert.deepEqual(told.map(({ status }) => status).sort(), [201, 409]);
      refused(told.find(({ status }) => status === 409) ?? assert.fail(), 409, "ek_already_enrolled");
    });

    test("a key is enrolled once, even by the same TPM", async () => {
      const device = softTpmDevice(fixture.vendor);
      const first = await fixture.enrol(device, await fixture.newCode());
      const replaces = String(first.body["device_id"]);
      const code = await fixture.newCode({ replaces });
      refused(await fixture.enrol({ ...device, ak: softAk() }, code), 409, "key_already_enrolled");
      assert.equal(
        (await fixture.enrol({ ...device, key: softDeviceKey() }, code)).status,
        201,
        "nothing had changed",
      );
    });

    test("a challenge is used once, before it expires, in its organisation", async () => {
      const device = softTpmDevice(fixture.vendor);
      const code = await fixture.newCode();
      const elsewhere = await fixture.anotherOrganisation("Other");
      const sent = await fixture.answer(device, code);
      refused(
        await fixture.call("complete", sent, elsewhere),
        404,
        "challenge_not_found",
        "another organisation",
      );
      refused(await fixture.begin(device, code, elsewhere), 401, "invalid_code", "its code there");
      assert.equal((await fixture.call("complete", sent)).status, 201);
      refused(await fixture.call("complete", sent), 404, "challenge_not_found", "again");
      const late = { ...softTpmDevice(fixture.vendor) };
      const lateSent = await fixture.answer(late, await fixture.newCode());
      fixture.clock.advance(CHALLENGE_MS);
      refused(await fixture.call("complete", lateSent), 410, "challenge_expired");
      refused(await fixture.call("complete", lateSent), 404, "challenge_not_found", "after its end");
      refused(await fixture.call("complete", { ...sent, challenge_id: "none" }), 404, "challenge_not_found");
    });

    test("the first of two challenges of a code wins, and a third replaces the oldest", async () => {
      const [first, second] = [softTpmDevice(fixture.vendor), softTpmDevice(fixture.vendor)];
      const code = await fixture.newCode();
      const { orgId } = fixture;
      const [one, two] = [await fixture.begun(first, code), await fixture.begun(second, code)];
      assert.equal((await fixture.call("complete", await completeBody(second, orgId, two))).status, 201);
      const late = { ...(await completeBody(first, orgId, one)), csr: "no request" };
      refused(await fixture.call("complete", late), 401, "invalid_code", "before the rest is parsed");
      const next = await fixture.newCode();
      const oldest = await fixture.begun(first, next);
      fixture.clock.advance(1);
      await fixture.begun(first, next);
      fixture.clock.advance(1);
      const newest = await fixture.begun(first, next);
      refused(
        await fixture.call("complete", await completeBody(first, orgId, oldest)),
        404,
        "challenge_not_found",
      );
      assert.equal((await fixture.call("complete", await completeBody(first, orgId, newest))).status, 201);
    });

    test("of simultaneous answers to the challenges of one code, one enrols", async () => {
      const device = softTpmDevice(fixture.vendor);
      const { orgId } = fixture;
      const sent = await fixture.answer(device, await fixture.newCode());
      const told = await Promise.all(Array.from({ length: 10 }, () => fixture.call("complete", sent)));
      assert.equal(told.filter(({ status }) => status === 201).length, 1);
      for (const one of told.filter(({ status }) => status !== 201)) refused(one, 404, "challenge_not_found");
      const code = await fixture.newCode();
      const devices = [softTpmDevice(fixture.vendor), softTpmDevice(fixture.vendor)] as const;
      const bodies = [
        await completeBody(devices[0], orgId, await fixture.begun(devices[0], code)),
        await completeBody(devices[1], orgId, await fixture.begun(devices[1], code)),
      ];
      const race = await Promise.all(bodies.map((body) => fixture.call("complete", body)));
      assert.deepEqual(race.map(({ status }) => status).sort(), [201, 401]);
    });

    test("validates members before anything else", async () => {
      const device = softTpmDevice(fixture.vendor);
      const body = beginBody(device, "no code at all");
      const { ak_public: _, ...withoutAk } = body;
      for (const wrong of [
        { ...body, more: 1 },
        withoutAk,
        { ...body, ek_chain: Array(5).fill("AA==") },
        [],
        "x",
      ])
        refused(await fixture.call("begin", wrong), 400, "invalid_request");
      refused(await fixture.call("begin", body), 401, "invalid_code", "the code before the rest is parsed");
      refused(
        await fixture.call("begin", { ...body, ek_certificate: "%", ak_public: "%" }),
        401,
        "invalid_code",
      );
      const code = await fixture.newCode();
      for (const member of ["ek_certificate", "ak_public"])
        refused(
          await fixture.call("begin", { ...beginBody(device, code), [member]: "not base64!" }),
          400,
          "invalid_request",
        );
      const sent = await fixture.answer(device, code);
      const { attest: __, ...withoutAttest } = sent;
      refused(await fixture.call("complete", withoutAttest), 400, "invalid_request");
      refused(await fixture.call("complete", { ...sent, x: 1 }), 400, "invalid_request");
      assert.equal((await fixture.call("complete", sent)).status, 201, "neither used up the challenge");
      assert.equal(
        (await fixture.call("begin", { ...body, ek_certificate: "A".repeat(40_000) })).status,
        413,
      );
    });
  });
});
