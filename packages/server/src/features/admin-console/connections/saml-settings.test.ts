// The settings of a SAML connection in the console: its metadata read again, replaced, or typed; what can't be is told where it stands.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { findConnection } from "../../../core/connections/connections.store.ts";
import { insertIdentity } from "../../../core/connections/sign-in/linked-identities.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { idpMetadata, newSamlKey, SAML_ISSUER } from "../../../testing/fakes/hostile-saml-provider.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { type ConsoleBrowser, consoleBrowser } from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

const [first, second, weak] = [newSamlKey(), newSamlKey(), newSamlKey(1_024)];

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let here: ConsoleBrowser;
  let site: Server;
  let served: string;
  let asked = 0;
  let metadataUrl: string;
  before(async () => {
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), env });
    org = await seedRecords(running.service, "Acme");
    here = await consoleBrowser(running, org);
    site = createServer((_, response) => {
      asked += 1;
      response.writeHead(served === "" ? 500 : 200).end(served);
    });
    site.listen(0, "127.0.0.1");
    await once(site, "listening");
    metadataUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}/metadata`;
  });
  after(async () => {
    site.close();
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const orgId = () => org.organisation.id;
  const samlOf = async (id: string) =>
    (await findConnection(running.service.database.query, { orgId: orgId(), id }))?.settings?.saml;
  let count = 0;
  const made = async (fields: Record<string, string>) => {
    const name = `SAML ${count++}`;
    const { location = "", body } = await here.send("/connections/new?type=saml", { name, ...fields });
    const [, id = ""] = /connections\/([0-9a-f-]{36})/.exec(location) ?? [];
    assert.notEqual(id, "", body);
    return id;
  };
  const change = (id: string, fields: Record<string, string | undefined>) =>
    here.send(`/connections/${id}/settings`, fields);
  const byXml = (keys = [first], more = {}) =>
    idpMetadata(
      keys.map(({ certificate }) => certificate),
      more,
    );

  test("a typed provider is changed by its members, each with its own fault", async () => {
    const id = await made({ metadataXml: byXml() });
    const page = await here.get(`/connections/${id}/settings`);
    assert.match(page.body, /id="certificates"/);
    assert.doesNotMatch(page.body, /id="metadataAgain"/);
    const changed = await change(id, {
      ...{
        ssoUrl: "https://idp.example/other",
        sloUrl: "",
        subjectAttribute: "uid",
        allowIdpInitiated: "on",
      },
      certificates: `${first.certificate}\n${second.certificate}`,
    });
    assert.equal(changed.status, 303, changed.body);
    assert.deepEqual(await samlOf(id), {
      ...{ metadataUrl: null, entityId: SAML_ISSUER, ssoUrl: "https://idp.example/other", sloUrl: null },
      ...{ certificates: [first.certificate, second.certificate] },
      ...{ subjectAttribute: "uid", allowIdpInitiated: true },
    });
    const faults: ReadonlyArray<readonly [string, string]> = [
      ...([
        ["entityId", "a b"],
        ["ssoUrl", "ftp://idp.example"],
        ["sloUrl", "x"],
      ] as const),
      ...([
        ["certificates", ""],
        ["certificates", "none"],
        ["certificates", weak.certificate],
      ] as const),
      ...([
        ["subjectAttribute", "x".repeat(256)],
        ["metadataXml", "<a/>"],
      ] as const),
    ];
    const before = await samlOf(id);
    for (const [field, value] of faults) {
      const refused = await change(id, { [field]: value });
      assert.equal(refused.status, 400, field);
      assert.match(refused.body, new RegExp(`id="${field}-fault"`), field);
    }
    assert.deepEqual(await samlOf(id), before);
  });

  test("what the provider has to know is there before its metadata is, and is the connection's", async () => {
    const { body } = await here.get("/connections/new?type=saml");
    const [, shown] = /id="acs-uri"[^>]*>[^<]*\/connections\/([0-9a-f-]{36})\/saml\/acs</.exec(body) ?? [];
    assert.match(body, new RegExp(`id="sp-entity-id"[^>]*>[^<]*/connections/${shown}/saml/metadata<`));
    assert.match(body, new RegExp(`name="id" value="${shown}"`));
    assert.equal(await made({ id: shown ?? "", metadataXml: byXml() }), shown);
    const refused = await here.send("/connections/new?type=saml", { name: "Twice", metadataXml: "<a/>" });
    assert.match(refused.body, /id="acs-uri"/);
  });

  test("pasted metadata replaces what is set, and metadata with a fault is told there", async () => {
    const id = await made({ metadataXml: byXml() });
    const weakOne = await change(id, { metadataXml: byXml([weak]) });
    assert.equal(weakOne.status, 400);
    assert.match(weakOne.body, /id="metadataXml-fault"/);
    assert.equal((await change(id, { metadataXml: byXml([second]) })).status, 303);
    assert.deepEqual((await samlOf(id))?.certificates, [second.certificate]);
    assert.equal((await samlOf(id))?.sloUrl, "https://idp.example/slo");
  });

  test("a metadata URL is read when it is set, and again when that is asked for; else it is left alone", async () => {
    served = byXml();
    const id = await made({ metadataUrl });
    asked = 0;
    served = byXml([first, second], { ssoUrl: "https://elsewhere.example/sso" });
    assert.equal((await change(id, { name: "Renamed" })).status, 303);
    assert.equal(asked, 0);
    const page = await here.get(`/connections/${id}/settings`);
    assert.doesNotMatch(page.body, /id="certificates"/);
    assert.equal((await change(id, { metadataAgain: "on" })).status, 303);
    assert.deepEqual([asked, (await samlOf(id))?.ssoUrl], [1, "https://elsewhere.example/sso"]);
    assert.deepEqual((await samlOf(id))?.certificates, [first.certificate, second.certificate]);
    served = "";
    const refused = await change(id, { metadataAgain: "on" });
    assert.equal(refused.status, 400);
    assert.match(refused.body, /id="metadataUrl-fault"/);
    assert.equal((await change(id, { metadataUrl: "" })).status, 303);
    assert.deepEqual([(await samlOf(id))?.metadataUrl, (await samlOf(id))?.entityId], [null, SAML_ISSUER]);
    served = byXml();
    assert.equal((await change(id, { metadataUrl })).status, 303);
    assert.equal((await samlOf(id))?.metadataUrl, metadataUrl);
  });

  test("once somebody signs in by it, it is of that provider alone", async () => {
    served = byXml();
    const [typed, fetched] = [await made({ metadataXml: byXml() }), await made({ metadataUrl })];
    for (const connectionId of [typed, fetched])
      await insertIdentity(running.service.database.query, {
        ...{ orgId: orgId(), connectionId, subject: "s", userId: org.user.id },
        ...{ createdAt: 1, lastSignInAt: 1 },
      });
    served = byXml([first], { entityId: "https://other.example" });
    for (const [id, fields, field] of [
      [typed, { entityId: "https://other.example" }, "entityId"],
      [typed, { metadataXml: served }, "entityId"],
      [fetched, { metadataAgain: "on" }, "metadataUrl"],
    ] as const) {
      const refused = await change(id, fields);
      assert.equal(refused.status, 400);
      assert.match(refused.body, new RegExp(`id="${field}-fault"`));
      assert.equal((await samlOf(id))?.entityId, SAML_ISSUER);
    }
  });

  test("what the provider has to know can be copied, and its logout only where it counts", async () => {
    const id = await made({ metadataXml: byXml() });
    const { body } = await here.get(`/connections/${id}`);
    for (const [element, rest] of [
      ["acs-uri", "acs"],
      ["sp-entity-id", "metadata"],
      ["slo-uri", "slo"],
    ])
      assert.match(
        body,
        new RegExp(`id="${element}"[^>]*>[^<]*/connections/${id}/saml/${rest}`),
        String(element),
      );
    assert.equal((await change(id, { upstreamLogout: undefined })).status, 303);
    assert.doesNotMatch((await here.get(`/connections/${id}`)).body, /id="slo-uri"/);
  });
});
