/** Trusts by both APIs: the record, its defaults, what is refused, what a caller must hold, and what goes with it. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../core/audit/audit.store.ts";
import { MAX_TRUSTS } from "../../core/trusts/trust.ts";
import { listTrusts } from "../../core/trusts/trusts.store.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type ApiClient, makeApiClient } from "../../testing/fixtures/api-client.ts";
import {
  type ApiRequest,
  callApi,
  makeSystemAccount,
  type TestAccount,
} from "../../testing/fixtures/system-account.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const issuer = "https://token.actions.githubusercontent.com";
const subjectPattern = "repo:acme/site:ref:refs/heads/main";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let admin: TestAccount;
  let api: ApiClient;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    admin = await makeSystemAccount(running.service, org, { administrator: true });
    api = await makeApiClient(running.service, org, ["signet:applications:write"]);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const legacy = (path: string, asked: ApiRequest = {}) =>
    callApi(`${running.baseUrl}/legacy/api/oauth/trusts${path}`, admin, { strictAt: Date.now(), ...asked });
  const client = (allowedScopes: readonly string[] = ["openid"]) =>
    makeClient(running.service, org.organisation, { grantTypes: ["client_credentials"], allowedScopes });
  const paths = (body: Record<string, unknown>) =>
    (body["errors"] as { path: string }[]).map(({ path }) => path);
  const actions = async () =>
    (await listAuditEvents(running.service.database.query, org.organisation.id, 20)).map(
      ({ action }) => action,
    );

  test("a trust has the contract's members and defaults, and can be sent back as read", async () => {
    const { application } = await client();
    const body = { kind: "workload", issuer, clientId: application.id.toUpperCase(), subjectPattern };
    const made = await legacy("", { body });
    assert.equal(made.status, 201, made.text);
    const { id, createdAt, ...record } = made.body;
    assert.deepEqual(record, {
      ...{
        kind: "workload",
        clientId: application.id,
        issuer,
        jwks: null,
        jwksUri: null,
        audience: org.issuer,
      },
      ...{ subjectPattern, claims: {}, singleUse: true, maxLifetimeSeconds: 3_600, connectionId: null },
      ...{ userBy: "permId", enabled: true },
    });
    assert.ok(typeof id === "string" && typeof createdAt === "string");
    const same = await legacy(`/${id}`, { method: "PUT", body: made.body });
    assert.deepEqual([same.status, same.body], [200, made.body], same.text);
    const changed = {
      issuer,
      clientId: application.id,
      subjectPattern,
      claims: { ref_protected: "true" },
      enabled: false,
    };
    const put = await legacy(`/${id}`, { method: "PUT", body: changed });
    assert.deepEqual([put.status, put.body["claims"], put.body["enabled"]], [200, changed.claims, false]);
    const listed = await legacy("");
    assert.ok((listed.body["items"] as { id: string }[]).some((one) => one.id === id));
    const read = await api.call("GET", `/trusts/${id}`);
    const { updatedAt, ...shown } = read.body;
    assert.deepEqual(shown, put.body);
    const patched = await api.call("PATCH", `/trusts/${id}`, { body: { enabled: null, claims: null } });
    assert.deepEqual([patched.status, patched.body["enabled"], patched.body["claims"]], [200, true, {}]);
    assert.equal((await legacy(`/${id}`, { method: "DELETE" })).status, 204);
    assert.equal((await legacy(`/${id}`)).status, 404);
    assert.deepEqual(
      (await actions()).filter((one) => one.startsWith("trust.")),
      [...["trust.deleted", "trust.changed", "trust.changed", "trust.created"]],
    );
  });

  test("names every member that is wrong, by both APIs", async () => {
    const { application } = await client();
    const good = { kind: "workload", issuer, clientId: application.id, subjectPattern };
    const rows: Array<[change: object, path: string]> = [
      [{ kind: "other" }, "/kind"],
      [{ issuer: "http://issuer.example" }, "/issuer"],
      [{ issuer: "spiffe://example.org" }, "/issuer"],
      [{ issuer: org.issuer }, "/issuer"],
      [{ issuer: "a b" }, "/issuer"],
      [{ subjectPattern: undefined }, "/subjectPattern"],
      ...["*", "repo:*", "repo:acme/*", "repo:acme/site:**", "repo:acme/site:ma*", "repo:acme/site:?"].map(
        (one): [object, string] => [{ subjectPattern: one }, "/subjectPattern"],
      ),
      [{ claims: { ref: "*" } }, "/claims"],
      [{ claims: { ref: "refs/*" } }, "/claims"],
      [{ jwksUri: "http://issuer.example/jwks" }, "/jwksUri"],
      [{ jwks: { keys: [{ kty: "oct", k: "AAAA" }] } }, "/jwks/keys/0"],
      [{ audience: "" }, "/audience"],
      [{ maxLifetimeSeconds: 59 }, "/maxLifetimeSeconds"],
      [{ maxLifetimeSeconds: 86_401 }, "/maxLifetimeSeconds"],
      [{ clientId: undefined }, "/clientId"],
      [{ kind: "software_statement" }, "/clientId"],
      [{ kind: "id_jag", userBy: "connection" }, "/connectionId"],
      [{ kind: "id_jag", audience: "https://other.example" }, "/audience"],
    ];
    for (const [change, path] of rows) {
      const body = { ...good, ...change };
      for (const answer of [await legacy("", { body }), await api.call("POST", "/trusts", { body })]) {
        // An issuer that stands for users needs more than this caller has.
        if (answer.status === 403) continue;
        assert.equal(answer.status, 422, JSON.stringify(change));
        assert.ok(
          paths(answer.body).some((one) => one.startsWith(path)),
          `${path}: ${JSON.stringify(answer.body)}`,
        );
      }
    }
    const other = await makeOrganisation(running.service, "Other");
    const foreign = { ...good, clientId: other.web.application.id };
    assert.equal((await legacy("", { body: foreign })).status, 404);
    assert.equal((await api.call("POST", "/trusts", { body: foreign })).status, 422);
  });

  test("nobody hands out more than they have", async () => {
    const { application } = await client(["signet:users:write"]);
    const body = { kind: "workload", issuer, clientId: application.id, subjectPattern };
    const refused = await api.call("POST", "/trusts", { body });
    assert.deepEqual([refused.status, refused.body["type"]], [403, "urn:signet:error:exceeds-caller"]);
    const both = await makeApiClient(running.service, org, [
      "signet:applications:write",
      "signet:users:write",
    ]);
    const made = await both.call("POST", "/trusts", { body });
    assert.equal(made.status, 201);
    const path = `/trusts/${made.body["id"]}`;
    assert.equal((await api.call("PATCH", path, { body: { subjectPattern: "a" } })).status, 403);
    const users = { kind: "id_jag", issuer: "https://idp.example" };
    assert.equal((await api.call("POST", "/trusts", { body: users })).status, 403);
    const plain = await client();
    const weak = await api.call("POST", "/trusts", { body: { ...body, clientId: plain.application.id } });
    assert.equal(weak.status, 201);
    const raise = { clientId: application.id };
    assert.equal((await api.call("PATCH", `/trusts/${weak.body["id"]}`, { body: raise })).status, 403);
  });

  test("goes with its client, and has a limit", async () => {
    const { application } = await client();
    const body = { kind: "workload", issuer, clientId: application.id, subjectPattern };
    const made = await legacy("", { body });
    const gone = await callApi(`${running.baseUrl}/legacy/api/oauth/clients/${application.id}`, admin, {
      ...{ method: "DELETE", strictAt: Date.now() },
    });
    assert.equal(gone.status, 204, gone.text);
    assert.equal((await legacy(`/${made.body["id"]}`)).status, 404);
    const db = running.service.database.query;
    const statement = { kind: "software_statement", issuer: "https://vendor.example" };
    let left = MAX_TRUSTS - (await listTrusts(db, org.organisation.id)).length;
    for (; left > 0; left--) assert.equal((await legacy("", { body: statement })).status, 201);
    assert.equal((await legacy("", { body: statement })).status, 409);
    assert.equal((await api.call("POST", "/trusts", { body: statement })).status, 409);
  });
});
