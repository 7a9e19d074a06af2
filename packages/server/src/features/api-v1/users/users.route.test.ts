import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { insertMembership } from "../../../core/users/users.store.ts";
import { createUser } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { getTokens } from "../../../testing/fixtures/client.ts";
import { giveAuthenticator } from "../../../testing/fixtures/factors.ts";
import {
  makeClient,
  makeOrganisation,
  PASSWORD,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const details = {
  middleName: "Marie",
  nickname: "Gracie",
  profile: "https://grace.example/",
  picture: "https://grace.example/me.png",
  website: "https://blog.grace.example/",
  gender: "female",
  birthdate: "1988-11-04",
  zoneinfo: "Europe/London",
  locale: "en",
};
const address = {
  streetAddress: "12 Quay Street\nFlat 3",
  postalCode: "BS1 4DB",
  locality: "Bristol",
  region: "Avon",
  country: "United Kingdom",
};

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let reader: ApiClient;
  let writer: ApiClient;
  let manager: ApiClient;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    const { service } = running;
    org = await makeOrganisation(service);
    reader = await makeApiClient(service, org, ["signet:users:read"]);
    writer = await makeApiClient(service, org, ["signet:users:write"]);
    manager = await makeApiClient(service, org, ["signet:users:write", "signet:organisation:write"]);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  let count = 0;
  const newUser = async (role: "Standard" | "Administrator" = "Standard") => {
    const email = `person${++count}@acme.example`;
    const person = { email, password: PASSWORD, firstname: "Grace", surname: "Okafor", emailVerified: true };
    const { organisation } = org;
    const id = await createUser(running.service, { organisation, ...person, role, actor: "test" });
    return { id, email, path: `/users/${id}` };
  };
  const pathsOf = ({ body }: { body: Record<string, unknown> }) =>
    (body["errors"] as Array<{ path: string }>).map(({ path }) => path);

  test("a user has every member, null where it is unset", async () => {
    const { id, email, path } = await newUser();
    const { status, body, headers } = await reader.call("GET", path);
    assert.equal(status, 200);
    const { createdAt, updatedAt, ...rest } = body;
    for (const time of [createdAt, updatedAt]) assert.match(String(time), /^\d{4}-\d\d-\d\dT.*Z$/);
    const unset = Object.fromEntries(Object.keys(details).map((name) => [name, null]));
    assert.deepEqual(rest, {
      ...{ id, email, emailVerified: true, username: null, firstname: "Grace", surname: "Okafor" },
      ...{
        acceptedTerms: [],
        phone: null,
        ...unset,
        address: null,
        role: "Standard",
        state: "active",
        guest: false,
      },
      ...{ source: "local", connectionId: null, externalId: null, attributes: {}, membershipAttributes: {} },
      identities: [],
      ...{ hasPassword: true, secondFactors: [], lastSignInAt: null },
    });
    assert.match(headers.get("etag") ?? "", /^"[\w-]{22}"$/);
    assert.equal(headers.get("cache-control"), "no-store");
  });

  test("a PATCH sets, merges and unsets the profile; the claims follow", async () => {
    const path = `/users/${org.user.id}`;
    const set = await writer.call("PATCH", path, {
      body: { ...details, address, phone: "+44 20 7946 0018" },
    });
    assert.equal(set.status, 200, JSON.stringify(set.body));
    for (const [name, value] of Object.entries(details)) assert.equal(set.body[name], value, name);
    assert.deepEqual(set.body["address"], address);
    assert.deepEqual((await reader.call("GET", path)).body, set.body);

    const scopes = ["openid", "profile", "address"];
    const client = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      allowedScopes: scopes,
    });
    const { accessToken } = await getTokens(org, { scope: scopes.join(" ") }, client);
    const userinfo = await fetch(`${org.issuer}/userinfo`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    const claims = (await userinfo.json()) as Record<string, unknown>;
    assert.equal(claims["nickname"], "Gracie");
    assert.equal(claims["picture"], details.picture);
    assert.equal((claims["address"] as { locality: string }).locality, "Bristol");

    const merged = await writer.call("PATCH", path, {
      body: { nickname: null, address: { locality: "Bath", region: null } },
      headers: { "content-type": "application/merge-patch+json" },
    });
    assert.equal(merged.body["nickname"], null);
    assert.equal(merged.body["picture"], details.picture, "what is not named stays");
    assert.deepEqual(merged.body["address"], { ...address, locality: "Bath", region: null });
    const none = await writer.call("PATCH", path, { body: { address: null, firstname: null } });
    assert.deepEqual([none.body["address"], none.body["firstname"]], [null, null]);
  });

  test("sets and removes the username, and attributes by their names", async () => {
    const [one, other] = [await newUser(), await newUser()];
    const body = { username: " Grace.O ", attributes: { desk: 7, team: { floor: 2 } } };
    const set = await writer.call("PATCH", one.path, { body });
    assert.equal(set.body["username"], "grace.o");
    assert.deepEqual(set.body["attributes"], { desk: 7, team: { floor: 2 } });
    const merge = { attributes: { desk: null, team: { room: "b" } }, membershipAttributes: { cost: "11" } };
    const merged = await writer.call("PATCH", one.path, { body: merge });
    assert.deepEqual(merged.body["attributes"], { team: { floor: 2, room: "b" } });
    assert.deepEqual(merged.body["membershipAttributes"], { cost: "11" });
    const taken = await writer.call("PATCH", other.path, { body: { username: "grace.o" } });
    assert.deepEqual([taken.status, taken.body["type"]], [409, "urn:signet:error:conflict"]);
    const removed = await writer.call("PATCH", one.path, { body: { username: null, attributes: null } });
    assert.deepEqual([removed.body["username"], removed.body["attributes"]], [null, {}]);
  });

  test("names every invalid member, and changes nothing", async () => {
    const { path } = await newUser();
    const before = (await reader.call("GET", path)).body;
    const wrong = {
      ...{ firstname: "x".repeat(101), phone: "call me", locale: "no language", birthdate: "1988-02-30" },
      ...{ zoneinfo: "Mars/Base", profile: "javascript:alert(1)", picture: "data:x", website: "ftp://x" },
      ...{ username: "a@b", address: { country: "x".repeat(201) }, attributes: { "a b": 1 } },
    };
    const refused = await writer.call("PATCH", path, { body: wrong });
    assert.equal(refused.status, 422);
    const names = Object.keys(wrong).map((name) => (name === "address" ? "/address/country" : `/${name}`));
    assert.deepEqual(pathsOf(refused).sort(), names.sort());
    for (const [body, at] of [
      [{ emailVerified: false }, "/emailVerified"],
      [{ id: "x" }, "/id"],
      [{ state: "disabled" }, "/state"],
      [{ colour: "red" }, "/colour"],
      [{ address: { planet: "x" } }, "/address/planet"],
      [{ nickname: "", __proto__: null }, "/nickname"],
      [{ role: null }, "/role"],
      [{ nickname: 7 }, "/nickname"],
    ] as const) {
      const answer = await writer.call("PATCH", path, { body });
      assert.equal(answer.status, 422, at);
      assert.ok(pathsOf(answer).includes(at), `${at}: ${pathsOf(answer)}`);
    }
    for (const body of ["{", "[]", '"x"', "null", ""])
      assert.ok([400, 422].includes((await writer.call("PATCH", path, { body })).status), body);
    assert.deepEqual((await reader.call("GET", path)).body, before);
  });

  test("text that no UTF-8 can hold, numbers out of range and unknown parameters are refused", async () => {
    const { path } = await newUser();
    const before = (await reader.call("GET", path)).body;
    for (const body of [
      '{"nickname":"a\\ud800b"}',
      '{"firstname":"\\udc00"}',
      '{"attributes":{"a":["\\ud800"]}}',
      '{"membershipAttributes":{"n":1e999}}',
    ])
      assert.equal((await writer.call("PATCH", path, { body })).status, 400, body);
    const proto = await writer.call("PATCH", path, { body: '{"attributes":{"__proto__":{"a":1}}}' });
    assert.deepEqual([proto.status, pathsOf(proto)], [422, ["/attributes"]]);
    for (const method of ["GET", "PATCH"] as const) {
      const body = method === "PATCH" ? { nickname: "Grace" } : undefined;
      const unknown = await writer.call(method, `${path}?x=1`, { body });
      assert.deepEqual([unknown.status, pathsOf(unknown)], [422, ["?x"]], method);
    }
    assert.deepEqual((await reader.call("GET", path)).body, before);
  });

  test("a stale entity tag changes nothing; the present one does, and spares a repeated answer", async () => {
    const { path } = await newUser();
    const etag = (await reader.call("GET", path)).headers.get("etag") ?? "";
    const unchanged = await reader.call("GET", path, { headers: { "if-none-match": `W/${etag}` } });
    assert.deepEqual([unchanged.status, unchanged.headers.get("etag")], [304, etag]);
    const patch = (nickname: string, tag: string) =>
      writer.call("PATCH", path, { body: { nickname }, headers: { "if-match": tag } });
    const first = await patch("One", etag);
    assert.equal(first.status, 200);
    assert.notEqual(first.headers.get("etag"), etag);
    const stale = await patch("Two", etag);
    assert.deepEqual([stale.status, stale.body["type"]], [412, "urn:signet:error:stale"]);
    assert.equal((await reader.call("GET", path)).body["nickname"], "One");
    const racing = await Promise.all(
      ["A", "B", "C", "D"].map((name) => patch(name, first.headers.get("etag") ?? "")),
    );
    assert.deepEqual(racing.map(({ status }) => status).sort(), [200, 412, 412, 412]);
  });

  test("an administrator is made, changed and ended only by who may change the organisation", async () => {
    const person = await newUser();
    const make = { body: { role: "Administrator" } };
    const refused = await writer.call("PATCH", person.path, make);
    assert.deepEqual([refused.status, refused.body["type"]], [403, "urn:signet:error:exceeds-caller"]);
    assert.equal((await manager.call("PATCH", person.path, make)).body["role"], "Administrator");
    for (const body of [{ nickname: "Boss" }, { role: "Standard" }])
      assert.equal((await writer.call("PATCH", person.path, { body })).status, 403, JSON.stringify(body));
    const last = await manager.call("PATCH", person.path, { body: { role: "Standard", nickname: "Boss" } });
    assert.deepEqual([last.status, last.body["type"]], [409, "urn:signet:error:last-administrator"]);
    assert.equal((await reader.call("GET", person.path)).body["nickname"], null, "nothing of it is kept");
    await newUser("Administrator");
    const ended = await manager.call("PATCH", person.path, { body: { role: "Standard" } });
    assert.deepEqual([ended.status, ended.body["role"]], [200, "Standard"]);
  });

  test("of a guest, the role and the membership's attributes can be changed, and the account is not told of", async () => {
    const { service } = running;
    const home = await makeOrganisation(service, `Home${++count}`);
    const now = service.clock();
    const guest = { orgId: org.organisation.id, homeOrgId: home.organisation.id, userId: home.user.id };
    await insertMembership(service.database.query, { ...guest, role: "Standard", now });
    const path = `/users/${home.user.id}`;
    const own = await makeApiClient(service, home, ["signet:users:write"]);
    await own.call("PATCH", path, { body: { attributes: { salary: 9 } } });
    await giveAuthenticator(service, home);
    const { guest: isGuest, hasPassword, secondFactors, attributes } = (await reader.call("GET", path)).body;
    assert.deepEqual([isGuest, hasPassword, secondFactors, attributes], [true, false, [], {}]);
    assert.deepEqual((await own.call("GET", path)).body["secondFactors"], ["totp"]);
    const refused = await writer.call("PATCH", path, { body: { nickname: "x", membershipAttributes: {} } });
    assert.deepEqual([refused.status, refused.body["type"]], [409, "urn:signet:error:foreign-account"]);
    const changed = await writer.call("PATCH", path, { body: { membershipAttributes: { desk: 1 } } });
    assert.deepEqual(changed.body["membershipAttributes"], { desk: 1 });
    assert.equal((await manager.call("PATCH", path, { body: { role: "Administrator" } })).status, 200);
    const atHome = (await own.call("GET", path)).body;
    assert.deepEqual(
      [atHome["membershipAttributes"], atHome["role"], atHome["nickname"]],
      [{}, "Standard", null],
    );
  });

  test("the audit log names the client and the changed members, not their values", async () => {
    const { id, path } = await newUser();
    await writer.call("PATCH", path, { body: { nickname: "Secretive", address: { locality: "Bristol" } } });
    const { query } = running.service.database;
    const events = await listAuditEvents(query, org.organisation.id, 50);
    const event = events.find(({ action, target }) => action === "user.profile-changed" && target === id);
    assert.equal(event?.actor, `client:${writer.application.id}`);
    assert.equal(event.address, "127.0.0.1");
    assert.deepEqual(event.details, { changed: ["nickname", "locality"] });
  });

  test("an unknown id is not found, also where it is no id", async () => {
    for (const id of [crypto.randomUUID(), "x", "%00", "..%2f"])
      assert.ok([400, 404].includes((await reader.call("GET", `/users/${id}`)).status), id);
    const nobody = `/users/${crypto.randomUUID()}`;
    assert.equal((await writer.call("PATCH", nobody, { body: { nickname: "x" } })).status, 404);
  });
});
