import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { checkDueDomains } from "../../../core/domains/domain-proof.ts";
import { findDomain } from "../../../core/domains/domains.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type NameServer, startNameServer } from "../../../testing/fakes/name-server.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import {
  breakGlass,
  provenDomain,
  securedAdministrator,
  signInConnection,
} from "../../../testing/fixtures/routed-domain.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const DAY_MS = 86_400_000;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let names: NameServer;
  let org: TestOrganisation;
  let api: ApiClient;
  let now = Date.parse("2026-03-01T12:00:00Z");
  before(async () => {
    names = await startNameServer();
    const env = { SIGNET_DNS_SERVERS: names.address };
    running = await startTestService({ databaseUrl: await fresh(), env, clock: () => now });
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
    await names.close();
  });

  const start = async () => {
    org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, [
      "signet:connections:write",
      "signet:users:write",
      "signet:organisation:write",
    ]);
    return org.organisation.id;
  };
  const add = async (domain: string) => {
    const { status, body } = await api.call("POST", "/domains", { body: { domain } });
    assert.equal(status, 201, JSON.stringify(body));
    return body as { id: string; domain: string; record: Record<"type" | "name" | "value", string> };
  };
  const verify = async (id: string) => (await api.call("POST", `/domains/${id}/verify`)).body;
  const found = (body: Readonly<Record<string, unknown>>) => [body["state"], body["lastError"]];
  const actions = async () =>
    (await listAuditEvents(running.service.database.query, org.organisation.id, 100)).map(
      ({ action }) => action,
    );

  test("a domain is proven by the TXT record that its answer names, of several strings too", async () => {
    await start();
    const { id, domain, record } = await add("Acme-Works.Example.");
    assert.equal(domain, "acme-works.example");
    assert.deepEqual([record.type, record.name], ["TXT", "_signet-challenge.acme-works.example"]);
    assert.match(record.value, /^signet-domain-verification=[\w-]{43}$/);
    assert.deepEqual(found(await verify(id)), ["pending", "not-found"]);
    names.set(record.name, { txt: [["signet-domain-verification=another"]] });
    assert.deepEqual(found(await verify(id)), ["pending", "wrong-value"]);
    names.set(record.name, { txt: [["v=spf1 -all"], [record.value.slice(0, 20), record.value.slice(20)]] });
    assert.deepEqual(found(await verify(id)), ["proven", null]);
    assert.deepEqual(found(await verify(id)), ["proven", null]);
    const told = (await actions()).filter((action) => action === "domain.proven");
    assert.equal(told.length, 1, "proven once");
  });

  test("no server that answers is no sign that the record is gone", async () => {
    const orgId = await start();
    const { id, record } = await add("quiet.example");
    names.set(record.name, "failing");
    assert.deepEqual(found(await verify(id)), ["pending", "unreachable"]);
    names.set(record.name, { txt: [[record.value]] });
    await verify(id);
    names.set(record.name, "failing");
    assert.deepEqual(found(await verify(id)), ["proven", "unreachable"]);
    now += 8 * DAY_MS;
    await checkDueDomains(running.service);
    const stored = await findDomain(running.service.database.query, { orgId, id });
    assert.deepEqual([stored?.state, stored?.lastError], ["proven", "unreachable"]);
  });

  test("a record that is missing for seven days lapses; housekeeping sees it, and its return", async () => {
    const orgId = await start();
    const { id, record } = await add("gone.example");
    names.set(record.name, { txt: [[record.value]] });
    await checkDueDomains(running.service);
    // From the store: the access token expires in these days.
    const state = async () => {
      const stored = await findDomain(running.service.database.query, { orgId, id });
      return [stored?.state, stored?.lastError];
    };
    assert.deepEqual(await state(), ["proven", null]);
    names.set(record.name, { txt: [] });
    now += DAY_MS - 1;
    await checkDueDomains(running.service);
    assert.deepEqual(await state(), ["proven", null], "not before it is due");
    now += 1;
    await checkDueDomains(running.service);
    assert.deepEqual(await state(), ["proven", "not-found"]);
    now += 7 * DAY_MS - 1;
    await checkDueDomains(running.service);
    assert.deepEqual(await state(), ["proven", "not-found"]);
    now += 3_600_000;
    await checkDueDomains(running.service);
    assert.deepEqual(await state(), ["lapsed", "not-found"]);
    names.set(record.name, { txt: [[record.value]] });
    now += DAY_MS;
    await checkDueDomains(running.service);
    assert.deepEqual(await state(), ["proven", null]);
    const events = await listAuditEvents(running.service.database.query, orgId, 100);
    const lapsed = events.find(({ action }) => action === "domain.lapsed");
    assert.deepEqual([lapsed?.actor, lapsed?.target], ["system", id]);
  });

  test("several organisations prove one domain, each by its own record; one has it once", async () => {
    await start();
    const first = await add("shared.example");
    names.set(first.record.name, { txt: [[first.record.value]] });
    assert.deepEqual(found(await verify(first.id)), ["proven", null]);
    const again = await api.call("POST", "/domains", { body: { domain: "SHARED.example" } });
    assert.deepEqual([again.status, again.body["type"]], [409, "urn:signet:error:conflict"]);
    await start();
    const second = await add("shared.example");
    assert.notEqual(second.record.value, first.record.value);
    assert.deepEqual(found(await verify(second.id)), ["pending", "wrong-value"]);
  });

  test("names are taken in A-labels; what nobody can have registered is refused", async () => {
    await start();
    assert.equal((await add("München.example")).domain, "xn--mnchen-3ya.example");
    for (const domain of [
      "com",
      "co.uk",
      "github.io",
      "localhost",
      "127.0.0.1",
      "[::1]",
      "a..example",
      "-a.example",
      "a_b.example",
      "x@acme.example",
      "https://acme.example",
      "",
    ]) {
      const { status, body } = await api.call("POST", "/domains", { body: { domain } });
      assert.equal(status, 422, domain);
      assert.equal((body["errors"] as Array<{ path: string }>)[0]?.path, "/domain");
    }
  });

  test("enforced wants a proven domain, a connection that signs people in, and a break-glass administrator", async () => {
    const orgId = await start();
    const connection = await signInConnection(running.service, orgId);
    const pending = await add("new.example");
    const enforce = (id: string, more: object = {}) =>
      api.call("PATCH", `/domains/${id}`, { body: { enforced: true, ...more } });
    const refused = async (id: string, path: string, more: object = {}) => {
      const { status, body } = await enforce(id, more);
      assert.deepEqual(
        [status, (body["errors"] as Array<{ path: string }> | undefined)?.[0]?.path],
        [422, path],
      );
    };
    await refused(pending.id, "/enforced", { connectionId: connection.id });
    const { id } = await provenDomain(running.service, orgId, { domain: "acme.example" });
    await refused(id, "/enforced");
    await refused(id, "/enforced", { connectionId: connection.id });
    const scim = await api.call("POST", "/connections", { body: { kind: "scim", name: "Directory" } });
    await refused(id, "/connectionId", { connectionId: scim.body["id"] });
    await breakGlass(running.service, org.organisation);
    const { status, body } = await enforce(id, { connectionId: connection.id });
    assert.deepEqual([status, body["enforced"], body["connectionId"]], [200, true, connection.id]);
    await refused(id, "/enforced", { connectionId: null });
    assert.ok((await actions()).includes("domain.changed"));
  });

  test("while it is enforced, its connection and the last break-glass administrator stay", async () => {
    const orgId = await start();
    const connection = await signInConnection(running.service, orgId);
    const { id } = await provenDomain(running.service, orgId, {
      domain: "acme.example",
      connectionId: connection.id,
    });
    const last = await breakGlass(running.service, org.organisation);
    await securedAdministrator(running.service, org.organisation);
    assert.equal((await api.call("PATCH", `/domains/${id}`, { body: { enforced: true } })).status, 200);
    const kept = [
      ["DELETE", `/connections/${connection.id}`],
      ["PATCH", `/connections/${connection.id}`, { enabled: false }],
      ["DELETE", `/break-glass/${last}`],
      ["DELETE", `/users/${last}`],
      ["PATCH", `/users/${last}`, { role: "Standard" }],
      ["POST", `/users/${last}/disable`],
    ] as const;
    for (const [method, path, body] of kept) {
      const answer = await api.call(method, path, body ? { body } : {});
      assert.deepEqual(
        [answer.status, answer.body["type"]],
        [409, "urn:signet:error:conflict"],
        `${method} ${path}`,
      );
    }
    assert.equal((await api.call("PATCH", `/domains/${id}`, { body: { enforced: false } })).status, 200);
    for (const [method, path] of [kept[0], kept[2], kept[3]])
      assert.equal((await api.call(method, path)).status, 204, `${method} ${path}`);
    assert.equal((await api.call("GET", `/domains/${id}`)).body["connectionId"], null);
  });

  test("a break-glass administrator has a second factor; five at most, and none of them is another's", async () => {
    await start();
    const standard = await api.call("PUT", `/break-glass/${org.user.id}`);
    assert.equal(standard.status, 422);
    const without = await api.call("POST", "/users", {
      body: { email: "plain@acme.example", role: "Administrator", password: "plum tractor ninety" },
    });
    assert.equal((await api.call("PUT", `/break-glass/${without.body["id"]}`)).status, 422);
    for (let count = 0; count < 5; count++) {
      const id = await securedAdministrator(running.service, org.organisation);
      for (const again of [1, 2])
        assert.equal((await api.call("PUT", `/break-glass/${id}`)).status, 204, `${again}`);
    }
    const sixth = await securedAdministrator(running.service, org.organisation);
    assert.equal((await api.call("PUT", `/break-glass/${sixth}`)).status, 409);
    const { body } = await api.call("GET", "/break-glass");
    const [first] = body["items"] as Array<{ id: string }>;
    assert.equal((body["items"] as unknown[]).length, 5);
    const stranger = await makeApiClient(running.service, await makeOrganisation(running.service), [
      "signet:connections:write",
    ]);
    assert.equal((await stranger.call("DELETE", `/break-glass/${first?.id}`)).status, 404);
    assert.equal((await stranger.call("PUT", `/break-glass/${sixth}`)).status, 404);
    assert.equal((await api.call("DELETE", `/break-glass/${first?.id}`)).status, 204);
    assert.equal((await api.call("DELETE", `/break-glass/${first?.id}`)).status, 404);
    const granted = (await actions()).filter((action) => action === "break-glass.granted");
    assert.equal(granted.length, 5, "told once each");
  });

  test("a name server that never answers keeps nobody waiting but who asked", async () => {
    await start();
    const { id, record } = await add("silent.example");
    names.set(record.name, "silent");
    const order: string[] = [];
    const asked = verify(id).then((body) => void order.push(`verify ${found(body)}`));
    const deadline = Date.now() + 10_000;
    while (names.queries(record.name) === 0 && Date.now() < deadline) await delay(5);
    await add("quick.example");
    order.push("added");
    await asked;
    assert.deepEqual(order, ["added", "verify pending,unreachable"]);
  });
});
