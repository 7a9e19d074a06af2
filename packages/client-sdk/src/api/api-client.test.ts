// What the client of API v1 adds to the calls: the organisation, its tokens, versions, and one key for all attempts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SignetError } from "../errors.ts";
import { jsonResponse, problemResponse, type StubService, stubService } from "../testing/stub-service.ts";
import { type ApiClientOptions, apiClient, apiErrorCode } from "./api-client.ts";

const ORG = "0198c7a3-1111-7222-8333-444455556666";
const ID = "0198c7a3-0000-7222-8333-444455556666";
const federationServer = "https://id.example";
const clientFor = ({ fetch }: StubService, more: ApiClientOptions = {}) =>
  apiClient(
    { federationServer, oauthOrganisationId: ORG.toUpperCase() },
    { tokens: "token-1", fetch, wait: async () => {}, ...more },
  );
const base = `/api/v1/organisations/${ORG}`;

test("a configuration without an address, an organisation or credentials is rejected at start", () => {
  const credentials = { applicationId: ID, oauthClientSecret: "sgn_cs_x", oauthScopes: "signet:users:read" };
  const whole = { federationServer, oauthOrganisationId: ORG, ...credentials };
  apiClient(whole);
  for (const missing of ["federationServer", "oauthOrganisationId", "applicationId", "oauthClientSecret"])
    assert.throws(() => apiClient({ ...whole, [missing]: undefined }), { code: "configuration" }, missing);
});

test("calls are about the client's organisation, unless they name another one", async () => {
  const service = stubService(() => jsonResponse({ items: [], nextCursor: null }));
  const api = clientFor(service);
  await api.systemAccounts.list({ filter: "enabled eq true", sort: "-name" }, { pageSize: 7 }).toArray();
  await clientFor(service, { organisation: ID }).users.list().toArray();
  await api.call("GET /api/v1/organisations/{org}", { path: { org: ID } });
  await api.list("GET /api/v1/organisations/{org}/groups/{id}/members", { path: { id: ID } }).toArray();
  assert.deepEqual(
    service.asked.map(({ target }) => target),
    [
      `${base}/system-accounts?filter=enabled+eq+true&sort=-name&limit=7`,
      `/api/v1/organisations/${ID}/users`,
      `/api/v1/organisations/${ID}`,
      `${base}/groups/${ID}/members`,
    ],
  );
  assert.ok(service.asked.every(({ headers }) => headers.get("authorization") === "Bearer token-1"));
});

test("tokens are asked for by client credentials for this API alone, and once for many calls", async () => {
  const forms: URLSearchParams[] = [];
  const service = stubService(({ target, body }) => {
    if (target.includes("openid-configuration"))
      return jsonResponse({
        issuer: `${federationServer}/oauth/${ORG}`,
        token_endpoint: `${federationServer}/oauth/${ORG}/token`,
        jwks_uri: `${federationServer}/oauth/${ORG}/jwks`,
      });
    if (!target.endsWith("/token")) return jsonResponse({ id: ID }, 200, { etag: '"1"' });
    forms.push(new URLSearchParams(body));
    const scope = "signet:users:read";
    return jsonResponse({ access_token: "fresh", token_type: "Bearer", expires_in: 600, scope });
  });
  const api = apiClient(
    {
      ...{ federationServer, oauthOrganisationId: ORG, applicationId: ID },
      ...{ oauthClientSecret: "sgn_cs_x", oauthScopes: "signet:users:read" },
    },
    { fetch: service.fetch },
  );
  await Promise.all([api.users.get(ID), api.users.get(ORG)]);
  assert.deepEqual(
    forms.map((form) => [form.get("grant_type"), form.get("resource"), form.get("scope")]),
    [["client_credentials", `${federationServer}/api/v1`, "signet:users:read"]],
  );
  const calls = service.asked.filter(({ target }) => target.startsWith(base));
  assert.ok(
    calls.length === 2 && calls.every(({ headers }) => headers.get("authorization") === "Bearer fresh"),
  );
});

test("a rejected token is replaced once; a given one is not", async () => {
  const challenge = { "www-authenticate": 'Bearer realm="api/v1", error="invalid_token"' };
  const service = stubService(({ headers }) =>
    headers.get("authorization") === "Bearer good"
      ? jsonResponse({ id: ID }, 200, { etag: '"1"' })
      : problemResponse(401, "not-authenticated", {}, challenge),
  );
  const discarded: string[] = [];
  const sourceOf = (...tokens: string[]) => ({
    token: async () => tokens[Math.min(discarded.length, tokens.length - 1)] ?? "",
    discard: (token: string) => discarded.push(token),
  });
  await clientFor(service, { tokens: sourceOf("old", "good") }).users.get(ID);
  assert.deepEqual(discarded.splice(0), ["old"]);
  const both = clientFor(service, { tokens: sourceOf("old", "older") }).users.get(ID);
  await assert.rejects(both, (error) => apiErrorCode(error) === "not-authenticated");
  assert.equal(service.asked.length, 4);
  await assert.rejects(clientFor(service).users.get(ID));
  assert.equal(service.asked.length, 5);
  const other = stubService(() => problemResponse(401, "not-authenticated"));
  await assert.rejects(clientFor(other, { tokens: sourceOf("a", "b") }).users.get(ID));
  assert.equal(other.asked.length, 1, "a refusal of another kind says nothing of the token");
});

test("all attempts of a creation or an act share one Idempotency-Key, which the caller can set", async () => {
  const service = stubService((_, count) =>
    count % 2 === 1 ? new TypeError("fetch failed") : jsonResponse({ id: ID }, 201, { etag: '"1"' }),
  );
  const api = clientFor(service);
  await api.users.create({ email: "ada@example.com" });
  await api.users.act(ID, "disable", undefined, { idempotencyKey: "order-7", etag: '"3"' });
  await api.call("POST /api/v1/organisations", { body: { name: "Acme" } });
  const sent = service.asked.map(({ headers }) => headers.get("idempotency-key"));
  for (const key of [sent[0], sent[4]]) assert.match(key ?? "", /^[0-9a-f-]{36}$/);
  assert.deepEqual(sent, [sent[0], sent[0], "order-7", "order-7", sent[4], sent[4]]);
  assert.equal(service.asked[3]?.headers.get("if-match"), '"3"');
  assert.equal(service.asked[3]?.body, "");
});

test("a change names its version where it is given, and an update always, starting over when it is stale", async () => {
  let version = 1;
  const service = stubService(({ method, headers }) => {
    if (method === "GET") return jsonResponse({ name: `name ${version}` }, 200, { etag: `"${version}"` });
    if (method === "DELETE") return new Response(null, { status: 204 });
    if (version < 3) version++;
    const stale = headers.has("if-match") && headers.get("if-match") !== `"${version}"`;
    return stale ? problemResponse(412, "stale") : jsonResponse({}, 200, { etag: '"9"' });
  });
  const api = clientFor(service);
  const seen: string[] = [];
  const after = await api.pools.update(ID, ({ name }) => {
    seen.push(name);
    return { name: "other" };
  });
  assert.deepEqual([seen, after.etag], [["name 1", "name 2", "name 3"], '"9"']);
  await api.pools.change(ID, { name: "blind" });
  const last = service.asked.at(-1);
  assert.deepEqual(
    [last?.method, last?.headers.get("if-match"), last?.headers.get("content-type"), last?.body],
    ["PATCH", null, "application/json", '{"name":"blind"}'],
  );
  await assert.rejects(
    api.pools.change(ID, { name: "late" }, { etag: '"1"' }),
    (error) => apiErrorCode(error) === "stale",
  );
  await api.pools.delete(ID, { etag: '"9"' });
  assert.equal(service.asked.at(-1)?.headers.get("if-match"), '"9"');
});

test("pages are walked to their end, and tell the total where it was asked for", async () => {
  const service = stubService(({ target }) => {
    const cursor = new URLSearchParams(target.split("?")[1]).get("cursor");
    return jsonResponse({
      items: [{ id: cursor ?? "0" }],
      nextCursor: cursor === "2" ? null : String(Number(cursor) + 1),
      total: 3,
    });
  });
  const list = clientFor(service).devices.list({ total: "true" });
  const ids: string[] = [];
  for await (const { id } of list) ids.push(id);
  assert.deepEqual(ids, ["0", "1", "2"]);
  assert.equal((await list.page()).total, 3);
});

test("only known codes of refusals are codes", () => {
  const refusal = (code: string) =>
    new SignetError("provider_refused", "x", {
      problem: { code, status: 409, title: "x", detail: undefined, instance: undefined, errors: [] },
    });
  assert.equal(apiErrorCode(refusal("group-cycle")), "group-cycle");
  for (const error of [refusal("new"), new SignetError("configuration", "x"), new Error("x"), undefined])
    assert.equal(apiErrorCode(error), undefined);
});
