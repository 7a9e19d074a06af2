// New certificates of a SAML identity provider: followed by its metadata, told, and never to another provider.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, test } from "node:test";
import { listAuditEvents } from "../../../../core/audit/audit.store.ts";
import type { Connection } from "../../../../core/connections/connection.ts";
import { findConnection } from "../../../../core/connections/connections.store.ts";
import { listConnectionSignIns } from "../../../../core/connections/sign-in/sign-in-log.store.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import {
  assertionXml,
  honestAnswer,
  idpMetadata,
  newSamlKey,
  responseXml,
  type SamlKey,
  signXml,
} from "../../../../testing/fakes/hostile-saml-provider.ts";
import { MAIL_ENV, mailsTo } from "../../../../testing/fakes/mailbox.ts";
import { logoutOf, logoutXml, nameIdXml, redirectQuery } from "../../../../testing/fakes/saml-logout.ts";
import {
  type AdministeredOrganisation,
  administeredOrganisation,
} from "../../../../testing/fixtures/administered-organisation.ts";
import { samlSignIns } from "../../../../testing/fixtures/saml-sign-in.ts";
import { startTestService, type TestService } from "../../../../testing/test-service.ts";

const [first, second, stranger, weak] = [newSamlKey(), newSamlKey(), newSamlKey(), newSamlKey(1_024)];

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let node: TestService;
  let org: AdministeredOrganisation;
  let clock: FakeClock;
  let saml: ReturnType<typeof samlSignIns>;
  let site: Server;
  let served: { status: number; body: string; headers?: Record<string, string> };
  let asked = 0;
  let metadataUrl: string;
  before(async () => {
    clock = fakeClock();
    const env = { ...MAIL_ENV, SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    const databaseUrl = await fresh();
    running = await startTestService({ databaseUrl, clock, env });
    node = await startTestService({ databaseUrl, clock, env, baseUrl: running.baseUrl });
    org = await administeredOrganisation(running.service, "Rollover");
    saml = samlSignIns({ running, org, clock, key: first });
    site = createServer((_, response) => {
      asked += 1;
      response.writeHead(served.status, served.headers).end(served.body);
    });
    site.listen(0, "127.0.0.1");
    await once(site, "listening");
    metadataUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}/metadata`;
  });
  beforeEach(() => {
    clock.advance(3_600_001);
    asked = 0;
  });
  after(async () => {
    site.close();
    assert.deepEqual([...running.errors, ...node.errors], []);
    await node.close();
    await running.close();
  });

  const connect = (name: string) => saml.connect(name, { saml: { metadataUrl } });
  const publish = (keys: readonly SamlKey[], more: Parameters<typeof idpMetadata>[1] = {}) => {
    const certificates = keys.map(({ certificate }) => certificate);
    served = { status: 200, body: idpMetadata(certificates, more) };
  };
  /** Brought by a browser, to either node. */
  const bring = async (of: Connection, by: SamlKey, at = running) => {
    const started = await saml.start(testBrowser(), of);
    const said = { ...honestAnswer(started, clock()), nameId: of.id };
    return saml.post(started, responseXml(said, signXml(assertionXml(said), by)), at);
  };
  const certificatesOf = async ({ orgId, id }: Connection) =>
    (await findConnection(running.service.database.query, { orgId, id }))?.settings?.saml?.certificates;
  const told = async ({ id }: Connection) =>
    (await listAuditEvents(running.service.database.query, org.organisation.id, 100)).filter(
      ({ action, target }) => action === "connection.keys-changed" && target === id,
    );
  const mailed = async () =>
    (await mailsTo(running.service, org.administrator.email)).filter(
      ({ mail }) => mail.template === "ConnectionKeysChanged",
    ).length;
  const detail = async (of: Connection) => {
    const [last] = await listConnectionSignIns(running.service.database.query, of, { now: clock() });
    return last?.detail;
  };

  test("a key that is in the metadata now is taken with the first message it has signed, and told", async () => {
    const of = await connect("Rotating");
    const mailsBefore = await mailed();
    publish([first, second]);
    assert.equal((await bring(of, first)).status, 303);
    assert.equal(asked, 0, "a key that is known asks nobody");
    assert.equal((await bring(of, second)).status, 303);
    assert.deepEqual(await certificatesOf(of), [first.certificate, second.certificate]);
    const [event, ...others] = await told(of);
    assert.deepEqual([event?.actor, others], ["system", []]);
    assert.equal((event?.details as { added?: string[] } | undefined)?.added?.length, 1);
    assert.equal(await mailed(), mailsBefore + 1);
    assert.equal((await bring(of, second)).status, 303);
    assert.equal((await bring(of, second, node)).status, 303, "the record has it, on every node");
    assert.deepEqual([asked, (await told(of)).length], [1, 1]);
    // The old one has gone there; the one that comes in its place is taken, and the old one no more.
    const third = newSamlKey();
    publish([third]);
    clock.advance(30_000);
    assert.equal((await bring(of, third)).status, 303);
    assert.deepEqual(await certificatesOf(of), [third.certificate]);
    await saml.failsWith(await bring(of, first), "signature-invalid");
    assert.deepEqual([(await told(of)).length, await mailed()], [2, mailsBefore + 1], "mailed once an hour");
  });

  test("a logout by a new key is believed as a sign-in is", async () => {
    const of = await connect("Logout first");
    publish([second]);
    const address = `${running.baseUrl}/oauth/${org.organisation.id}/connections/${of.id}/saml/slo`;
    const said = () => logoutXml(logoutOf(address, clock(), nameIdXml("a")));
    const send = (key?: SamlKey) =>
      testBrowser().get(`${address}?${redirectQuery("SAMLRequest", said(), { key })}`);
    assert.equal((await send()).status, 400);
    assert.equal(asked, 0, "one that is not signed is of no key");
    assert.equal((await send(second)).status, 303);
    assert.deepEqual(await certificatesOf(of), [second.certificate]);
  });

  test("forged messages make the metadata asked for once in thirty seconds, whether or not it answers", async () => {
    const of = await connect("Forged");
    publish([first]);
    const many = async () => {
      const all = await Promise.all(Array.from({ length: 6 }, () => bring(of, stranger)));
      assert.deepEqual(new Set(all.map(({ status }) => status)), new Set([400]));
    };
    await many();
    await many();
    assert.equal(asked, 1);
    clock.advance(30_000);
    served = { status: 500, body: "" };
    await many();
    await many();
    assert.equal(asked, 2);
    assert.match((await detail(of)) ?? "", /the metadata is refused: it was answered with status 500/);
    assert.deepEqual(await certificatesOf(of), [first.certificate]);
    assert.deepEqual(await told(of), []);
    publish([second]);
    assert.equal((await bring(of, second)).status, 400, "not yet");
    clock.advance(30_000);
    const both = await Promise.all([bring(of, second), bring(of, second), bring(of, second, node)]);
    assert.deepEqual(new Set(both.map(({ status }) => status)), new Set([303]), "all that came meanwhile");
    assert.equal((await told(of)).length, 1);
  });

  const others: ReadonlyArray<readonly [string, () => void, RegExp]> = [
    ["another entityID", () => publish([second], { entityId: "https://other.example" }), /another entityID/],
    ["another SSO host", () => publish([second], { ssoUrl: "https://evil.example/sso" }), /another SSO host/],
    ["another port", () => publish([second], { ssoUrl: "https://idp.example:8443/sso" }), /another SSO host/],
    ["an address that is none", () => publish([second], { ssoUrl: "x" }), /another SSO host/],
    ["a weak key", () => publish([weak]), /can't be used/],
    ["too many keys", () => publish(Array.from({ length: 11 }, () => newSamlKey())), /can't be used/],
    ["no XML", () => (served = { status: 200, body: "<a" }), /is refused/],
    ["a redirect", () => (served = { status: 302, body: "", headers: { location: "/metadata" } }), /302/],
    ["too much", () => (served = { status: 200, body: " ".repeat(262_145) }), /can't be fetched/],
  ];
  for (const [name, serve, why] of others)
    test(`metadata with ${name} gives no keys`, async () => {
      const of = await connect(`Metadata with ${name}`);
      serve();
      await saml.failsWith(await bring(of, name === "a weak key" ? weak : second), "signature-invalid");
      assert.match((await detail(of)) ?? "", why);
      assert.equal(asked, 1);
      assert.deepEqual(await certificatesOf(of), [first.certificate]);
    });

  test("keys that were typed are those that were typed", async () => {
    const of = await saml.connect("By hand");
    publish([second]);
    await saml.failsWith(await bring(of, second), "signature-invalid");
    assert.equal(asked, 0);
  });

  test("an address inside is not asked, whoever has set it", async () => {
    const inside = await saml.connect("Inside", { saml: { metadataUrl: "https://10.0.0.1/metadata" } });
    await saml.failsWith(await bring(inside, second), "signature-invalid");
    assert.match((await detail(inside)) ?? "", /can't be fetched/);
  });
});
