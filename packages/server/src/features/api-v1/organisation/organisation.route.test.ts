import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { makeOrganisation, startTestService, type TestService } from "../../../testing/test-service.ts";

type Body = Readonly<Record<string, unknown>>;

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

  async function fixture() {
    const org = await makeOrganisation(running.service);
    const scopes = ["signet:organisation:write", "signet:audit:read", "signet:applications:write"] as const;
    return { org, api: await makeApiClient(running.service, org, scopes) };
  }
  const itemsOf = (body: Body) => body["items"] as Body[];

  test("name, branding and policies are read and changed, and unset ones return to their defaults", async () => {
    const { org, api } = await fixture();
    const before = (await api.call("GET", "")).body;
    assert.deepEqual(
      [before["id"], before["name"], before["state"], before["issuer"]],
      [org.organisation.id, org.organisation.name, "active", org.issuer],
    );
    clock.advance(1_000);
    const changed = await api.call("PATCH", "", {
      body: { name: "Renamed", branding: { accentColor: "#0a5c8f" }, policies: { passwordMinLength: 20 } },
    });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    const { branding, policies, updatedAt } = changed.body as {
      branding: Body;
      policies: Body;
      updatedAt: string;
    };
    assert.deepEqual([branding["accentColor"], policies["passwordMinLength"]], ["#0a5c8f", 20]);
    assert.equal(updatedAt, new Date(clock()).toISOString());
    const unset = await api.call("PATCH", "", {
      body: { branding: null, policies: { passwordMinLength: null } },
    });
    assert.deepEqual(
      [unset.body["branding"], unset.body["policies"]],
      [before["branding"], before["policies"]],
    );
    assert.equal(unset.body["name"], "Renamed");
    for (const [body, at] of [
      [{ policies: { passwordMinLength: 1 } }, "/policies/passwordMinLength"],
      [{ branding: { accentColor: "red" } }, "/branding/accentColor"],
      [{ state: "suspended" }, "/state"],
      [{ name: "" }, "/name"],
    ] as const) {
      const refused = await api.call("PATCH", "", { body });
      const [fault] = (refused.body["errors"] ?? []) as Array<{ path: string }>;
      assert.deepEqual([refused.status, fault?.path], [422, at]);
    }
  });

  test("where no email can be sent, a code or link takes the place of no password", async () => {
    const { api } = await fixture();
    for (const methods of [["emailCode"], ["passkey", "magicLink"]]) {
      const refused = await api.call("PUT", "/sign-in", { body: { methods } });
      const [fault] = (refused.body["errors"] ?? []) as Array<{ path: string }>;
      assert.deepEqual([refused.status, fault?.path], [422, "/methods"], methods.join());
      const policies = { signInMethods: methods };
      assert.equal((await api.call("PATCH", "", { body: { policies } })).status, 422, methods.join());
    }
    for (const methods of [["passkey"], ["passkey", "emailCode", "password"]])
      assert.equal((await api.call("PUT", "/sign-in", { body: { methods } })).status, 200, methods.join());
  });

  test("sign-in and sign-up settings are changed as they were read, or not at all", async () => {
    const { api } = await fixture();
    for (const [path, one, other] of [
      ["/sign-in", { methods: ["passkey", "password"] }, { methods: ["password"] }],
      ["/sign-up", { mode: "open" }, { mode: "approval" }],
    ] as const) {
      const tagNow = async () => String((await api.call("GET", path)).headers.get("etag"));
      const first = await tagNow();
      assert.match(first, /^"[\w-]{22}"$/);
      const unchanged = await api.call("GET", path, { headers: { "if-none-match": first } });
      assert.equal(unchanged.status, 304);
      const set = await api.call("PUT", path, { body: one, headers: { "if-match": first } });
      assert.equal(set.status, 200, JSON.stringify(set.body));
      assert.equal(set.headers.get("etag"), await tagNow());
      const late = await api.call("PUT", path, { body: other, headers: { "if-match": first } });
      assert.deepEqual([late.status, late.body["type"]], [412, "urn:signet:error:stale"]);
      const { body } = await api.call("GET", path);
      for (const [name, value] of Object.entries(one)) assert.deepEqual(body[name], value);
      // Without it the last one counts, as before.
      assert.equal((await api.call("PUT", path, { body: other })).status, 200);
      // Of two at once with the same tag, one changes it.
      const tag = await tagNow();
      const both = await Promise.all(
        [one, one].map((sent) => api.call("PUT", path, { body: sent, headers: { "if-match": tag } })),
      );
      assert.deepEqual(both.map(({ status }) => status).sort(), [200, 412]);
    }
  });

  test("a signing key is followed by another one", async () => {
    const { api } = await fixture();
    const list = async () =>
      itemsOf((await api.call("GET", "/signing-keys?filter=alg%20eq%20%22es256%22")).body);
    const [first] = await list();
    const made = await api.call("POST", "/signing-keys", { body: { alg: "ES256" } });
    assert.deepEqual([made.status, made.body["state"]], [201, "next"]);
    assert.deepEqual((await list()).map(({ state }) => state).sort(), ["active", "next"]);
    const at = await api.call("POST", "/signing-keys", { body: { alg: "RS256", compromised: true } });
    assert.equal(at.body["state"], "active");
    assert.doesNotMatch(JSON.stringify(await list()), /private|"d"/i);
    assert.equal(first?.["kid"], first?.["id"]);
    const read = (kid: unknown) => api.call("GET", `/signing-keys/${kid}`);
    assert.deepEqual((await read(made.body["kid"])).body, made.body);
    assert.ok(made.headers.get("location")?.endsWith(`/signing-keys/${made.body["kid"]}`));
    for (const other of [
      "unknown",
      (await (await fixture()).api.call("POST", "/signing-keys", { body: { alg: "ES256" } })).body["kid"],
    ])
      assert.equal((await read(other)).status, 404);
  });

  test("the audit log is listed newest first, filtered, walked and exported", async () => {
    const { org, api } = await fixture();
    for (const name of ["one", "two", "three"]) {
      clock.advance(1_000);
      assert.equal((await api.call("POST", "/scopes", { body: { name } })).status, 201);
    }
    const filter = `action eq "scope.created" and actorId eq "${api.application.id}"`;
    const page = async (cursor?: string) =>
      (
        await api.call(
          "GET",
          `/audit-events?${new URLSearchParams({ filter, limit: "2", ...(cursor ? { cursor } : {}) })}`,
        )
      ).body;
    const first = await page();
    const second = await page(String(first["nextCursor"]));
    const names = [...itemsOf(first), ...itemsOf(second)].map(({ details }) => (details as Body)["name"]);
    assert.deepEqual(names, ["three", "two", "one"]);
    const [event] = itemsOf(first);
    assert.deepEqual([event?.["actorType"], event?.["address"]], ["client", "127.0.0.1"]);
    const alone = await api.call("GET", `/audit-events/${event?.["id"]}`);
    assert.deepEqual([alone.status, alone.body], [200, event]);
    const url = `${running.baseUrl}/api/v1/organisations/${org.organisation.id}/audit-events/export`;
    const authorization = `Bearer ${api.accessToken}`;
    for (const [format, type] of [
      ["", "application/x-ndjson"],
      ["?format=csv", "text/csv"],
    ] as const) {
      const answer = await fetch(`${url}${format}`, { headers: { authorization } });
      assert.ok(answer.headers.get("content-type")?.startsWith(type));
      assert.match(answer.headers.get("ratelimit") ?? "", /api-client/);
      const lines = (await answer.text()).split("\n");
      assert.equal(lines.filter((line) => line.includes("scope.created")).length, 3);
    }
    const other = await fixture();
    assert.equal((await other.api.call("GET", `/audit-events/${event?.["id"]}`)).status, 404);
    const theirs = await fetch(url, { headers: { authorization: `Bearer ${other.api.accessToken}` } });
    assert.equal(theirs.status, 404);
  });

  test("consents and pre-authorizations are granted, listed and revoked", async () => {
    const { org, api } = await fixture();
    const clientId = org.web.application.id;
    const grant = (body: object) => api.call("POST", "/consents", { body: { clientId, ...body } });
    const first = await grant({ userId: org.user.id, scopes: ["openid"] });
    assert.deepEqual([first.status, first.body["kind"]], [201, "user"]);
    const more = await grant({ userId: org.user.id, scopes: ["email"] });
    assert.deepEqual([more.status, more.body["id"]], [200, first.body["id"]]);
    assert.deepEqual((more.body["scopes"] as string[]).toSorted(), ["email", "openid"]);
    assert.equal((await grant({ scopes: ["openid"], userId: null })).body["kind"], "organisation");
    const other = await fixture();
    for (const [body, at] of [
      [{ userId: other.org.user.id, scopes: ["openid"] }, "/userId"],
      [{ clientId: other.org.web.application.id, scopes: ["openid"] }, "/clientId"],
      [{ scopes: ["undefined"] }, "/scopes"],
    ] as const) {
      const refused = await grant(body);
      const [fault] = (refused.body["errors"] ?? []) as Array<{ path: string }>;
      assert.deepEqual([refused.status, fault?.path], [422, at]);
    }
    const list = async (filter: string) =>
      itemsOf((await api.call("GET", `/consents?${new URLSearchParams({ filter, sort: "-kind" })}`)).body);
    assert.deepEqual(
      (await list("revokedAt eq null")).map(({ kind }) => kind),
      ["user", "organisation"],
    );
    assert.equal((await api.call("DELETE", `/consents/${String(first.body["id"])}`)).status, 204);
    assert.deepEqual(
      (await list("revokedAt pr")).map(({ id }) => id),
      [first.body["id"]],
    );
    const preauthorized = { clientId, scopes: ["openid"] };
    const made = await api.call("POST", "/preauthorizations", { body: preauthorized });
    assert.equal(made.status, 201);
    assert.equal((await api.call("POST", "/preauthorizations", { body: preauthorized })).status, 409);
    const path = `/preauthorizations/${String(made.body["id"])}`;
    assert.deepEqual((await api.call("GET", path)).body, made.body);
    assert.equal((await api.call("DELETE", path)).status, 204);
    assert.equal((await api.call("GET", path)).status, 404);
  });
});
