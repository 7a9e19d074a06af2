/** Token exchange policies by both APIs: the record, its defaults, what is refused, and what goes with it. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../core/audit/audit.store.ts";
import { MAX_POLICIES } from "../../core/token-exchange/exchange-policy.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type ApiClient, makeApiClient } from "../../testing/fixtures/api-client.ts";
import {
  type ApiRequest,
  callApi,
  makeSystemAccount,
  type TestAccount,
} from "../../testing/fixtures/system-account.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

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
    callApi(`${running.baseUrl}/legacy/api/oauth/token-exchange-policies${path}`, admin, {
      ...{ strictAt: Date.now(), ...asked },
    });
  const good = () => ({
    ...{
      name: "Billing",
      clientId: org.web.application.id,
      target: "https://billing.example",
      scopes: ["profile"],
    },
  });
  const paths = (body: Record<string, unknown>) =>
    (body["errors"] as { path: string }[]).map(({ path }) => path);

  test("a policy has the contract's members and defaults, and can be sent back as read", async () => {
    const made = await legacy("", { body: good() });
    assert.equal(made.status, 201, made.text);
    const { id, createdAt, ...record } = made.body;
    assert.deepEqual(record, {
      ...{ ...good(), subjectClientIds: [], requestedTokenType: "access_token", foreignClientId: null },
      ...{ impersonation: false, maxLifetimeSeconds: 3_600, enabled: true },
    });
    assert.equal(typeof createdAt, "string");
    const same = await legacy(`/${id}`, { method: "PUT", body: made.body });
    assert.deepEqual([same.status, same.body], [200, made.body], same.text);
    const change = {
      subjectClientIds: [org.batch.application.id],
      impersonation: true,
      maxLifetimeSeconds: 60,
    };
    const patched = await api.call("PATCH", `/token-exchange-policies/${id}`, { body: change });
    assert.equal(patched.status, 200, JSON.stringify(patched.body));
    const { updatedAt, ...shown } = patched.body;
    assert.deepEqual(shown, { ...made.body, ...change });
    assert.equal((await api.call("DELETE", `/token-exchange-policies/${id}`)).status, 204);
    assert.equal((await legacy(`/${id}`)).status, 404);
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 3);
    assert.deepEqual(
      events.map(({ action }) => action),
      ["token-exchange-policy.deleted", "token-exchange-policy.changed", "token-exchange-policy.created"],
    );
  });

  test("names every member that is wrong, by both APIs", async () => {
    const other = await makeOrganisation(running.service, "Other");
    const rows: Array<[change: object, path: string]> = [
      [{ name: "" }, "/name"],
      [{ scopes: ["undefined"] }, "/scopes/0"],
      [{ scopes: ["profile", "signet:users:read"] }, "/scopes/1"],
      [{ scopes: ["offline_access"] }, "/scopes/0"],
      [{ scopes: [] }, "/scopes"],
      [{ target: "https://a.example#b" }, "/target"],
      [{ target: "" }, "/target"],
      [{ maxLifetimeSeconds: 59 }, "/maxLifetimeSeconds"],
      [{ maxLifetimeSeconds: 86_401 }, "/maxLifetimeSeconds"],
      [{ foreignClientId: "x" }, "/foreignClientId"],
      [{ requestedTokenType: "id_jag", target: org.issuer }, "/target"],
      [{ requestedTokenType: "id_jag", impersonation: true }, "/impersonation"],
    ];
    for (const [change, path] of rows) {
      const body = { ...good(), ...change };
      for (const answer of [
        await legacy("", { body }),
        await api.call("POST", "/token-exchange-policies", { body }),
      ]) {
        assert.equal(answer.status, 422, JSON.stringify(change));
        assert.ok(paths(answer.body).includes(path), `${path}: ${JSON.stringify(answer.body)}`);
      }
    }
    for (const [change, path] of [
      [{ clientId: other.web.application.id }, "/clientId"],
      [{ subjectClientIds: [org.web.application.id, other.web.application.id] }, "/subjectClientIds/1"],
    ] as const) {
      const body = { ...good(), ...change };
      const [one, two] = [
        await legacy("", { body }),
        await api.call("POST", "/token-exchange-policies", { body }),
      ];
      assert.deepEqual(
        [one.status, paths(one.body), two.status, paths(two.body)],
        [404, [path], 422, [path]],
      );
    }
    const foreign = {
      ...good(),
      requestedTokenType: "id_jag",
      foreignClientId: "f",
      scopes: ["their:scope"],
    };
    assert.equal((await legacy("", { body: foreign })).status, 201);
  });

  test("there are so many at most", async () => {
    let status = 201;
    let made = 0;
    for (; status === 201 && made <= MAX_POLICIES; made++)
      status = (await legacy("", { body: good() })).status;
    assert.equal(status, 409);
    assert.equal((await api.call("POST", "/token-exchange-policies", { body: good() })).status, 409);
  });
});
