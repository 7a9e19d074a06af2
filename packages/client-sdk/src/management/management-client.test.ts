// What the management client adds to the calls: versions, one key for all attempts, and changes that overwrite nobody's.
import assert from "node:assert/strict";
import { test } from "node:test";
import { jsonResponse, problemResponse, type StubService, stubService } from "../testing/stub-service.ts";
import { managementClient } from "./management-client.ts";

const configuration = {
  federationServer: "https://id.example",
  systemAccountPublicKey: "0198c7a3-1111-7222-8333-444455556666",
  systemAccountSecretKey: "sgn_sa_secret",
};
const clientFor = ({ fetch }: StubService) =>
  managementClient(configuration, { fetch, wait: async () => {} });
const ID = "0198c7a3-0000-7222-8333-444455556666";

test("a configuration without keys is rejected at start", () => {
  assert.throws(() => managementClient({ federationServer: "https://id.example" }), {
    code: "configuration",
  });
});

test("all attempts at creating something share one Idempotency-Key, which the caller can set", async () => {
  const service = stubService((_, count) =>
    count % 2 === 1
      ? new TypeError("fetch failed")
      : jsonResponse({ clientId: ID, clientSecret: null }, 201, { etag: '"1"' }),
  );
  const { clients } = clientFor(service);
  const made = await clients.create({ name: "Shop", clientType: "confidential" });
  assert.deepEqual([made.clientId, made.clientSecret, made.etag], [ID, null, '"1"']);
  await clients.create({ name: "Shop", clientType: "confidential" }, { idempotencyKey: "order-7" });
  const sent = service.asked.map(({ headers }) => headers.get("idempotency-key"));
  assert.match(sent[0] ?? "", /^[0-9a-f-]{36}$/);
  assert.deepEqual(sent, [sent[0], sent[0], "order-7", "order-7"]);
});

test("every call that creates something has one", async () => {
  const service = stubService(() => jsonResponse({ id: ID }, 201, { etag: '"1"' }));
  const management = clientFor(service);
  await management.clients.rotateSecret(ID, { label: "autumn" });
  await management.clients.revokeOldSecret(ID, "1");
  await management.scopes.create({ name: "jobs:run" });
  await management.consents.grantForOrganisation({ clientId: ID, scopes: ["email"] });
  await management.consents.grantForUser({ clientId: ID, scopes: ["email"], userId: ID });
  await management.preauthorizations.create({ clientId: ID, scopes: ["email"] });
  await management.systemAccounts.create({ name: "Import", applicationId: ID });
  await management.systemAccounts.addKey(ID);
  assert.equal(
    service.asked.every(({ method }) => method === "POST"),
    true,
  );
  assert.equal(new Set(service.asked.map(({ headers }) => headers.get("idempotency-key"))).size, 8);
});

test("a change is sent with the version that was read", async () => {
  const read = { clientId: ID, name: "Shop", description: null, enabled: true };
  const service = stubService(({ method }) =>
    jsonResponse(read, 200, { etag: method === "GET" ? '"3"' : '"4"' }),
  );
  const { clients } = clientFor(service);
  const client = await clients.get(ID);
  const after = await clients.replace(ID, { ...client, name: "Store" });
  assert.equal(after.etag, '"4"');
  const put = service.asked[1];
  assert.equal(put?.headers.get("if-match"), '"3"');
  assert.deepEqual(JSON.parse(put?.body ?? ""), { ...read, name: "Store" });
  await clients.replace(ID, { name: "Store" });
  assert.equal(service.asked[2]?.headers.get("if-match"), null);
  await clients.delete(ID, { etag: after.etag });
  assert.equal(service.asked[3]?.headers.get("if-match"), '"4"');
});

test("an update starts over after a concurrent change, but not forever", async () => {
  let version = 1;
  const others = (rounds: number) => {
    version = 1;
    return stubService(({ method, headers }) => {
      if (method === "GET") return jsonResponse({ name: `name ${version}` }, 200, { etag: `"${version}"` });
      if (version <= rounds) version++;
      if (headers.get("if-match") !== `"${version}"`) return problemResponse(412, "stale");
      return jsonResponse({ name: "done" }, 200, { etag: '"9"' });
    });
  };
  const service = others(2);
  const seen: string[] = [];
  await clientFor(service).scopes.update(ID, (scope) => {
    seen.push(scope.name);
    // A version of the caller's own does not count: the change was made of what was read.
    return { displayName: "x", etag: "*" };
  });
  assert.deepEqual(seen, ["name 1", "name 2", "name 3"]);
  const busy = others(100);
  await assert.rejects(
    clientFor(busy).systemAccounts.update(ID, (account) => account),
    { code: "provider_refused" },
  );
  assert.equal(busy.asked.length, 10);
  const refusing = stubService(({ method }) =>
    method === "GET" ? jsonResponse({}, 200, { etag: '"1"' }) : problemResponse(422, "invalid"),
  );
  await assert.rejects(clientFor(refusing).clients.update(ID, (client) => client));
  assert.equal(refusing.asked.length, 2);
});

test("a tag weakened by a compressing proxy still names the version", async () => {
  const { clients } = clientFor(stubService(() => jsonResponse({ name: "Shop" }, 200, { etag: 'W/"3"' })));
  assert.equal((await clients.get(ID)).etag, '"3"');
});

test("an update whose response was lost is not repeated", async () => {
  const service = stubService(({ method }, count) => {
    if (method === "GET") return jsonResponse({ claims: ["one more"] }, 200, { etag: `"${count}"` });
    return count === 2 ? new TypeError("fetch failed") : problemResponse(412, "stale");
  });
  let changes = 0;
  const change = (scope: { readonly etag: string }) => {
    changes++;
    return { displayName: "x", etag: scope.etag };
  };
  await assert.rejects(clientFor(service).scopes.update(ID, change), { code: "provider_unreachable" });
  assert.deepEqual([changes, service.asked.length], [1, 3]);
});

test("a response without an ETag is rejected", async () => {
  await assert.rejects(clientFor(stubService(() => jsonResponse({}))).clients.get(ID), {
    code: "provider_answer",
  });
});

test("list filters are sent in the service's format", async () => {
  const service = stubService(() => jsonResponse({ items: [], nextCursor: null }));
  const { consents, preauthorizations } = clientFor(service);
  await consents.list({ clientId: ID, revoked: true }, { pageSize: 200 }).toArray();
  await consents.list({ revoked: false }).toArray();
  await preauthorizations.list({ clientId: ID }).toArray();
  const queries = service.asked.map(({ target }) => target.split("?")[1]);
  assert.deepEqual(queries, [`clientId=${ID}&revoked=true&limit=200`, "revoked=false", `clientId=${ID}`]);
});
