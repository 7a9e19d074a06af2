import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { findConnection } from "../../../core/connections/connections.store.ts";
import { insertIdentity } from "../../../core/connections/sign-in/linked-identities.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { idpMetadata, newSamlKey, SAML_ISSUER } from "../../../testing/fakes/hostile-saml-provider.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const [first, second, weak] = [newSamlKey(), newSamlKey(), newSamlKey(1_024)];
const byHand = {
  ...{ entityId: SAML_ISSUER, ssoUrl: "https://idp.example/sso" },
  certificates: [first.certificate],
};

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let api: ApiClient;
  let site: Server;
  let served: { status: number; body: string };
  let metadataUrl: string;
  before(async () => {
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), env });
    org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, ["signet:connections:write"]);
    site = createServer((_, response) => void response.writeHead(served.status).end(served.body));
    site.listen(0, "127.0.0.1");
    await once(site, "listening");
    metadataUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}/metadata`;
  });
  after(async () => {
    site.close();
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  let names = 0;
  const post = (saml: object, more: object = {}) =>
    api.call("POST", "/connections", { body: { kind: "saml", name: `SAML ${names++}`, saml, ...more } });
  const patch = (id: unknown, saml: object | null) =>
    api.call("PATCH", `/connections/${String(id)}`, { body: { saml } });
  const made = async (saml: object) => {
    const { status, body } = await post(saml);
    assert.equal(status, 201, JSON.stringify(body));
    return body as Record<string, unknown> & { saml: Record<string, unknown> };
  };
  const faultOf = ({ status, body }: Awaited<ReturnType<typeof post>>) => {
    assert.equal(status, 422, JSON.stringify(body));
    return (body["errors"] as Array<{ path: string }>)[0]?.path;
  };

  test("by hand, by metadata and by its URL the provider is the same, and is told what to register", async () => {
    served = { status: 200, body: idpMetadata([first.certificate]) };
    const own = { subjectAttribute: null, allowIdpInitiated: false };
    const known = { ...byHand, ...own, sloUrl: "https://idp.example/slo" };
    const { id, ...record } = await made({ ...byHand, sloUrl: known.sloUrl });
    assert.deepEqual(record.saml, { ...known, metadataUrl: null });
    const base = `${running.baseUrl}/oauth/${org.organisation.id}/connections/${String(id)}`;
    const { acsUri, spEntityId, oidc, callbackUri } = record;
    assert.deepEqual(
      [acsUri, spEntityId, oidc, callbackUri],
      [`${base}/saml/acs`, `${base}/saml/metadata`, undefined, undefined],
    );
    assert.deepEqual((await made({ metadataXml: served.body })).saml, { ...known, metadataUrl: null });
    assert.deepEqual((await made({ metadataUrl })).saml, { ...known, metadataUrl });
    const { body } = await api.call("GET", `/connections/${String(id)}`);
    assert.deepEqual(body, { id, ...record });
  });

  test("its key is its own, sealed, and its metadata has the certificate alone", async () => {
    const stored = async ({ id }: Record<string, unknown>) => {
      const key = { orgId: org.organisation.id, id: String(id) };
      return findConnection(running.service.database.query, key);
    };
    const [one, other] = [await made(byHand), await made(byHand)];
    const secrets = await Promise.all([one, other].map(async (record) => (await stored(record))?.secret));
    assert.equal(new Set(secrets).size, 2);
    const { body, headers, status } = await testBrowser().get(String(one["spEntityId"]));
    assert.deepEqual(
      [status, headers.get("content-type")?.split(";")[0]],
      [200, "application/samlmetadata+xml"],
    );
    assert.match(body, new RegExp(`entityID="${String(one["spEntityId"])}"`));
    assert.doesNotMatch(body, /PRIVATE/);
    assert.equal((await testBrowser().get(String(one["spEntityId"]))).body, body);
    const oidc = { issuer: "https://idp.example", clientId: "signet", clientSecret: "their secret" };
    const { body: another } = await api.call("POST", "/connections", {
      body: { kind: "oidc", name: "OIDC", oidc },
    });
    const none = String(one["spEntityId"]).replace(String(one["id"]), String(another["id"]));
    for (const address of [none, none.replace("saml/metadata", "finish")])
      assert.equal((await testBrowser().get(address)).status, 404);
    assert.equal((await testBrowser().post(none.replace("metadata", "acs"), {})).status, 404);
  });

  test("each fault is told at its member", async () => {
    const metadata = idpMetadata([first.certificate]);
    const wrong: ReadonlyArray<readonly [object, string]> = [
      [{}, "/saml/entityId"],
      [{ ...byHand, entityId: "with space" }, "/saml/entityId"],
      [{ ...byHand, ssoUrl: "http://idp.example" }, "/saml/ssoUrl"],
      [{ ...byHand, ssoUrl: "https://u:p@idp.example" }, "/saml/ssoUrl"],
      [{ ...byHand, sloUrl: "javascript:1" }, "/saml/sloUrl"],
      [{ ...byHand, certificates: [] }, "/saml/certificates"],
      [{ ...byHand, certificates: ["none"] }, "/saml/certificates/0"],
      [{ ...byHand, certificates: [first.certificate, weak.certificate] }, "/saml/certificates/1"],
      [{ ...byHand, metadataXml: metadata }, "/saml/entityId"],
      [{ metadataUrl, metadataXml: metadata }, "/saml/metadataXml"],
      [{ metadataXml: `<!DOCTYPE x>${metadata.slice(21)}` }, "/saml/metadataXml"],
      [
        {
          metadataXml: metadata.replace(
            'HTTP-Redirect" Location="https://idp.example/sso',
            'SOAP" Location="x',
          ),
        },
        "/saml/metadataXml",
      ],
      [
        {
          metadataXml: metadata.replace(
            "<md:IDPSSODescriptor",
            '<md:IDPSSODescriptor validUntil="2020-01-01T00:00:00Z"',
          ),
        },
        "/saml/metadataXml",
      ],
      [
        { metadataXml: metadata.replace("https://idp.example/sso", "http://idp.example/sso") },
        "/saml/ssoUrl",
      ],
      [{ metadataXml: idpMetadata([]) }, "/saml/certificates"],
      [{ metadataUrl: "https://10.0.0.1/metadata" }, "/saml/metadataUrl"],
    ];
    const before = (await api.call("GET", "/connections?limit=200")).body["items"];
    for (const [saml, path] of wrong)
      assert.equal(faultOf(await post(saml)), path, JSON.stringify(saml).slice(0, 200));
    for (const [status, body] of [
      [404, metadata],
      [200, "none"],
      [200, "x".repeat(300_000)],
      [302, ""],
    ] as const) {
      served = { status, body };
      assert.equal(faultOf(await post({ metadataUrl })), "/saml/metadataUrl");
    }
    assert.equal(faultOf(await post(byHand, { preset: "github" })), "/preset");
    assert.equal(faultOf(await post(byHand, { oidc: { issuer: "https://x.example" } })), "/oidc");
    assert.deepEqual((await api.call("GET", "/connections?limit=200")).body["items"], before);
  });

  test("where metadata wants its answers is kept with its address for logouts, and checked", async () => {
    const published = (answers: string) =>
      idpMetadata([first.certificate]).replace('slo"/>', `slo" ResponseLocation="${answers}"/>`);
    const answersOf = (body: Record<string, unknown>) =>
      (body["saml"] as Record<string, unknown>)["sloResponseUrl"];
    const { id, ...record } = await made({ metadataXml: published("https://idp.example/answers") });
    assert.equal(answersOf(record), "https://idp.example/answers");
    assert.equal(
      answersOf((await patch(id, { subjectAttribute: "uid" })).body),
      "https://idp.example/answers",
    );
    assert.equal(
      answersOf((await patch(id, { sloUrl: "https://idp.example/slo" })).body),
      "https://idp.example/answers",
    );
    assert.equal(answersOf((await patch(id, { sloUrl: "https://idp.example/elsewhere" })).body), undefined);
    await patch(id, { metadataXml: published("https://idp.example/others") });
    const plain = await patch(id, { metadataXml: idpMetadata([first.certificate]) });
    assert.equal(answersOf(plain.body), undefined);
    assert.equal(faultOf(await post({ metadataXml: published("javascript:1") })), "/saml/sloResponseUrl");
  });

  test("a change is of its own members, of new metadata, or by hand; people who are linked keep their provider", async () => {
    served = { status: 200, body: idpMetadata([first.certificate]) };
    const { id } = await made({ metadataUrl });
    const own = await patch(id, { subjectAttribute: "uid", allowIdpInitiated: true });
    const saml = own.body["saml"] as Record<string, unknown>;
    assert.deepEqual(
      [saml["subjectAttribute"], saml["allowIdpInitiated"], saml["metadataUrl"]],
      ["uid", true, metadataUrl],
    );
    assert.equal(faultOf(await patch(id, { ssoUrl: "https://idp.example/other" })), "/saml/metadataUrl");
    served = { status: 200, body: idpMetadata([second.certificate], { entityId: "https://moved.example" }) };
    const fetched = (await patch(id, { metadataUrl })).body["saml"] as Record<string, unknown>;
    assert.deepEqual(
      [fetched["entityId"], fetched["certificates"], fetched["subjectAttribute"]],
      ["https://moved.example", [second.certificate], "uid"],
    );
    const hand = await patch(id, { metadataUrl: null, ssoUrl: "https://idp.example/other", sloUrl: null });
    const typed = hand.body["saml"] as Record<string, unknown>;
    assert.deepEqual(
      [typed["metadataUrl"], typed["ssoUrl"], typed["sloUrl"]],
      [null, "https://idp.example/other", null],
    );
    const identity = {
      orgId: org.organisation.id,
      connectionId: String(id),
      subject: "ada",
      userId: org.user.id,
    };
    await insertIdentity(running.service.database.query, { ...identity, createdAt: 1, lastSignInAt: 1 });
    assert.equal((await patch(id, { certificates: [second.certificate] })).status, 403);
    api = await makeApiClient(running.service, org, ["signet:connections:write", "signet:users:write"]);
    const both = [first.certificate, second.certificate];
    assert.equal((await patch(id, { certificates: both })).status, 200, "who may change users may");
    assert.equal(
      faultOf(await patch(id, { metadataUrl: null, entityId: "https://third.example" })),
      "/saml/entityId",
    );
    assert.equal(faultOf(await patch(id, null)), "/saml/entityId");
  });
});
