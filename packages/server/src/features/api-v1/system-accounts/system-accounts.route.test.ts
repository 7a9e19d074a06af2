import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../../../testing/fixtures/system-account.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let api: ApiClient;
  let administrating: ApiClient;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, ["signet:applications:write"]);
    administrating = await makeApiClient(running.service, org, [
      ...(["signet:applications:write", "signet:organisation:write"] as const),
    ]);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const applicationId = () => org.web.application.id;
  const make = (more: object = {}, by = api) =>
    by.call("POST", "/system-accounts", {
      body: { name: "Import", applicationId: applicationId(), ...more },
    });
  const readUser = (key: Pick<TestAccount, "publicKey" | "secret">) =>
    callApi(`${running.baseUrl}/legacy/api/users/get`, key, { body: { email: org.user.email } });
  const keyOf = ({ publicKey, secretKey }: Record<string, unknown>) => ({
    publicKey: String(publicKey),
    secret: String(secretKey),
  });

  test("an account is made, signs requests with its secret key, and is shut out and ended", async () => {
    const made = await make({ requireStrictSignature: false });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const path = `/system-accounts/${made.body["id"]}`;
    assert.ok(made.headers.get("location")?.endsWith(path));
    assert.match(String(made.body["secretKey"]), /^sgn_sa_[\w-]{43}$/);
    const { body, headers } = await api.call("GET", path);
    const { secretKey: _, publicKey, ...record } = made.body;
    assert.deepEqual(body, record);
    assert.deepEqual(
      [body["administrator"], body["enabled"], body["permissions"], body["lastUsedAt"]],
      [false, true, [], null],
    );
    assert.equal((body["keys"] as Array<{ id: string }>)[0]?.id, publicKey);
    assert.equal(headers.get("etag"), made.headers.get("etag"));
    const key = keyOf(made.body);
    assert.equal((await readUser(key)).status, 200);
    await running.service.systemAccounts.flush();
    const used = await api.call("GET", path);
    assert.notEqual(used.body["lastUsedAt"], null);
    assert.equal(used.headers.get("etag"), headers.get("etag"), "use changes no tag");
    const change = (sent: object) => api.call("PATCH", path, { body: sent });
    assert.equal((await change({ enabled: false })).body["enabled"], false);
    assert.equal((await readUser(key)).status, 401);
    const changed = await change({ enabled: null, requireStrictSignature: true, name: "Export" });
    assert.deepEqual(
      [changed.body["enabled"], changed.body["requireStrictSignature"], changed.body["name"]],
      [true, true, "Export"],
    );
    assert.equal((await readUser(key)).status, 401, "the plain form");
    assert.equal((await change({ requireStrictSignature: null })).status, 200);
    assert.equal((await readUser(key)).status, 200);
    assert.equal((await api.call("DELETE", path)).status, 204);
    assert.equal((await readUser(key)).status, 401);
    assert.equal((await api.call("GET", path)).status, 404);
  });

  test("an account that is made disabled is", async () => {
    const { body } = await make({ enabled: false });
    assert.equal(body["enabled"], false);
    assert.equal((await readUser(keyOf(body))).status, 401);
  });

  test("an administrator's account is made, changed, given keys and ended with signet:organisation:write", async () => {
    const refused = await make({ administrator: true });
    assert.deepEqual([refused.status, refused.body["type"]], [403, "urn:signet:error:exceeds-caller"]);
    const { status, body } = await make({ administrator: true }, administrating);
    assert.deepEqual([status, body["administrator"]], [201, true]);
    const path = `/system-accounts/${body["id"]}`;
    const [key] = body["keys"] as Array<{ id: string }>;
    const other = (await makeClient(running.service, org.organisation, {})).application.id;
    const calls = [
      ["PATCH", path, { name: "Mine" }],
      ["POST", `${path}/keys`, {}],
      ["PUT", `${path}/permissions/${other}`],
      ["DELETE", `${path}/permissions/${other}`],
      ["DELETE", `${path}/keys/${key?.id}`],
      ["DELETE", path],
    ] as const;
    for (const [method, at, sent] of calls) {
      const answer = await api.call(method, at, sent && { body: sent });
      assert.deepEqual([answer.status, answer.body["type"]], [403, "urn:signet:error:exceeds-caller"], at);
    }
    assert.deepEqual((await api.call("GET", path)).body["permissions"], []);
    for (const [method, at, sent] of calls)
      assert.ok(
        (await administrating.call(method, at, sent && { body: sent })).status < 300,
        `${method} ${at}`,
      );
    assert.equal((await api.call("GET", path)).status, 404);
  });

  test("keys come beside the others, and end alone", async () => {
    const { body } = await make();
    const path = `/system-accounts/${body["id"]}`;
    const first = keyOf(body);
    const added = await api.call("POST", `${path}/keys`, { body: { label: "autumn", expiresAt: null } });
    assert.equal(added.status, 201, JSON.stringify(added.body));
    assert.deepEqual([added.body["label"], added.body["id"]], ["autumn", added.body["publicKey"]]);
    const second = keyOf(added.body);
    for (const key of [first, second]) assert.equal((await readUser(key)).status, 200);
    assert.equal((await api.call("DELETE", `${path}/keys/${first.publicKey}`)).status, 204);
    assert.deepEqual([(await readUser(first)).status, (await readUser(second)).status], [401, 200]);
    const third = await api.call("POST", `${path}/keys`, { body: { expireOthersInSeconds: 0 } });
    assert.equal(third.body["label"], null);
    assert.deepEqual(
      [(await readUser(second)).status, (await readUser(keyOf(third.body))).status],
      [401, 200],
    );
    const neighbour = await makeSystemAccount(running.service, org);
    assert.equal((await api.call("DELETE", `${path}/keys/${neighbour.publicKey}`)).status, 404);
    assert.ok(!JSON.stringify((await api.call("GET", path)).body).includes("sgn_sa_"));
  });

  test("an account acts for another application while it is permitted to", async () => {
    const { body } = await make();
    const path = `/system-accounts/${body["id"]}`;
    const other = (await makeClient(running.service, org.organisation, {})).application.id;
    const ask = () =>
      callApi(`${running.baseUrl}/legacy/api/Authentication/User/Login/${other}`, keyOf(body), {
        body: { Email: org.user.email, Password: org.user.password },
      });
    const permission = `${path}/permissions/${other}`;
    assert.equal((await ask()).status, 401);
    assert.equal((await api.call("DELETE", permission)).status, 404);
    for (let time = 0; time < 2; time++) assert.equal((await api.call("PUT", permission)).status, 204);
    assert.equal((await ask()).status, 200);
    assert.deepEqual((await api.call("GET", path)).body["permissions"], [other]);
    assert.equal((await api.call("DELETE", permission)).status, 204);
    assert.equal((await ask()).status, 401);
    const own = await api.call("DELETE", `${path}/permissions/${applicationId()}`);
    assert.deepEqual([own.status, own.body["type"]], [409, "urn:signet:error:implied-permission"]);
  });

  test("a change is held against the entity tag, and a repeated request shows no secret key", async () => {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const body = { name: "Once", applicationId: applicationId() };
    const [first, again] = [
      await api.call("POST", "/system-accounts", { body, headers }),
      await api.call("POST", "/system-accounts", { body, headers }),
    ];
    assert.deepEqual(
      [again.status, again.body["id"], again.body["secretKey"]],
      [201, first.body["id"], null],
    );
    const path = `/system-accounts/${first.body["id"]}`;
    const etag = String(first.headers.get("etag"));
    const change = (tag: string) =>
      api.call("PATCH", path, { body: { name: "Twice" }, headers: { "if-match": tag } });
    assert.equal((await change(etag)).status, 200);
    assert.equal((await change(etag)).status, 412);
    const stale = await api.call("DELETE", path, { headers: { "if-match": etag } });
    assert.deepEqual([stale.status, stale.body["type"]], [412, "urn:signet:error:stale"]);
  });

  test("lists are filtered and sorted, and hold the organisation's own accounts alone", async () => {
    const other = await makeOrganisation(running.service, "Beta");
    await makeSystemAccount(running.service, other);
    const its = await makeApiClient(running.service, other, ["signet:applications:read"]);
    assert.equal(((await its.call("GET", "/system-accounts")).body["items"] as unknown[]).length, 1);
    const named = `Listed ${crypto.randomUUID()}`;
    for (const letter of ["b", "a", "c"])
      await make({ name: `${named} ${letter}`, administrator: letter === "c" }, administrating);
    const names = async (query: string) => {
      const { status, body } = await api.call("GET", `/system-accounts?${query}`);
      assert.equal(status, 200, JSON.stringify(body));
      return (body["items"] as Array<{ name: string }>).map(({ name }) => name.at(-1)).join("");
    };
    const filter = (more = "") => `filter=${encodeURIComponent(`name sw "${named}"${more}`)}`;
    assert.equal(await names(`${filter()}&sort=-name`), "cba");
    assert.equal(await names(`${filter(" and administrator eq true")}`), "c");
    assert.equal(await names(`${filter(' and enabled eq true and not (name ew "c")')}`), "ba");
    const page = await api.call("GET", `/system-accounts?${filter()}&limit=2&total=true`);
    assert.equal(page.body["total"], 3);
    assert.equal(await names(`${filter()}&limit=2&cursor=${page.body["nextCursor"]}`), "c");
  });

  test("the audit log tells each act as the client's", async () => {
    const { body } = await make();
    const path = `/system-accounts/${body["id"]}`;
    const { body: key } = await api.call("POST", `${path}/keys`, { body: {} });
    await api.call("DELETE", `${path}/keys/${key["publicKey"]}`);
    await api.call("PATCH", path, { body: { enabled: false } });
    await api.call("DELETE", path);
    const told = await listAuditEvents(running.service.database.query, org.organisation.id, 100);
    const own = told.filter(({ target }) => target === body["id"]).reverse();
    assert.deepEqual(
      own.map(({ action }) => action.replace("system-account.", "")),
      ["created", "key-created", "key-revoked", "disabled", "deleted"],
    );
    assert.ok(own.every(({ actor }) => actor === `client:${api.application.id}`));
    assert.ok(!JSON.stringify(told).includes("sgn_sa_"));
  });
});
