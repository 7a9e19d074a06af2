import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { callScim } from "../../../testing/fixtures/scim-connection.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let api: ApiClient;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, [
      ...(["signet:connections:write", "signet:users:write", "signet:groups:write"] as const),
    ]);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  let count = 0;
  const connect = async (name = `Entra ID ${++count}`) => {
    const { status, body } = await api.call("POST", "/connections", { body: { kind: "scim", name } });
    assert.equal(status, 201);
    return { id: String(body["id"]), scimUrl: String(body["scimUrl"]), body };
  };

  test("a directory is connected by the API alone: its address, a token, and what came of its calls", async () => {
    const { id, scimUrl, body } = await connect();
    assert.equal(scimUrl, `${running.baseUrl}/scim/v2/${org.organisation.id}/${id}`);
    assert.deepEqual([body["kind"], body["enabled"], body["deletionPolicy"]], ["scim", true, "disable"]);
    const path = `/connections/${id}`;
    const made = await api.call("POST", `${path}/tokens`, { body: { label: "main", expiresAt: null } });
    assert.equal(made.status, 201);
    const token = String(made.body["token"]);
    assert.match(token, /^sgn_st_[\w-]{43}$/);
    const tokens = await api.call("GET", `${path}/tokens`);
    assert.equal((tokens.body["items"] as unknown[]).length, 1);
    assert.ok(!JSON.stringify(tokens.body).includes(token));
    const user = { userName: "new@acme.example" };
    assert.equal((await callScim("POST", `${scimUrl}/Users`, { token, body: user })).status, 201);
    const calls = await api.call("GET", `${path}/calls`);
    const [last] = calls.body["items"] as Array<Record<string, unknown>>;
    assert.deepEqual([last?.["method"], last?.["path"], last?.["status"]], ["POST", "/Users", 201]);
    assert.equal((await api.call("DELETE", `${path}/tokens/${made.body["id"]}`)).status, 204);
    assert.equal((await callScim("GET", `${scimUrl}/Users`, { token })).status, 401);
  });

  test("a name is taken once, whatever the kind", async () => {
    const { id } = await connect("Names");
    const oidc = { issuer: "https://idp.example", clientId: "signet", clientSecret: "a secret" };
    for (const other of [{ kind: "scim" }, { kind: "oidc", oidc }]) {
      const { status, body } = await api.call("POST", "/connections", { body: { ...other, name: "NAMES" } });
      assert.deepEqual([status, body["type"]], [409, "urn:signet:error:conflict"], JSON.stringify(body));
    }
    const second = await connect("Others");
    const renamed = (one: string, name: string) =>
      api.call("PATCH", `/connections/${one}`, { body: { name } });
    assert.equal((await renamed(second.id, "names")).status, 409);
    assert.equal((await renamed(id, "names")).status, 200);
  });

  test("a token, which writes users and groups, is made by who may write both", async () => {
    const { id } = await connect();
    for (const held of [
      ["signet:users:read", "signet:groups:write"],
      ["signet:users:write", "signet:groups:read"],
    ] as const) {
      const lesser = await makeApiClient(running.service, org, ["signet:connections:write", ...held]);
      const { status, body } = await lesser.call("POST", `/connections/${id}/tokens`, { body: {} });
      assert.deepEqual([status, body["type"]], [403, "urn:signet:error:exceeds-caller"], held.join(" "));
      const tokens = await lesser.call("GET", `/connections/${id}/tokens`);
      assert.deepEqual(tokens.body["items"], []);
    }
  });

  test("there are ten tokens at most, and one that has expired is none", async () => {
    const { id } = await connect();
    for (let count = 0; count < 10; count++)
      assert.equal((await api.call("POST", `/connections/${id}/tokens`, { body: {} })).status, 201);
    assert.equal((await api.call("POST", `/connections/${id}/tokens`, { body: {} })).status, 409);
  });

  test("a change is held against the entity tag, and a deletion leaves the users", async () => {
    const { id, scimUrl } = await connect();
    const { body, headers } = await api.call("GET", `/connections/${id}`);
    const etag = headers.get("etag") ?? "";
    const change = (ifMatch: string) =>
      api.call("PATCH", `/connections/${id}`, {
        body: { deletionPolicy: "delete" },
        headers: { "if-match": ifMatch },
      });
    assert.equal((await change('"other"')).status, 412);
    assert.equal((await change(etag)).body["deletionPolicy"], "delete");
    assert.equal(body["deletionPolicy"], "disable");
    const { body: made } = await api.call("POST", `/connections/${id}/tokens`, { body: {} });
    const token = String(made["token"]);
    const user = { userName: "stays@acme.example" };
    const { body: shown } = await callScim("POST", `${scimUrl}/Users`, { token, body: user });
    assert.equal((await api.call("DELETE", `/connections/${id}`)).status, 204);
    const other = await connect("Okta");
    const { body: second } = await api.call("POST", `/connections/${other.id}/tokens`, { body: {} });
    const answer = await callScim("GET", `${other.scimUrl}/Users/${String(shown["id"])}`, {
      token: String(second["token"]),
    });
    assert.equal(answer.status, 200);
  });

  test("users say which connection provisions them, and are found by it", async () => {
    const { id, scimUrl } = await connect();
    const { body: made } = await api.call("POST", `/connections/${id}/tokens`, { body: {} });
    const user = { userName: "from@acme.example", externalId: "e-7" };
    const { body: shown } = await callScim("POST", `${scimUrl}/Users`, {
      token: String(made["token"]),
      body: user,
    });
    const users = await makeApiClient(running.service, org, ["signet:users:read"]);
    const { body } = await users.call("GET", `/users/${String(shown["id"])}`);
    assert.deepEqual([body["source"], body["connectionId"], body["externalId"]], ["scim", id, "e-7"]);
    for (const filter of ['source eq "scim" and externalId eq "e-7"', `connectionId eq "${id}"`]) {
      const { body: page } = await users.call("GET", `/users?filter=${encodeURIComponent(filter)}`);
      const items = page["items"] as ReadonlyArray<Record<string, unknown>>;
      assert.deepEqual(
        items.map((one) => one["id"]),
        [shown["id"]],
        filter,
      );
      assert.deepEqual(items[0], body);
    }
    const { body: own } = await users.call("GET", `/users/${org.user.id}`);
    assert.deepEqual([own["source"], own["connectionId"], own["externalId"]], ["local", null, null]);
  });

  test("the audit log tells each act, and what the directory did as the connection's own", async () => {
    const { id, scimUrl } = await connect("Audited");
    const { body: made } = await api.call("POST", `/connections/${id}/tokens`, { body: {} });
    const token = String(made["token"]);
    const body = { userName: "audited@acme.example" };
    const { body: user } = await callScim("POST", `${scimUrl}/Users`, { token, body });
    await callScim("DELETE", `${scimUrl}/Users/${String(user["id"])}`, { token });
    await api.call("PATCH", `/connections/${id}`, { body: { name: "Renamed" } });
    await api.call("DELETE", `/connections/${id}/tokens/${String(made["id"])}`);
    await api.call("DELETE", `/connections/${id}`);
    const told = await listAuditEvents(running.service.database.query, org.organisation.id, 100);
    const actions = (of: (event: (typeof told)[number]) => boolean) =>
      told
        .filter(of)
        .map(({ action }) => action)
        .reverse();
    assert.deepEqual(
      actions(({ target }) => target === id),
      [
        "connection.created",
        "connection.token-created",
        "connection.changed",
        "connection.token-revoked",
        "connection.deleted",
      ],
    );
    assert.deepEqual(
      actions(({ actor }) => actor === `connection:${id}`),
      ["user.created", "user.provisioned", "user.disabled", "user.deprovisioned"],
    );
    assert.ok(!JSON.stringify(told).includes(token));
  });
});
