/** The device CA's public addresses as outside programs use them: openssl, and whoever sends what it likes. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { revokeDevice } from "../../../core/devices/revoke-device.ts";
import { setOrganisationStatus } from "../../../core/organisations/organisations.ts";
import type { Service } from "../../../modules/open-service.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import {
  type EnrolledDevice,
  enrolledDevice,
  renewedDevice,
} from "../../../testing/fixtures/enrolled-device.ts";
import { type Openssl, openssl } from "../../../testing/openssl.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const DAY = 86_400_000;
const OCSP_REQUEST = "application/ocsp-request";
/** OCSPResponse of the one status that has nothing else. */
const MALFORMED = "30030a0101";

forEachDatabase(({ name, fresh }) => {
  let running: TestService;
  let service: Service;
  let clock: FakeClock;
  let acme: TestOrganisation;
  let twin: TestOrganisation;
  let ssl: Openssl;
  before(async () => {
    clock = fakeClock();
    ssl = await openssl();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    service = running.service;
    acme = await makeOrganisation(service);
    twin = await makeOrganisation(service, "Twin");
  });
  after(async () => {
    await running.close();
    await ssl.remove();
    assert.deepEqual(running.errors, []);
  });

  const get = (path: string, headers: Record<string, string> = {}, org = acme) =>
    fetch(`${org.issuer}/devices/${path}`, { headers });
  const decodeBase64 = async (answer: Response) => Buffer.from(await answer.arrayBuffer());
  const post = (body: Buffer, type = OCSP_REQUEST, org = acme) =>
    fetch(`${org.issuer}/devices/ocsp`, { method: "POST", body, headers: { "content-type": type } });
  const device = (org = acme) => enrolledDevice(service, org.organisation.id);
  const revoke = ({ orgId, id }: EnrolledDevice) =>
    revokeDevice(service, { orgId, deviceId: id, reason: "keyCompromise", actor: "test" });
  const write = async (name: string, org: TestOrganisation) =>
    ssl.write(name, await decodeBase64(await get("ca.pem", {}, org)));
  /** What openssl makes of the running server's answer. */
  const status = async (one: EnrolledDevice, more: { org?: TestOrganisation; args?: string[] } = {}) => {
    const { org = acme, args = [] } = more;
    await ssl.write("device.pem", one.certificate);
    const trust = ["-issuer", "@ca.pem", "-CAfile", "@ca.pem"];
    const { text } = await ssl(
      "ocsp",
      ...trust,
      ...args,
      "-cert",
      "@device.pem",
      "-url",
      `${org.issuer}/devices/ocsp`,
    );
    return text;
  };

  test("ca.pem has every generation, newest first, and must be revalidated", async () => {
    const answer = await get("ca.pem");
    const pem = await answer.text();
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("content-type"), "application/x-pem-file");
    assert.equal(answer.headers.get("cache-control"), "no-cache");
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
    const etag = answer.headers.get("etag") ?? "";
    const again = await get("ca.pem", { "if-none-match": etag });
    assert.deepEqual([again.status, again.headers.get("etag"), await again.text()], [304, etag, ""]);
    const head = await fetch(`${acme.issuer}/devices/ca.pem`, { method: "HEAD" });
    assert.deepEqual([head.status, head.headers.get("etag")], [200, etag]);
    const org = await makeOrganisation(service, "Rotating");
    const first = await (await get("ca.pem", {}, org)).text();
    await service.deviceCa.rotate({ orgId: org.organisation.id, actor: "test" });
    const both = await (await get("ca.pem", {}, org)).text();
    assert.ok(both.endsWith(first) && both.length > first.length);
    assert.ok(!both.includes(pem));
  });

  test("ca.crl is the CRL of the named or newest generation, readable by openssl", async () => {
    const org = await makeOrganisation(service, "Lists");
    const { id: orgId } = org.organisation;
    const one = await device(org);
    await service.deviceCa.rotate({ orgId, actor: "test" });
    const issuerIn = async (path: string) => {
      const answer = await get(path, {}, org);
      assert.deepEqual([answer.status, answer.headers.get("content-type")], [200, "application/pkix-crl"]);
      assert.equal(answer.headers.get("cache-control"), "no-cache");
      await ssl.write("list.crl", await decodeBase64(answer));
      await write("ca.pem", org);
      const { text } = await ssl(
        "crl",
        "-inform",
        "DER",
        "-in",
        "@list.crl",
        "-noout",
        "-issuer",
        "-CAfile",
        "@ca.pem",
      );
      assert.match(text, /verify OK/);
      return /CN = (.*)/.exec(text)?.[1];
    };
    assert.equal(await issuerIn("ca.crl"), "Device CA 2");
    assert.equal(await issuerIn("ca.crl?generation=2"), "Device CA 2");
    assert.equal(await issuerIn("ca.crl?generation=1"), "Device CA 1");
    await ssl.write("device.pem", one.certificate);
    const { text } = await ssl("x509", "-in", "@device.pem", "-noout", "-ext", "crlDistributionPoints");
    const named = /URI:(\S+)/.exec(text)?.[1] ?? "";
    assert.equal(named, `${org.issuer}/devices/ca.crl?generation=1`);
    const before = await fetch(named);
    const etag = before.headers.get("etag") ?? "";
    assert.equal((await fetch(named, { headers: { "if-none-match": etag } })).status, 304);
    await revoke(one);
    const after = await fetch(named, { headers: { "if-none-match": etag } });
    assert.equal(after.status, 200, "at once");
    assert.ok((await decodeBase64(after)).length > (await decodeBase64(before)).length);
  });

  test("answers 404 for unknown and 400 for malformed requests", async () => {
    const told = async (answer: Response) => [
      answer.status,
      ((await answer.json()) as { error: string }).error,
    ];
    for (const path of ["ca.crl?generation=3", "ca.crl?generation=999999999"])
      assert.deepEqual(await told(await get(path)), [404, "not_found"], path);
    for (const query of [
      "generation=0",
      "generation=-1",
      "generation=1e3",
      "generation=1&generation=1",
      "generation=%ff",
    ])
      assert.deepEqual(await told(await get(`ca.crl?${query}`)), [400, "invalid_request"], query);
    const gone = await makeOrganisation(service, "Gone");
    const { id: orgId } = gone.organisation;
    await setOrganisationStatus(service, { orgId, disabled: true, actor: "test" });
    const stranger = { ...gone, issuer: `${running.baseUrl}/oauth/01998d6e-0000-7000-8000-000000000000` };
    for (const org of [gone, stranger, { ...gone, issuer: `${running.baseUrl}/oauth/nonsense` }]) {
      for (const path of ["ca.pem", "ca.crl", "ocsp/MAA="])
        assert.deepEqual(await told(await get(path, {}, org)), [404, "not_found"], path);
      assert.deepEqual(await told(await post(Buffer.from("3000", "hex"), OCSP_REQUEST, org)), [
        404,
        "not_found",
      ]);
    }
  });

  test("openssl ocsp: good, revoked with time and reason, superseded after the overlap, unknown", async () => {
    await write("ca.pem", acme);
    const one = await device();
    for (const args of [[], ["-sha256"], ["-no_nonce"]]) {
      const text = await status(one, { args });
      assert.match(text, /Response verify OK.*: good\n.*This Update: [^\n]*\n.*Next Update/s, args.join());
      assert.doesNotMatch(text, /WARNING|Nonce Verify error/, args.join());
    }
    await revoke(one);
    assert.match(
      await status(one),
      /Response verify OK.*: revoked\n.*Reason: keyCompromise\n.*Revocation Time: /s,
    );
    const unheardOf = await service.deviceCa.issue({
      orgId: acme.organisation.id,
      deviceId: one.id,
      spki: randomKey(),
      attestation: "none",
    });
    assert.match(await status({ ...one, certificate: unheardOf.pem }), /Response verify OK.*: unknown\n/s);
    clock.advance(-DAY);
    const renewing = await device();
    const renewed = await renewedDevice(service, renewing);
    clock.advance(DAY - 1);
    assert.match(await status(renewing), /: good\n/);
    clock.advance(1);
    assert.match(await status(renewing), /: revoked\n.*Reason: superseded\n/s);
    assert.match(await status(renewed), /: good\n/);
  });

  test("another organisation's certificate is unknown, and its responses don't verify", async () => {
    await write("ca.pem", twin);
    const theirs = await device(twin);
    assert.match(await status(theirs, { org: twin }), /Response verify OK.*: good\n/s);
    assert.match(await status(theirs, { org: acme }), /Response Verify Failure.*: unknown\n/s);
    await write("ca.pem", acme);
    assert.match(await status(theirs, { org: acme }), /: unknown\n/);
    const mine = await device();
    assert.doesNotMatch(await status(mine, { org: twin }), /verify OK|: good/);
  });

  test("each generation responds for its own certificates", async () => {
    const org = await makeOrganisation(service, "Mixed");
    const old = await device(org);
    await ssl.write("old.pem", await decodeBase64(await get("ca.pem", {}, org)));
    const made = await service.deviceCa.rotate({ orgId: org.organisation.id, actor: "test" });
    await ssl.write("new.pem", made.certificatePem);
    await write("both.pem", org);
    const young = await device(org);
    const ask = async (...args: string[]) =>
      (await ssl("ocsp", "-CAfile", "@both.pem", ...args, "-url", `${org.issuer}/devices/ocsp`)).text;
    await ssl.write("a.pem", old.certificate);
    await ssl.write("b.pem", young.certificate);
    assert.match(await ask("-issuer", "@old.pem", "-cert", "@a.pem"), /verify OK.*: good/s);
    assert.match(await ask("-issuer", "@new.pem", "-cert", "@b.pem"), /verify OK.*: good/s);
    const mixed = await ask(
      "-issuer",
      "@old.pem",
      "-cert",
      "@a.pem",
      "-issuer",
      "@new.pem",
      "-cert",
      "@b.pem",
    );
    assert.deepEqual(
      [...mixed.matchAll(/: (good|unknown)\n/g)].map(([, one]) => one),
      ["unknown", "good"],
    );
  });

  test("GET and POST get the same OCSP response, not cached", async () => {
    await write("ca.pem", acme);
    const one = await device();
    await ssl.write("device.pem", one.certificate);
    await ssl("ocsp", "-issuer", "@ca.pem", "-sha256", "-cert", "@device.pem", "-reqout", "@request.der");
    const request = await ssl.read("request.der");
    const inAddress = await get(`ocsp/${encodeURIComponent(request.toString("base64"))}`);
    for (const answer of [inAddress, await get(`ocsp/${request.toString("base64")}`), await post(request)]) {
      assert.deepEqual(
        [answer.status, answer.headers.get("content-type")],
        [200, "application/ocsp-response"],
      );
      assert.equal(answer.headers.get("cache-control"), "no-store");
      await ssl.write("answer.der", await decodeBase64(answer));
      const args = [
        "-issuer",
        "@ca.pem",
        "-CAfile",
        "@ca.pem",
        "-sha256",
        "-no_nonce",
        "-respin",
        "@answer.der",
      ];
      const { text } = await ssl("ocsp", ...args, "-cert", "@device.pem");
      assert.match(text, /Response verify OK.*: good/s);
      const asked = await ssl("ocsp", "-reqin", "@request.der", "-req_text");
      const told = await ssl("ocsp", "-respin", "@answer.der", "-noverify", "-resp_text");
      const nonce = /OCSP Nonce: \n +([0-9A-F]{36})\n/;
      assert.equal(nonce.exec(told.text)?.[1], nonce.exec(asked.text)?.[1] ?? "none");
    }
    for (const path of ["ocsp/", "ocsp/!", "ocsp/MAA"])
      assert.equal((await decodeBase64(await get(path))).toString("hex"), MALFORMED, path);
  });

  test("a malformed request gets an OCSP error, an oversized or mistyped one an HTTP status", async () => {
    const malformed = async (body: Buffer) => {
      const answer = await post(body);
      assert.deepEqual(
        [answer.status, answer.headers.get("content-type")],
        [200, "application/ocsp-response"],
      );
      assert.equal((await decodeBase64(answer)).toString("hex"), MALFORMED);
    };
    for (const body of [Buffer.alloc(0), Buffer.from("{}"), Buffer.from("3000", "hex"), randomBytes(500)])
      await malformed(body);
    assert.equal((await post(Buffer.alloc(8 * 1024 + 1, 0x30))).status, 413);
    for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded"])
      assert.equal((await post(Buffer.from("3000", "hex"), type)).status, 415, type);
    const enroll = { method: "POST", body: "{}", headers: { "content-type": OCSP_REQUEST } };
    assert.equal((await fetch(`${acme.issuer}/devices/enroll`, enroll)).status, 415);
  });

  if (name === "sqlite")
    test("every flipped bit of a request gets an OCSP response without a good status", async () => {
      await write("ca.pem", acme);
      await ssl.write("device.pem", (await device()).certificate);
      await ssl("ocsp", "-issuer", "@ca.pem", "-cert", "@device.pem", "-no_nonce", "-reqout", "@request.der");
      const request = await ssl.read("request.der");
      const every = process.env["SIGNET_TEST_WHOLE"] === "1" ? 1 : 13;
      for (let bit = 0; bit < request.length * 8; bit += every) {
        const mutated = Buffer.from(request);
        mutated[bit >> 3] = (mutated[bit >> 3] ?? 0) ^ (0x80 >> (bit & 7));
        const answer = await post(mutated);
        assert.deepEqual(
          [answer.status, answer.headers.get("content-type")],
          [200, "application/ocsp-response"],
        );
        const told = await decodeBase64(answer);
        // good [0] stands between the certificate's number and the time.
        const isGood = told.includes(Buffer.from("8000180f", "hex"));
        assert.equal(isGood, false, `bit ${bit}`);
      }
    });
});

const randomKey = () => Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), randomBytes(32)]);
