import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { postForm } from "../../../testing/fixtures/client.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

type Body = Readonly<Record<string, unknown>>;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let api: ApiClient;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, ["signet:applications:write"]);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const codeOf = (body: Body) => String(body["type"] ?? "").replace("urn:signet:error:", "");
  const create = async (more: object = {}, as = api) => {
    const body = { name: "Shop", clientType: "confidential", redirectUris: ["https://a.example/c"], ...more };
    const made = await as.call("POST", "/applications", { body });
    return { ...made, path: `/applications/${String(made.body["id"])}`, code: codeOf(made.body) };
  };
  const patch = (path: string, body: object, as = api) => as.call("PATCH", path, { body });
  const tokenStatus = async (id: unknown, secret: unknown) => {
    const credentials = { client_id: String(id), client_secret: String(secret) };
    return (await postForm(`${org.issuer}/token`, { grant_type: "client_credentials", ...credentials }))
      .status;
  };

  test("an application is made with its first secret, shown once, and works", async () => {
    const service = { grantTypes: ["client_credentials"], redirectUris: [] };
    const made = await create({ ...service, description: null, enabled: true });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { clientSecret, ...record } = made.body;
    assert.match(String(clientSecret), /^sgn_cs_/);
    assert.equal(record["id"], record["clientId"]);
    assert.deepEqual(
      [record["description"], record["requireConsent"], record["allowedScopes"]],
      [null, true, []],
    );
    const read = await api.call("GET", made.path);
    assert.deepEqual(read.body, record);
    assert.doesNotMatch(JSON.stringify(read.body), /sgn_cs_|hash/);
  });

  test("a PATCH changes what it names, null is the default, and the rest stays", async () => {
    const { path, body } = await create({ audience: "https://api.example", requirePkce: false });
    const changed = await patch(path, { refreshTokenGraceSeconds: 0, idTokenIncludesScopeClaims: true });
    const { refreshTokenGraceSeconds, idTokenIncludesScopeClaims, audience, requirePkce } = changed.body;
    assert.deepEqual(
      [refreshTokenGraceSeconds, idTokenIncludesScopeClaims, audience, requirePkce],
      [0, true, "https://api.example", false],
    );
    const unset = {
      audience: null,
      requirePkce: null,
      refreshTokenGraceSeconds: null,
      redirectUris: ["https://b.example/c"],
    };
    const { body: after } = await patch(path, unset);
    assert.deepEqual(
      [after["audience"], after["requirePkce"], after["refreshTokenGraceSeconds"]],
      [null, true, 10],
    );
    assert.deepEqual([after["name"], after["createdAt"]], ["Shop", body["createdAt"]]);
    for (const [sent, at] of [
      [{ redirectUris: ["https://ok.example/", "nonsense"] }, "/redirectUris/1"],
      [{ allowedScopes: ["openid", "never-defined"] }, "/allowedScopes/1"],
      [{ accessTokenLifetimeSeconds: 1 }, "/accessTokenLifetimeSeconds"],
      [{ clientType: "spa" }, "/clientType"],
      [{ clientId: "x" }, "/clientId"],
      [{ name: null }, "/name"],
    ] as const) {
      const refused = await patch(path, { description: "half", ...sent });
      const [fault] = (refused.body["errors"] ?? []) as Array<{ path: string }>;
      assert.deepEqual([refused.status, fault?.path], [422, at]);
    }
    assert.equal((await api.call("GET", path)).body["description"], null);
  });

  test("which groups tokens tell, and by what, is set here", async () => {
    const { path, body } = await create();
    assert.deepEqual([body["groupsClaim"], body["groupsClaimValue"]], ["assigned", "displayName"]);
    const changed = await patch(path, { groupsClaim: "all", groupsClaimValue: "externalId" });
    assert.deepEqual([changed.body["groupsClaim"], changed.body["groupsClaimValue"]], ["all", "externalId"]);
    assert.equal((await patch(path, { groupsClaim: "some" })).status, 422);
  });

  test("consent is told in two members that are one setting", async () => {
    const { path } = await create();
    const consent = async (body: object) => {
      const { status, body: after } = await patch(path, body);
      return status === 200 ? [after["requireConsent"], after["consentMode"]] : status;
    };
    assert.deepEqual(await consent({ requireConsent: false }), [false, "preauthorized"]);
    assert.deepEqual(await consent({ consentMode: "organisation" }), [true, "organisation"]);
    assert.deepEqual(await consent({ consentMode: null }), [true, "user"]);
    assert.deepEqual(await consent({ consentMode: "preauthorized" }), [false, "preauthorized"]);
    assert.deepEqual(await consent({ requireConsent: true }), [true, "user"]);
    assert.equal(await consent({ requireConsent: true, consentMode: "preauthorized" }), 422);
  });

  test("secrets come and go; a replayed request shows none", async () => {
    const { path, body } = await create({ grantTypes: ["client_credentials"], redirectUris: [] });
    await patch(path, { allowedScopes: ["signet:applications:read"] });
    const headers = { "idempotency-key": "rotate" };
    const rotate = () =>
      api.call("POST", `${path}/secrets`, { body: { label: "autumn", expireOthersInSeconds: 60 }, headers });
    const [first, again] = [await rotate(), await rotate()];
    assert.equal(first.status, 201);
    assert.deepEqual([again.body["id"], again.body["clientSecret"]], [first.body["id"], null]);
    const [old, next] = [body["clientSecret"], first.body["clientSecret"]];
    assert.deepEqual([await tokenStatus(body["id"], old), await tokenStatus(body["id"], next)], [200, 200]);
    clock.advance(61_000);
    assert.deepEqual([await tokenStatus(body["id"], old), await tokenStatus(body["id"], next)], [401, 200]);
    assert.equal((await api.call("DELETE", `${path}/secrets/${String(first.body["id"])}`)).status, 204);
    assert.equal(await tokenStatus(body["id"], next), 401);
    const neighbour = await create();
    const theirs = (neighbour.body["secrets"] as Array<{ id: string }>)[0]?.id;
    assert.equal((await api.call("DELETE", `${path}/secrets/${theirs}`)).status, 404);
    const spa = await create({ clientType: "spa" });
    const refused = await api.call("POST", `${spa.path}/secrets`, { body: {} });
    assert.deepEqual([refused.status, codeOf(refused.body)], [409, "public-client"]);
  });

  test("nobody hands out scopes of this API that they have not", async () => {
    const service = { grantTypes: ["client_credentials"], redirectUris: [] };
    const refused = await create({ ...service, allowedScopes: ["signet:users:write"] });
    assert.deepEqual([refused.status, refused.code], [403, "exceeds-caller"]);
    const strong = await makeApiClient(running.service, org, [
      "signet:users:write",
      "signet:applications:write",
    ]);
    const { path } = await create({ ...service, allowedScopes: ["signet:users:read"] }, strong);
    const { body } = await api.call("GET", path);
    assert.deepEqual(body["allowedScopes"], ["signet:users:read"]);
    // Neither a scope, nor what proves to be that client.
    for (const sent of [{ allowedScopes: ["signet:users:write"] }, { jwksUri: "https://mine.example/keys" }])
      assert.equal(codeOf((await patch(path, sent)).body), "exceeds-caller");
    assert.equal(codeOf((await api.call("POST", `${path}/secrets`, { body: {} })).body), "exceeds-caller");
    assert.equal((await patch(path, { description: "x" }, strong)).status, 200);
    const weaker = await create({ ...service, allowedScopes: ["signet:applications:read"] });
    assert.equal(weaker.status, 201, JSON.stringify(weaker.body));
  });

  test("a client neither ends nor disables itself", async () => {
    const path = `/applications/${api.application.id}`;
    for (const answer of [await api.call("DELETE", path), await patch(path, { enabled: false })])
      assert.deepEqual([answer.status, codeOf(answer.body)], [409, "own-application"]);
    assert.equal((await patch(path, { description: "mine" })).status, 200);
    const { path: other } = await create();
    assert.equal((await patch(other, { enabled: false })).body["enabled"], false);
    assert.equal((await api.call("DELETE", other)).status, 204);
  });

  test("a list filters, searches and sorts by every scalar member", async () => {
    const far = await makeOrganisation(running.service, "Far");
    const theirs = await makeApiClient(running.service, far, ["signet:applications:write"]);
    await create(
      { name: "Zebra Ä", clientType: "spa", description: "stripes", requireConsent: false },
      theirs,
    );
    clock.advance(1_000);
    await create(
      { name: "ant", requirePkce: false, accessTokenLifetimeSeconds: 600, enabled: false },
      theirs,
    );
    const list = async (query: Readonly<Record<string, string>>) => {
      const filter = `name eq "Zebra Ä" or name eq "ant"`;
      const { status, body } = await theirs.call(
        "GET",
        `/applications?${new URLSearchParams({ filter, ...query })}`,
      );
      assert.equal(status, 200, JSON.stringify(body));
      return (body["items"] as Array<{ name: string }>).map(({ name }) => name);
    };
    const both = ["Zebra Ä", "ant"];
    assert.deepEqual(await list({ sort: "name" }), both.toReversed());
    for (const [filter, names] of [
      ['clientType eq "spa"', ["Zebra Ä"]],
      ['description co "STRIPE"', ["Zebra Ä"]],
      ['name eq "ant" and description pr', []],
      ['requireConsent eq false and consentMode eq "preauthorized"', ["Zebra Ä"]],
      ["requirePkce eq false", ["ant"]],
      ["accessTokenLifetimeSeconds lt 3600", ["ant"]],
      ["accessTokenLifetimeSeconds eq 600.5", []],
      ["enabled eq false", ["ant"]],
    ] as const)
      assert.deepEqual(await list({ filter }), names, filter);
    assert.deepEqual(await list({ search: "zeb ra" }), ["Zebra Ä"]);
    const { body } = await theirs.call("GET", "/applications?limit=1");
    const scalars = Object.entries((body["items"] as Body[])[0] ?? {}).filter(
      ([, value]) => typeof value !== "object" || value === null,
    );
    const members = scalars.map(([name]) => name).filter((name) => name !== "jwks" && name !== "shared");
    assert.ok(members.length > 30);
    for (const sort of members) assert.deepEqual((await list({ sort })).toSorted(), both, sort);
  });

  test("users are assigned to an application that not everyone may use", async () => {
    const { path } = await create({ access: "assigned" });
    const at = `${path}/users/${org.user.id}`;
    for (const status of [204, 204]) assert.equal((await api.call("PUT", at)).status, status);
    assert.equal((await api.call("DELETE", at)).status, 204);
    assert.equal((await api.call("DELETE", at)).status, 404);
    assert.equal((await api.call("PUT", `${path}/users/${crypto.randomUUID()}`)).status, 404);
  });
});
