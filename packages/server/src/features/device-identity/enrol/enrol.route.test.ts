import assert from "node:assert/strict";
import { createPublicKey, X509Certificate } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { makeKeyCsr } from "@signet/protocol/csr/make-csr";
import { newEcKey } from "@signet/protocol/testing/test-certificate";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { findDevice } from "../../../core/devices/devices.store.ts";
import { presentedDevice } from "../../../core/devices/presented-device.ts";
import { revokeDevice } from "../../../core/devices/revoke-device.ts";
import {
  changeOrganisationSettings,
  setOrganisationStatus,
} from "../../../core/organisations/organisations.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type Answer, postJson } from "../../../testing/fixtures/client.ts";
import { csrOf, enrol, enrolledByCode, newCode } from "../../../testing/fixtures/enrolments.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";
import { withdrawCode } from "../admin/register-device.ts";

const HOUR_MS = 3_600_000;

describe("POST /oauth/{org}/devices/enroll", () => {
  forEachDatabase(({ name, fresh }) => {
    let nodes: TestService[];
    let server: TestService;
    let org: TestOrganisation;
    let other: TestOrganisation;
    const clock = fakeClock();
    const code = (more: Parameters<typeof newCode>[2] = {}) =>
      newCode(server.service, org.organisation.id, more);
    const send = (body: unknown, issuer = org.issuer) => postJson(`${issuer}/devices/enroll`, body);
    const enrolled = ({ status, body }: Answer) => {
      assert.equal(status, 201, JSON.stringify(body));
      return String(body["device_id"]);
    };
    const refused = ({ status, body, headers }: Answer, expected: number, error: string) => {
      assert.deepEqual([status, body["error"]], [expected, error], JSON.stringify(body));
      assert.equal(headers.get("cache-control"), "no-store");
    };

    before(async () => {
      const databaseUrl = await fresh();
      server = await startTestService({ databaseUrl, clock });
      // An SQLite file is one node's.
      const second = { databaseUrl, clock, baseUrl: server.baseUrl };
      nodes = name === "sqlite" ? [server] : [server, await startTestService(second)];
      org = await makeOrganisation(server.service);
      other = await makeOrganisation(server.service, "Beta");
    });
    after(async () => {
      for (const node of nodes.reverse()) await node.close();
    });

    test("enrols a device with a certificate of the organisation's CA", async () => {
      const key = newEcKey();
      const answer = await enrol(org.issuer, await code({ name: " Till 4 " }), key);
      const id = enrolled(answer);
      assert.equal(answer.headers.get("cache-control"), "no-store");
      const { certificate, ca, attestation, not_after } = answer.body;
      assert.equal(attestation, "none");
      const issued = new X509Certificate(String(certificate));
      assert.ok(issued.publicKey.equals(createPublicKey(key)));
      assert.ok(issued.verify(new X509Certificate(String(ca)).publicKey));
      assert.equal(issued.subject, `O=${org.organisation.id}\nCN=${id}`);
      assert.equal(issued.validToDate.getTime() / 1000, not_after);
      const published = await (await fetch(`${org.issuer}/devices/ca.pem`)).text();
      assert.ok(published.includes(String(ca).trim()));
      const { service } = server;
      const found = await presentedDevice(service, org.organisation.id, issued.raw);
      assert.ok(found.kind === "good");
      assert.deepEqual([found.device.id, found.device.name], [id, "Till 4"]);
      const audit = await listAuditEvents(service.database.query, org.organisation.id, 10);
      const event = audit.find(({ target }) => target === id);
      assert.deepEqual([event?.action, event?.actor], ["device.enrolled", `device:${id}`]);
      assert.ok(event?.address?.endsWith("127.0.0.1"));
    });

    test("an unnamed device is named by its id; codes are case-insensitive", async () => {
      const id = enrolled(await enrol(org.issuer, (await code()).toLowerCase().replaceAll("-", "")));
      assert.equal((await findDevice(server.service.database.query, org.organisation.id, id))?.name, id);
    });

    test("unknown, used, withdrawn, expired and foreign codes get the same error", async () => {
      const orgId = org.organisation.id;
      const used = await code();
      enrolled(await enrol(org.issuer, used));
      const withdrawn = await code();
      const codes = await server.service.database.query
        .selectFrom("device_enrollment_code")
        .select("id")
        .where("org_id", "=", orgId)
        .orderBy("id", "desc")
        .limit(1)
        .execute();
      const id = codes[0]?.id ?? "";
      assert.ok(await withdrawCode(server.service, { orgId, id, actor: "test" }));
      assert.ok(!(await withdrawCode(server.service, { orgId, id, actor: "test" })));
      const expired = await code({ expiresInSeconds: 600 });
      const foreign = await newCode(server.service, other.organisation.id);
      clock.advance(600_000);
      const answers = [];
      for (const one of ["00000-00000-00000-00000-00000", "nonsense", used, withdrawn, expired, foreign])
        answers.push(await enrol(org.issuer, one));
      // The code comes before the request is looked at.
      answers.push(await send({ code: used, csr: "nonsense" }));
      for (const answer of answers) refused(answer, 401, "invalid_code");
      assert.equal(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1);
      // At home it is good.
      enrolled(await enrol(other.issuer, foreign));
      clock.advance(61_000);
    });

    test("a code enrols one device, also under concurrent use on several nodes", async () => {
      const shared = await code();
      const issuers = nodes.map(({ baseUrl }) => org.issuer.replace(server.baseUrl, baseUrl));
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, at) => enrol(issuers[at % issuers.length] ?? "", shared)),
      );
      const winners = answers.filter(({ status }) => status === 201);
      assert.equal(winners.length, 1);
      for (const answer of answers) if (answer !== winners[0]) refused(answer, 401, "invalid_code");
      clock.advance(61_000);
    });

    test("a key is enrolled once under concurrent use, and no code is lost", async () => {
      const key = newEcKey();
      const codes = await Promise.all(Array.from({ length: 4 }, () => code()));
      const answers = await Promise.all(codes.map((one) => enrol(org.issuer, one, key)));
      assert.equal(answers.filter(({ status }) => status === 201).length, 1);
      for (const [at, answer] of answers.entries()) {
        if (answer.status === 201) continue;
        refused(answer, 409, "key_already_enrolled");
        enrolled(await enrol(org.issuer, codes[at] ?? ""));
      }
    });

    test("a key is enrolled once per organisation, also after a revocation", async () => {
      const first = await enrolledByCode(server.service, org.issuer);
      const again = await code();
      refused(await enrol(org.issuer, again, first.key), 409, "key_already_enrolled");
      const revocation = { orgId: org.organisation.id, deviceId: first.deviceId, actor: "test" };
      assert.ok(await revokeDevice(server.service, { ...revocation, reason: "unspecified" }));
      refused(await enrol(org.issuer, again, first.key), 409, "key_already_enrolled");
      enrolled(await enrol(other.issuer, await newCode(server.service, other.organisation.id), first.key));
      enrolled(await enrol(org.issuer, again));
    });

    test("an invalid request with a valid code doesn't redeem it or count as a guess", async () => {
      const good = await code();
      const der = await makeKeyCsr(newEcKey());
      for (const [csr, error] of [
        ["nonsense", "csr_malformed"],
        ["A".repeat(16 * 1024 + 1), "csr_too_large"],
        [Buffer.concat([der, der]).toString("base64"), "csr_malformed"],
        [forged(der).toString("base64"), "csr_signature"],
      ] as const)
        for (let time = 0; time < 4; time++) refused(await send({ code: good, csr }), 400, error);
      enrolled(await enrol(org.issuer, good));
    });

    test("rejects every flipped bit of a CSR with its error code, and leaves the code usable", async () => {
      const good = await code();
      const der = await makeKeyCsr(newEcKey());
      for (let bit = 3; bit < der.length * 8; bit += 11) {
        const copy = Buffer.from(der);
        copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const { status, body } = await send({ code: good, csr: copy.toString("base64") });
        assert.equal(status, 400, `bit ${bit}`);
        assert.match(String(body["error"]), /^csr_/, `bit ${bit}`);
      }
      assert.deepEqual(server.errors, []);
      enrolled(await send({ code: good, csr: der.toString("base64") }));
      clock.advance(61_000);
    });

    test("checks members, then the code, then the CSR", async () => {
      const csr = await csrOf(newEcKey());
      const good = await code();
      for (const body of [
        {},
        { code: good },
        { csr },
        { code: good, csr, name: "Till" },
        { code: 1, csr },
        { code: good, csr: [csr] },
        [good, csr],
        "{",
        '{"code":"\\u0000","csr":""}',
        `{"code":"${"0".repeat(101)}","csr":""}`,
      ])
        refused(await send(body), 400, "invalid_request");
      refused(await send({ code: "nonsense", csr: "nonsense" }), 401, "invalid_code");
      refused(await send({ code: good, csr: "A".repeat(33 * 1024) }), 413, "invalid_request");
      const form = await fetch(`${org.issuer}/devices/enroll`, {
        method: "POST",
        body: new URLSearchParams({ code: good, csr }),
      });
      assert.equal(form.status, 415);
      const nowhere = org.issuer.replace(org.organisation.id, "01998d6e-0000-7000-8000-000000000000");
      refused(await send({ code: good, csr }, nowhere), 404, "not_found");
      enrolled(await send({ code: good, csr }));
    });

    test("requires a TPM when the code or the organisation does", async () => {
      const strict = await code({ attestation: "required" });
      refused(await enrol(org.issuer, strict), 403, "attestation_required");
      refused(await enrol(org.issuer, strict), 403, "attestation_required");
      enrolled(await enrol(org.issuer, await code({ attestation: "optional" })));
      const strictOrg = await makeOrganisation(server.service, "Strict");
      await changeOrganisationSettings(server.service, {
        orgId: strictOrg.organisation.id,
        settings: { deviceAttestation: "required" },
        actor: "test",
      });
      // A code cannot loosen it.
      const lax = await newCode(server.service, strictOrg.organisation.id, { attestation: "none" });
      refused(await enrol(strictOrg.issuer, lax), 403, "attestation_required");
    });

    test("enrolment of a replacement revokes the replaced device", async () => {
      const { service } = server;
      const before = await enrolledByCode(service, org.issuer);
      const orgId = org.organisation.id;
      const replacing = await code({ replaces: before.deviceId.toUpperCase() });
      refused(await send({ code: replacing, csr: "nonsense" }), 400, "csr_malformed");
      assert.equal((await presentedDevice(service, orgId, before.der)).kind, "good");
      const id = enrolled(await enrol(org.issuer, replacing));
      const refusal = { kind: "refused", reason: "revoked" };
      assert.deepEqual(await presentedDevice(service, orgId, before.der), refusal);
      const device = await findDevice(service.database.query, orgId, before.deviceId);
      assert.equal(device?.revokedReason, "superseded");
      const audit = await listAuditEvents(service.database.query, orgId, 10);
      const event = audit.find(
        ({ action, target }) => action === "device.revoked" && target === before.deviceId,
      );
      assert.equal(event?.actor, `device:${id}`);
    });

    test("a code can't replace another organisation's device", async () => {
      const { service } = server;
      const foreign = await enrolledByCode(service, other.issuer);
      await assert.rejects(code({ replaces: foreign.deviceId }), { code: "invalid_request" });
      const naming = await code();
      await service.database.query
        .updateTable("device_enrollment_code")
        .set({ replaces: foreign.deviceId })
        .where("org_id", "=", org.organisation.id)
        .where("used_at", "is", null)
        .execute();
      enrolled(await enrol(org.issuer, naming));
      assert.equal((await presentedDevice(service, other.organisation.id, foreign.der)).kind, "good");
    });

    test("limits wrong codes per address, and still accepts a valid one", async () => {
      clock.advance(HOUR_MS);
      const answers = [];
      for (let time = 0; time < 11; time++) answers.push(await enrol(org.issuer, "nonsense"));
      for (const answer of answers.slice(0, 10)) refused(answer, 401, "invalid_code");
      const [last] = answers.slice(10);
      assert.ok(last);
      refused(last, 429, "temporarily_unavailable");
      assert.ok(Number(last.headers.get("retry-after")) > 0);
      enrolled(await enrol(org.issuer, await code()));
      // Another organisation has a count of its own.
      refused(await enrol(other.issuer, "nonsense"), 401, "invalid_code");
      clock.advance(61_000);
      refused(await enrol(org.issuer, "nonsense"), 401, "invalid_code");
    });

    test("a disabled organisation has no device endpoints", async () => {
      const closing = await makeOrganisation(server.service, "Closing");
      const good = await newCode(server.service, closing.organisation.id);
      await setOrganisationStatus(server.service, {
        orgId: closing.organisation.id,
        disabled: true,
        actor: "test",
      });
      refused(await enrol(closing.issuer, good), 404, "not_found");
    });
  });
});

/** The same request with another's signature. */
function forged(der: Buffer): Buffer {
  const copy = Buffer.from(der);
  // The last byte of s.
  copy.writeUInt8((copy.at(-1) ?? 0) ^ 1, copy.length - 1);
  return copy;
}
