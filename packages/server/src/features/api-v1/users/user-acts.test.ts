import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { bindSession } from "../../../core/sessions/sessions.store.ts";
import { signIn } from "../../../core/sessions/sessions.ts";
import { lockUserAccount } from "../../../core/users/account.store.ts";
import { findUser, insertMembership } from "../../../core/users/users.store.ts";
import { wireTime } from "../../../http/api/times.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { codeSource } from "../../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo } from "../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { credentials, getTokens, postForm, refresh } from "../../../testing/fixtures/client.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const DAY_MS = 86_400_000;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let api: ApiClient;
  let manager: ApiClient;
  before(async () => {
    clock = fakeClock();
    const options = { clock, passwords: quickPasswords, env: MAIL_ENV };
    running = await startTestService({ databaseUrl: await fresh(), ...options });
    org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, ["signet:users:write"]);
    manager = await makeApiClient(running.service, org, ["signet:users:write", "signet:organisation:write"]);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  let count = 0;
  const create = async (more: object = {}, as = manager) => {
    const { status, body } = await as.call("POST", "/users", {
      body: { email: `act${++count}@acts.example`, ...more },
    });
    return { status, body, path: `/users/${String(body["id"])}`, code: codeOf(body) };
  };
  const codeOf = (body: Readonly<Record<string, unknown>>) =>
    String(body["type"] ?? "").replace("urn:signet:error:", "");
  const post = async (path: string, body?: object, as = api) => {
    const answer = await as.call("POST", path, body === undefined ? {} : { body });
    return { ...answer, code: codeOf(answer.body) };
  };

  test("a user is made whole: names, username, attributes; the same address once", async () => {
    const made = await create({
      ...{ email: " Whole@acts.example ", emailVerified: true, password: "plum tractor ninety" },
      ...{ firstname: "Grace", surname: "Okafor", username: "grace", nickname: null },
      ...{ attributes: { costCentre: 7 }, membershipAttributes: { team: "a" } },
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { body } = await api.call("GET", made.path);
    assert.deepEqual(body, made.body);
    assert.deepEqual(
      [body["email"], body["emailVerified"], body["hasPassword"], body["state"], body["role"]],
      ["Whole@acts.example", true, true, "active", "Standard"],
    );
    assert.deepEqual([body["attributes"], body["username"]], [{ costCentre: 7 }, "grace"]);
    const again = await create({ email: "whole@ACTS.example" });
    assert.deepEqual([again.status, again.code], [409, "conflict"]);
    // What is wrong beside the account leaves no account.
    const half = await create({ email: "half@acts.example", username: "grace" });
    assert.equal(half.status, 409);
    const found = await api.call(
      "GET",
      `/users?${new URLSearchParams({ filter: 'email eq "half@acts.example"' })}`,
    );
    assert.deepEqual(found.body["items"], []);
  });

  test("an invitation works for seven days, and another one replaces it", async () => {
    const invited = await create({ sendInvitation: true, firstname: "Ina" });
    assert.deepEqual([invited.status, invited.body["state"]], [201, "invited"]);
    const [{ mail } = {}] = await mailsTo(running.service, String(invited.body["email"]));
    assert.ok(mail?.template === "AcceptInvitation");
    assert.equal(mail.data.expiresAt, clock() + 7 * DAY_MS);
    assert.equal((await post(`${invited.path}/invite`)).status, 200);
    const withPassword = await create({ password: "plum tractor ninety" });
    assert.deepEqual((await post(`${withPassword.path}/invite`)).code, "conflict");
    const both = await create({ sendInvitation: true, password: "plum tractor ninety" });
    assert.equal(both.status, 422);
  });

  test("disabled and enabled as often as asked; the entity tag guards an act", async () => {
    const { path } = await create();
    const tag = (await api.call("GET", path)).headers.get("etag") ?? "";
    for (const state of ["disabled", "disabled"]) {
      const { status, body } = await post(`${path}/disable`);
      assert.deepEqual([status, body["state"]], [200, state]);
    }
    const stale = await api.call("POST", `${path}/enable`, { headers: { "if-match": tag } });
    assert.equal(stale.status, 412);
    assert.equal((await post(`${path}/enable`)).body["state"], "active");
    assert.equal((await post(`${path}/enable`, {})).body["state"], "active");
  });

  test("of several acts with the same entity tag, one is done", async () => {
    const { path } = await create({ sendInvitation: true });
    const etag = (await api.call("GET", path)).headers.get("etag") ?? "";
    const headers = { "if-match": etag };
    const calls = () => [
      ...["1", "2", "3"].map(() => api.call("POST", `${path}/disable`, { headers })),
      api.call("PATCH", path, { body: { nickname: "Raced" }, headers }),
      api.call("DELETE", path, { headers }),
    ];
    const account = { homeOrgId: org.organisation.id, id: path.slice("/users/".length) };
    // All of them come while another one changes the account.
    const begun = await running.service.database.transaction(async (tx) => {
      await lockUserAccount(tx, account, clock());
      const racing = calls();
      await setTimeout(300);
      return { racing };
    });
    const racing = await Promise.all(begun.racing);
    const statuses = racing.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status < 300).length, 1, JSON.stringify(statuses));
    assert.ok(
      statuses.every((status) => [200, 204, 404, 412].includes(status)),
      JSON.stringify(statuses),
    );
  });

  test("no transaction is held while a password is hashed", async (t) => {
    const { database, passwords } = running.service;
    const { hash } = passwords;
    let hashed = 0;
    // On SQLite the second would wait for the first, which waits for it.
    const writing = async (password: string, orgId: string) => {
      await database.transaction((tx) =>
        lockUserAccount(tx, { homeOrgId: org.organisation.id, id: org.user.id }, clock()),
      );
      hashed++;
      return hash(password, orgId);
    };
    t.mock.method(passwords, "hash", writing);
    const made = await create({ password: "plum tractor ninety" });
    assert.equal(made.status, 201);
    const body = { password: "another plum tractor" };
    assert.equal((await post(`${made.path}/reset-password`, body)).status, 200);
    assert.equal((await manager.call("POST", "/users", { body: { email: "x" } })).status, 422);
    assert.equal(hashed, 2, "each once, and none for who has no password");
  });

  test("a sign-out ends sessions and refresh tokens", async () => {
    const other = await makeOrganisation(running.service, "SignedOut");
    const theirs = await makeApiClient(running.service, other, [
      "signet:users:write",
      "signet:organisation:write",
    ]);
    const { refreshToken } = await getTokens(other, { scope: "openid offline_access" });
    const path = `/users/${other.user.id}`;
    const before = (await theirs.call("GET", `${path}/sessions`)).body["items"] as object[];
    assert.equal(before.length, 1);
    assert.equal((await post(`${path}/sign-out`, undefined, theirs)).status, 200);
    assert.deepEqual((await theirs.call("GET", `${path}/sessions`)).body["items"], []);
    assert.equal((await refresh(other, refreshToken)).status, 400);
  });

  test("one session is ended by its id, and no other", async () => {
    const { path, body } = await create();
    const userId = String(body["id"]);
    const { organisation } = org;
    const user = await findUser(running.service.database.query, organisation.id, userId);
    assert.ok(user);
    const proof = { amr: ["pwd"], acr: "urn:signet:acr:pwd", address: "127.0.0.1", userAgent: "Test" };
    const start = () => signIn(running.service, { organisation, user, before: undefined, ...proof });
    const [one, other] = [await start(), await start()];
    const sessions = `${path}/sessions`;
    const bound = { orgId: organisation.id, id: one.session.id, boundKey: "{}", now: one.session.createdAt };
    assert.ok(await bindSession(running.service.database.query, bound));
    const listed = (await api.call("GET", `${sessions}?sort=deviceBound`)).body["items"];
    assert.deepEqual(
      (listed as Array<Record<string, unknown>>).map(({ id, deviceBound, boundAt, deviceId }) => {
        return { id, deviceBound, boundAt, deviceId };
      }),
      [
        { id: other.session.id, deviceBound: false, boundAt: null, deviceId: null },
        { id: one.session.id, deviceBound: true, boundAt: wireTime(bound.now), deviceId: null },
      ],
    );
    const end = await api.call("DELETE", `${sessions}/${one.session.id}`);
    assert.equal(end.status, 204);
    const left = (await api.call("GET", sessions)).body["items"] as Array<{ id: string; acr: string }>;
    assert.deepEqual(
      left.map(({ id }) => id),
      [other.session.id],
    );
    assert.equal((await api.call("DELETE", `${sessions}/${one.session.id}`)).status, 404);
    const neighbour = await create();
    assert.equal((await api.call("DELETE", `${neighbour.path}/sessions/${other.session.id}`)).status, 404);
  });

  test("a password is set, or a link for one is sent", async () => {
    const { path, body } = await create();
    const weak = await post(`${path}/reset-password`, { password: "x" });
    assert.deepEqual(
      [weak.status, (weak.body["errors"] as Array<{ path: string }>)[0]?.path],
      [422, "/password"],
    );
    const set = await post(`${path}/reset-password`, { password: "orange ladder sixty" });
    assert.deepEqual([set.status, set.body["hasPassword"]], [200, true]);
    assert.equal((await post(`${path}/reset-password`, { password: null })).status, 200);
    const mails = await mailsTo(running.service, String(body["email"]));
    assert.ok(mails.some(({ mail }) => mail.template === "ResetPassword"));
  });

  test("an email address is changed and counts as verified; another's is a conflict", async () => {
    const [{ path }, other] = [await create(), await create()];
    const changed = await api.call("PATCH", path, { body: { email: "new@acts.example" } });
    assert.deepEqual(
      [changed.status, changed.body["email"], changed.body["emailVerified"]],
      [200, "new@acts.example", true],
    );
    const taken = await api.call("PATCH", path, { body: { email: other.body["email"], nickname: "Half" } });
    assert.deepEqual([taken.status, codeOf(taken.body)], [409, "conflict"]);
    assert.equal((await api.call("GET", path)).body["nickname"], null);
    assert.equal((await api.call("PATCH", path, { body: { email: "x" } })).status, 422);
  });

  test("an administrator is made, changed and ended by who may change the organisation", async () => {
    assert.equal((await create({ role: "Administrator" }, api)).code, "exceeds-caller");
    const { path } = await create({ role: "Administrator" });
    const password = "plum tractor ninety";
    assert.equal((await create({ role: "Administrator", password })).status, 201);
    for (const act of ["disable", "enable", "sign-out", "reset-factors", "reset-password"])
      assert.equal((await post(`${path}/${act}`, {})).code, "exceeds-caller", act);
    assert.equal(codeOf((await api.call("DELETE", path)).body), "exceeds-caller");
    assert.equal((await post(`${path}/disable`, {}, manager)).status, 200);
    assert.equal((await manager.call("DELETE", path)).status, 204);
  });

  test("the last administrator stays", async () => {
    const other = await makeOrganisation(running.service, "Alone");
    const theirs = await makeApiClient(running.service, other, [
      "signet:users:write",
      "signet:organisation:write",
    ]);
    const path = `/users/${other.user.id}`;
    await theirs.call("PATCH", path, { body: { role: "Administrator" } });
    for (const [method, at, body] of [
      ["POST", `${path}/disable`, {}],
      ["PATCH", path, { role: "Standard" }],
      ["DELETE", path, undefined],
    ] as const) {
      const answer = await theirs.call(method, at, body === undefined ? {} : { body });
      assert.deepEqual([answer.status, codeOf(answer.body)], [409, "last-administrator"], `${method} ${at}`);
    }
    assert.equal((await theirs.call("GET", path)).body["state"], "active");
  });

  test("of a guest, only the membership is this organisation's", async () => {
    const far = await makeOrganisation(running.service, "Far");
    const orgId = org.organisation.id;
    const guest = { orgId, userId: far.user.id, homeOrgId: far.organisation.id, role: "Standard" as const };
    await insertMembership(running.service.database.query, { ...guest, now: clock() });
    const path = `/users/${far.user.id}`;
    for (const act of ["invite", "reset-factors", "reset-password"])
      assert.equal((await post(`${path}/${act}`, {})).code, "foreign-account", act);
    assert.equal((await post(`${path}/sign-out`, {})).status, 200);
    assert.equal((await api.call("DELETE", path)).status, 204);
    assert.equal((await api.call("GET", path)).status, 404);
    const theirs = await makeApiClient(running.service, far, ["signet:users:read"]);
    assert.equal((await theirs.call("GET", path)).status, 200);
  });

  test("a guest is disabled and enabled here alone, and nothing that was ended comes back", async () => {
    const far = await makeOrganisation(running.service, "Afar");
    const orgId = org.organisation.id;
    const guest = { orgId, userId: far.user.id, homeOrgId: far.organisation.id, role: "Standard" as const };
    await insertMembership(running.service.database.query, { ...guest, now: clock() });
    const path = `/users/${far.user.id}`;
    const visiting = { ...org, user: far.user };
    const tokens = await codeSource(visiting).tokens();
    const isActive = async () => {
      const form = { ...credentials(org.web), token: tokens.accessToken };
      return (await postForm(`${org.issuer}/introspect`, form)).body["active"];
    };
    const listed = async (filter: string) =>
      (
        (await api.call("GET", `/users?${new URLSearchParams({ filter })}`)).body["items"] as Array<{
          id: string;
        }>
      )
        .map(({ id }) => id)
        .includes(far.user.id);
    assert.equal(await isActive(), true);
    for (const _ of ["once", "again"]) {
      const disabled = await api.call("POST", `${path}/disable`, { body: {} });
      assert.deepEqual([disabled.status, disabled.body["state"]], [200, "disabled"]);
    }
    assert.equal(await isActive(), false);
    assert.deepEqual([await listed('state eq "disabled"'), await listed('state eq "active"')], [true, false]);
    await assert.rejects(codeSource(visiting).code());
    const theirs = await makeApiClient(running.service, far, ["signet:users:read"]);
    assert.equal((await theirs.call("GET", path)).body["state"], "active");
    const enabled = await api.call("POST", `${path}/enable`, { body: {} });
    assert.deepEqual([enabled.status, enabled.body["state"]], [200, "active"]);
    assert.equal(await isActive(), false);
    assert.equal(typeof (await codeSource(visiting).tokens()).accessToken, "string");
  });

  test("a guest who is the last administrator is not disabled, and a disabled one is none", async () => {
    const [here, far] = [
      await makeOrganisation(running.service, "Visited"),
      await makeOrganisation(running.service, "Visitors"),
    ];
    const theirs = await makeApiClient(running.service, here, [
      "signet:users:write",
      "signet:organisation:write",
    ]);
    const orgId = here.organisation.id;
    const guest = {
      orgId,
      userId: far.user.id,
      homeOrgId: far.organisation.id,
      role: "Administrator" as const,
    };
    await insertMembership(running.service.database.query, { ...guest, now: clock() });
    const disable = (id: string) => theirs.call("POST", `/users/${id}/disable`, { body: {} });
    const alone = await disable(far.user.id);
    assert.deepEqual([alone.status, codeOf(alone.body)], [409, "last-administrator"]);
    await theirs.call("PATCH", `/users/${here.user.id}`, { body: { role: "Administrator" } });
    assert.equal((await disable(far.user.id)).status, 200);
    const last = await disable(here.user.id);
    assert.deepEqual([last.status, codeOf(last.body)], [409, "last-administrator"]);
  });
});
