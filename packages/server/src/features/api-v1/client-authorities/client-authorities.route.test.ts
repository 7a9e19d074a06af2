import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sha256Base64url } from "@signet/protocol/hash";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { MAX_CLIENT_AUTHORITIES } from "../../../core/client-authorities/client-authority.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../../../testing/fixtures/system-account.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const PATH = "/client-certificate-authorities";
const ca = (more: object = {}) => testCertificate({ subject: "Partner", isCa: true, ...more });

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let api: ApiClient;
  let account: TestAccount;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, ["signet:applications:write"]);
    account = await makeSystemAccount(running.service, org, { administrator: true });
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const create = (body: object, by = api) => by.call("POST", PATH, { body });
  const faultsOf = ({ body }: { body: Record<string, unknown> }) =>
    (body["errors"] as Array<{ path: string }> | undefined)?.map(({ path }) => path);

  test("a record is the same by both APIs, and changes by either", async () => {
    const { pem, der } = ca();
    const made = await create({ name: "Partner CA", certificate: `  ${pem}\n` });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { id, subject, fingerprint, certificate, enabled } = made.body;
    assert.deepEqual(
      [subject, fingerprint, certificate, enabled],
      ["CN=Partner", sha256Base64url(der), pem, true],
    );
    const url = `${running.baseUrl}/legacy/api/oauth${PATH}/${id}`;
    const signed = await callApi(url, account);
    assert.deepEqual(signed.body, made.body);
    const other = ca();
    const body = { ...signed.body, name: "Renamed", certificate: other.pem, enabled: false };
    const etag = signed.headers.get("etag") ?? "";
    const replace = () =>
      callApi(url, account, { method: "PUT", body, headers: { "if-match": etag }, strictAt: clock() });
    const replaced = await replace();
    assert.equal(replaced.status, 200, replaced.text);
    assert.equal((await replace()).status, 412);
    const read = await api.call("GET", `${PATH}/${id}`);
    assert.deepEqual(
      [read.body["name"], read.body["enabled"], read.body["fingerprint"]],
      ["Renamed", false, sha256Base64url(other.der)],
    );
    const changed = await api.call("PATCH", `${PATH}/${id}`, { body: { enabled: null } });
    assert.deepEqual([changed.body["enabled"], changed.body["name"]], [true, "Renamed"]);
    assert.equal((await api.call("DELETE", `${PATH}/${id}`)).status, 204);
    assert.equal((await callApi(url, account)).status, 404);
  });

  test("refuses what can be no authority, by the member", async () => {
    const hour = 3_600_000;
    const generations = await running.service.deviceCa.generations(org.organisation.id);
    const texts = [
      ...["x", testCertificate({ subject: "Leaf" }).pem, ca().pem + ca().pem],
      ca({ keyUsage: [0] }).pem,
      ca({ validTo: new Date(Date.now() - hour / 2) }).pem,
      ca({ validFrom: new Date(Date.now() + hour) }).pem,
      generations[0]?.certificatePem ?? "",
    ];
    for (const certificate of texts) {
      const answer = await create({ name: "Partner", certificate });
      assert.deepEqual([answer.status, faultsOf(answer)], [422, ["/certificate"]], certificate.slice(0, 40));
    }
    const named = await create({ name: " ", certificate: ca().pem });
    assert.deepEqual([named.status, faultsOf(named)], [422, ["/name"]]);
    assert.deepEqual((await api.call("GET", PATH)).body["items"], []);
  });

  test("a certificate is there once in an organisation, and their number is bounded", async () => {
    const there = await makeOrganisation(running.service, "Elsewhere");
    const client = await makeApiClient(running.service, there, ["signet:applications:write"]);
    const { pem } = ca();
    const first = await create({ name: "One", certificate: pem }, client);
    assert.equal((await create({ name: "Two", certificate: pem }, client)).status, 409);
    assert.equal((await create({ name: "Here", certificate: pem })).status, 201, "another organisation");
    const second = await create({ name: "Two", certificate: ca().pem }, client);
    const path = `${PATH}/${second.body["id"]}`;
    assert.equal((await client.call("PATCH", path, { body: { certificate: pem } })).status, 409);
    assert.equal((await api.call("DELETE", `${PATH}/${first.body["id"]}`)).status, 404);
    const rest = Array.from({ length: MAX_CLIENT_AUTHORITIES - 2 }, () => ca().pem);
    for (const certificate of rest)
      assert.equal((await create({ name: "More", certificate }, client)).status, 201);
    assert.equal((await create({ name: "Over", certificate: ca().pem }, client)).status, 409);
  });

  test("an expired authority can still be renamed and disabled, not replaced by another expired one", async () => {
    const validTo = new Date(clock() + 3_600_000);
    const made = await create({ name: "Soon", certificate: ca({ validTo }).pem });
    clock.advance(7_200_000);
    const path = `${PATH}/${made.body["id"]}`;
    const late = await makeApiClient(running.service, org, ["signet:applications:write"]);
    const change = (body: object) => late.call("PATCH", path, { body });
    assert.equal((await change({ name: "Gone", certificate: made.body["certificate"] })).status, 200);
    assert.equal((await change({ enabled: false })).body["enabled"], false);
    assert.equal((await change({ certificate: ca({ validTo }).pem })).status, 422);
    clock.advance(-7_200_000);
  });

  test("whoever adds one must hold what the clients with a registered name may ask for", async () => {
    const own = await makeOrganisation(running.service, "Careful");
    const weak = await makeApiClient(running.service, own, ["signet:applications:write"]);
    const strong = await makeApiClient(running.service, own, [
      "signet:applications:write",
      "signet:users:write",
    ]);
    const before = await create({ name: "Before", certificate: ca().pem }, weak);
    assert.equal(before.status, 201);
    await makeClient(running.service, own.organisation, {
      ...{ tokenEndpointAuthMethod: "tls_client_auth", tlsClientAuthSanDns: "bank.example" },
      ...{ grantTypes: ["client_credentials"], allowedScopes: ["signet:users:write"] },
    });
    const path = `${PATH}/${before.body["id"]}`;
    const change = (by: ApiClient, body: object) => by.call("PATCH", path, { body });
    for (const answer of [
      await create({ name: "More", certificate: ca().pem }, weak),
      await change(weak, { certificate: ca().pem }),
      await change(weak, { enabled: true }),
      await change(weak, { enabled: null }),
    ]) {
      assert.equal(answer.status, 403);
      assert.equal(answer.body["type"], "urn:signet:error:exceeds-caller");
    }
    assert.equal((await change(weak, { enabled: false })).status, 200);
    assert.equal((await change(strong, { enabled: true })).status, 200);
    assert.equal((await create({ name: "More", certificate: ca().pem }, strong)).status, 201);
  });
});
