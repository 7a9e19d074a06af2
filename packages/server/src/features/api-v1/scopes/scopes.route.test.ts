import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sha256Base64url } from "@signet/protocol/hash";
import {
  createPreauthorization,
  grantByAdministrator,
  grantOrganisationConsent,
} from "../../../core/consents/consents.ts";
import { createCustomScope } from "../../../core/scopes/custom-scopes.ts";
import { insertMembership } from "../../../core/users/users.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestService,
} from "../../../testing/test-service.ts";

type Record = { readonly id: string; readonly name: string };

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  /** An organisation of its own with scopes of these names, made one second after the other. */
  async function scopesOf(...names: readonly string[]) {
    const org = await makeOrganisation(running.service);
    const api = await makeApiClient(running.service, org, ["signet:applications:write"]);
    const make = (name: string, more: object = {}) =>
      createCustomScope(running.service, {
        ...{ orgId: org.organisation.id, name, actor: "test" },
        ...{ displayName: name, description: "", claims: [], sensitive: false, ...more },
      });
    for (const name of names) {
      await make(name);
      clock.advance(1_000);
    }
    return { org, api, make };
  }

  const list = async (api: ApiClient, query: Readonly<{ [name: string]: string }> = {}) => {
    const { status, body } = await api.call("GET", `/scopes?${new URLSearchParams(query)}`);
    assert.equal(status, 200, JSON.stringify(body));
    const { items, nextCursor, total } = body as unknown as {
      items: readonly Record[];
      nextCursor: string | null;
      total?: number;
    };
    return { names: items.map(({ name }) => name), nextCursor, total };
  };

  test("a scope is made, read, changed and deleted; unset members are null, and times are told", async () => {
    const { org, api } = await scopesOf();
    const made = await api.call("POST", "/scopes", { body: { name: "payroll", displayName: null } });
    assert.equal(made.status, 201);
    const id = String(made.body["id"]);
    const at = made.body["createdAt"];
    const content = { displayName: "payroll", description: null, claims: [], sensitive: false };
    assert.deepEqual(made.body, { id, name: "payroll", ...content, createdAt: at, updatedAt: at });
    const { baseUrl } = running;
    assert.equal(
      made.headers.get("location"),
      `${baseUrl}/api/v1/organisations/${org.organisation.id}/scopes/${id}`,
    );
    const path = `/scopes/${id}`;
    const body = {
      description: "Pay",
      claims: [{ name: "cost", source: "static", value: 7 }],
      sensitive: true,
    };
    for (const type of ["application/json", "application/merge-patch+json"]) {
      const changed = await api.call("PATCH", path, { body, headers: { "content-type": type } });
      assert.deepEqual([changed.status, changed.body["description"]], [200, "Pay"]);
    }
    const unset = await api.call("PATCH", path, {
      body: { description: null, claims: null, sensitive: null },
    });
    assert.deepEqual(
      [unset.body["description"], unset.body["claims"], unset.body["sensitive"]],
      [null, [], false],
    );
    assert.equal((await api.call("DELETE", path)).status, 204);
    assert.equal((await api.call("GET", path)).status, 404);
    assert.equal((await api.call("DELETE", path)).status, 404);
  });

  test("read-only and unknown members are refused by name, and nothing is changed", async () => {
    const { api, make } = await scopesOf();
    const { id } = await make("fixed");
    for (const [member, value] of Object.entries({ name: "other", id: "x", createdAt: "x", other: 1 })) {
      const { status, body } = await api.call("PATCH", `/scopes/${id}`, {
        body: { description: "half", [member]: value },
      });
      const [fault] = body["errors"] as Array<{ path: string }>;
      assert.deepEqual([status, fault?.path], [422, `/${member}`]);
    }
    assert.equal((await api.call("GET", `/scopes/${id}`)).body["description"], null);
    const taken = await api.call("POST", "/scopes", { body: { name: "fixed" } });
    assert.deepEqual([taken.status, taken.body["type"]], [409, "urn:signet:error:conflict"]);
  });

  test("a record has an entity tag: 304 for what is known, 412 for what has changed", async () => {
    const { api, make } = await scopesOf();
    const { id } = await make("tagged");
    const path = `/scopes/${id}`;
    const tag = (await api.call("GET", path)).headers.get("etag") ?? "";
    assert.match(tag, /^"[\w-]{22}"$/);
    for (const known of [tag, `W/${tag}`, `"x", ${tag}`, "*"]) {
      const unchanged = await api.call("GET", path, { headers: { "if-none-match": known } });
      assert.deepEqual([unchanged.status, unchanged.headers.get("etag")], [304, tag]);
    }
    const patch = (ifMatch: string) =>
      api.call("PATCH", path, { body: { description: ifMatch }, headers: { "if-match": ifMatch } });
    const changed = await patch(tag);
    assert.equal(changed.status, 200);
    assert.notEqual(changed.headers.get("etag"), tag);
    for (const wrong of [tag, '"x"', `W/${changed.headers.get("etag")}`]) {
      const refused = await patch(wrong);
      assert.deepEqual([refused.status, refused.body["type"]], [412, "urn:signet:error:stale"], wrong);
      assert.equal((await api.call("DELETE", path, { headers: { "if-match": wrong } })).status, 412);
    }
    assert.equal((await patch("*")).status, 200);
    const last = (await api.call("GET", path)).headers.get("etag") ?? "";
    assert.equal((await api.call("DELETE", path, { headers: { "if-match": last } })).status, 204);
  });

  test("a walk gives each lasting record once, whatever comes and goes meanwhile", async () => {
    const names = ["e", "D", "c", "B", "a"];
    for (const sort of ["createdAt", "-createdAt", "name", "-name", "description", "-sensitive"]) {
      const { api, make, org } = await scopesOf(...names);
      const seen: string[] = [];
      let cursor: string | null = null;
      for (let page = 0; ; page += 1) {
        const query: Readonly<{ [name: string]: string }> = cursor === null ? {} : { cursor };
        const found: Awaited<ReturnType<typeof list>> = await list(api, { sort, limit: "2", ...query });
        seen.push(...found.names);
        cursor = found.nextCursor;
        if (page === 0) {
          await make(`0-${sort}`);
          // The record that the cursor stands at.
          const last = (await api.call("GET", `/scopes?sort=${sort}&limit=2`)).body["items"] as Record[];
          await api.call("DELETE", `/scopes/${last[1]?.id}`);
        }
        if (cursor === null) break;
      }
      assert.deepEqual(seen.filter((name) => names.includes(name)).toSorted(), names.toSorted(), sort);
      assert.equal(new Set(seen).size, seen.length, `${sort} ${org.organisation.id}`);
    }
  });

  test("a list is sorted by a member, in either direction, and counted when asked", async () => {
    const { api, make } = await scopesOf("b", "C", "a");
    assert.deepEqual((await list(api)).names, ["b", "C", "a"]);
    assert.deepEqual((await list(api, { sort: "-createdAt" })).names, ["a", "C", "b"]);
    assert.deepEqual((await list(api, { sort: "name" })).names, ["a", "b", "C"]);
    assert.deepEqual(
      await list(api, { sort: "-name", limit: "1", total: "true" }).then(({ names, total }) => [
        names,
        total,
      ]),
      [["C"], 3],
    );
    assert.equal((await list(api)).total, undefined);
    await make("d", { sensitive: true });
    const some = await list(api, { filter: "sensitive eq false", total: "true", limit: "2" });
    assert.deepEqual([some.names, some.total], [["b", "C"], 3]);
  });

  test("a filter looks at every scalar member", async () => {
    const { api, make } = await scopesOf("alpha", "Beta");
    const { createdAt } = await make("org", {
      displayName: "Århus",
      description: 'says "no" 100%_!',
      sensitive: true,
    });
    const at = new Date(createdAt).toISOString();
    for (const [filter, names] of [
      ['name eq "ALPHA"', ["alpha"]],
      ['NAME EQ "beta"', ["Beta"]],
      ['displayName eq "århus"', ["org"]],
      ['name ne "alpha"', ["Beta", "org"]],
      ['name sw "al" or name ew "TA"', ["alpha", "Beta"]],
      ['not (name co "a")', ["org"]],
      ['name gt "alpha" and name lt "c"', ["Beta"]],
      ["description pr", ["org"]],
      ["not (description pr)", ["alpha", "Beta"]],
      ["description eq null", ["alpha", "Beta"]],
      ['description co "%_!"', ["org"]],
      [String.raw`description co "\"NO\""`, ["org"]],
      ['description ne "x"', ["alpha", "Beta", "org"]],
      ["sensitive eq true", ["org"]],
      ["sensitive ne true", ["alpha", "Beta"]],
      [`createdAt ge "${at}"`, ["org"]],
      [`createdAt lt "${at.replace("Z", "+00:00")}"`, ["alpha", "Beta"]],
      ['id pr and (name eq "x" or sensitive eq true)', ["org"]],
    ] as const)
      assert.deepEqual((await list(api, { filter })).names, names, filter);
  });

  test("what uses a scope is named, and what was granted for one of the same name before is not", async () => {
    const { org, api, make } = await scopesOf();
    const first = await make("ledger");
    const settings = { allowedScopes: ["ledger"] };
    const { application } = await makeClient(running.service, org.organisation, settings);
    await makeClient(running.service, org.organisation, { description: "ledger", allowedScopes: ["openid"] });
    const grant = { application, scopes: ["ledger"], actor: "test" };
    const forAll = await grantOrganisationConsent(running.service, grant);
    const forOne = await grantByAdministrator(running.service, { ...grant, userId: org.user.id });
    // Of a guest, whose address is the home's.
    const home = await makeOrganisation(running.service, "Home");
    const visit = { orgId: org.organisation.id, homeOrgId: home.organisation.id, userId: home.user.id };
    await insertMembership(running.service.database.query, { ...visit, role: "Standard", now: clock() });
    const ofGuest = await grantByAdministrator(running.service, { ...grant, userId: home.user.id });
    const ahead = await createPreauthorization(running.service, grant);
    const uses = async (id: string, query = "") => {
      const { status, body } = await api.call("GET", `/scopes/${id}/uses?total=true${query}`);
      assert.equal(status, 200, JSON.stringify(body));
      const items = body["items"] as Array<Readonly<{ type: string; id: string; name: string }>>;
      return { total: body["total"], items: items.map(({ type, id: of, name }) => [type, of, name]) };
    };
    const { name } = application;
    const all = [
      ["application", application.id, name],
      ["consent", forAll, name],
      ["consent", forOne.id, `${name} (${org.user.email})`],
      ["consent", ofGuest.id, `${name} (${home.user.email})`],
      ["preauthorization", ahead.id, name],
    ];
    const told = await uses(first.id);
    assert.equal(told.total, 5);
    assert.deepEqual(told.items.toSorted(), all.toSorted());
    const filter = encodeURIComponent(`type eq "consent" and name co "${org.user.email}"`);
    assert.deepEqual((await uses(first.id, `&filter=${filter}`)).items.length, 1);

    assert.equal((await api.call("DELETE", `/scopes/${first.id}`)).status, 204);
    clock.advance(1_000);
    const second = await make("ledger");
    assert.deepEqual(await uses(second.id), { total: 0, items: [] });
    assert.equal((await api.call("GET", `/scopes/${first.id}/uses`)).status, 404);
  });

  test("what is wrong in a query is named, and lists nothing", async () => {
    const { api } = await scopesOf("one");
    for (const [name, values] of Object.entries({
      filter: [
        ...[
          "name",
          "name eq",
          "name eq one",
          'unknown eq "x"',
          "name eq 1",
          "sensitive gt true",
          'claims eq "x"',
        ],
        ...[
          'createdAt gt "yesterday"',
          'name.first eq "x"',
          'claims[name eq "x"]',
          `name eq "${"x".repeat(1_000)}"`,
        ],
        ...['urn:ietf:params:scim:schemas:core:2.0:User:name eq "x"', '(name eq "x"', "name gt null"],
        ...[String.raw`name eq "\u0000"`, String.raw`name eq "\ud800"`],
      ],
      sort: ["unknown", "--name", "claims"],
      limit: ["0", "201", "-1", "x"],
      total: ["yes"],
      cursor: ["x", Buffer.from('["x","y","z"]').toString("base64url"), "x".repeat(3_000)],
      search: ["one"],
      color: ["red"],
    }))
      for (const value of values) {
        const { status, body } = await api.call("GET", `/scopes?${new URLSearchParams({ [name]: value })}`);
        const [fault] = (body["errors"] ?? []) as Array<{ path: string }>;
        assert.deepEqual([status, fault?.path], [422, `?${name}`], value);
      }
  });

  test("a cursor is of its organisation, list, filter and order", async () => {
    const { api } = await scopesOf("a", "b", "c");
    const { api: other } = await scopesOf("a", "b", "c");
    const cursor = (await list(api, { limit: "1", sort: "name", filter: "id pr" })).nextCursor ?? "";
    const ask = (of: ApiClient, query: object) =>
      of.call("GET", `/scopes?${new URLSearchParams({ cursor, sort: "name", filter: "id pr", ...query })}`);
    assert.equal((await ask(api, { limit: "3" })).status, 200);
    for (const [of, query] of [
      [other, {}],
      [api, { sort: "-name" }],
      [api, { filter: "name pr" }],
    ] as const) {
      const { status, body } = await ask(of, query);
      const [fault] = (body["errors"] ?? []) as Array<{ path: string }>;
      assert.deepEqual([status, fault?.path], [422, "?cursor"]);
    }
  });

  test("an Idempotency-Key makes one record of many requests, for each caller", async () => {
    const { org, api } = await scopesOf();
    const headers = { "idempotency-key": "one" };
    const send = (body: object, as: ApiClient = api) => as.call("POST", "/scopes", { body, headers });
    const first = await send({ name: "once" });
    const again = await send({ name: "once" });
    assert.deepEqual([again.status, again.body], [201, first.body]);
    assert.equal(again.headers.get("idempotency-replayed"), "true");
    assert.equal(again.headers.get("location"), first.headers.get("location"));
    const reused = await send({ name: "other" });
    assert.deepEqual([reused.status, reused.body["type"]], [422, "urn:signet:error:key-reused"]);
    const neighbour = await makeApiClient(running.service, org, ["signet:applications:write"]);
    assert.equal((await send({ name: "once" }, neighbour)).status, 409);
    // A refusal is not kept: what was wrong may be right later.
    assert.equal((await send({ name: "later" }, neighbour)).status, 201);
    assert.equal(
      (await api.call("POST", "/scopes", { body: { name: "x" }, headers: { "idempotency-key": "a b" } }))
        .status,
      400,
    );
  });

  test("what is kept for an Idempotency-Key is nothing to guess a password in a body by", async () => {
    const { org } = await scopesOf();
    const { call } = await makeApiClient(running.service, org, ["signet:users:write"]);
    const body = { email: "kept@scopes.example", password: "plum tractor ninety" };
    const headers = { "idempotency-key": crypto.randomUUID() };
    assert.equal((await call("POST", "/users", { body, headers })).status, 201);
    assert.equal((await call("POST", "/users", { body, headers })).status, 201);
    const rows = await running.service.database.query
      .selectFrom("idempotency_key")
      .selectAll()
      .where("org_id", "=", org.organisation.id)
      .execute();
    assert.equal(rows.length, 1);
    const url = `/api/v1/organisations/${org.organisation.id}/users`;
    const sent = JSON.stringify(body);
    for (const text of [sent, `POST ${url}\n${sent}`])
      assert.equal(JSON.stringify(rows).includes(sha256Base64url(text)), false);
    assert.equal(JSON.stringify(rows).includes(body.password), false);
  });

  test("a body that is too large is refused as such", async () => {
    const { api } = await scopesOf();
    const body = JSON.stringify({ name: "x".repeat(10_000_000) });
    const { status, body: problem } = await api.call("POST", "/scopes", { body });
    assert.deepEqual([status, problem["type"]], [413, "urn:signet:error:too-large"]);
  });
});
