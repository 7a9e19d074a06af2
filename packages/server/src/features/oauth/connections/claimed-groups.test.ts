// Groups from a provider's claims: they follow each sign-in, and reach no group that is not the connection's to change.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { applyClaimedGroups } from "../../../core/connections/sign-in/claimed-groups.ts";
import { changeSignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import type { GroupMapping } from "../../../core/connections/sign-in/sign-in-settings.ts";
import { createGroup } from "../../../core/groups/groups.ts";
import { findUserByEmail } from "../../../core/users/users.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type HostileProvider, startHostileProvider } from "../../../testing/fakes/hostile-provider.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { newScimConnection } from "../../../testing/fixtures/scim-connection.ts";
import { connectTo, signInUpstream } from "../../../testing/fixtures/upstream-sign-in.ts";
import { showsConsent } from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let there: HostileProvider;
  let api: ApiClient;
  before(async () => {
    clock = fakeClock();
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
    org = await makeOrganisation(running.service);
    there = await startHostileProvider(clock);
    api = await makeApiClient(running.service, org, [
      ...(["signet:connections:write", "signet:groups:write", "signet:users:write"] as const),
    ]);
  });
  afterEach(() => there.reset());
  after(async () => {
    await there.close();
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const orgId = () => org.organisation.id;
  const newGroup = async (of = orgId()): Promise<string> => {
    const content = { displayName: `Group ${randomUUID()}`, description: null, externalId: null };
    return (await createGroup(running.service, { orgId: of, actor: "test", content })).id;
  };
  const connect = (groups: GroupMapping | null) =>
    connectTo(running, org, there, `There ${randomUUID()}`, { emailTrust: "verifiedClaim", groups });
  type Connected = Awaited<ReturnType<typeof connect>>;
  const signIn = async (connection: Connected, sub: string, claims: Record<string, unknown>) => {
    there.claims = { sub, email: `${sub}@there.example`, ...claims };
    there.userinfo = { ...there.userinfo, sub };
    assert.ok(showsConsent(await signInUpstream({ running, org, there, connection })));
    return userId(sub);
  };
  const userId = async (sub: string) => {
    const { query } = running.service.database;
    return (await findUserByEmail(query, orgId(), `${sub}@there.example`))?.user.id ?? "";
  };
  const groupsOf = async (user: string) => {
    const { body } = await api.call("GET", `/users/${user}/groups`);
    return (body["items"] as Array<{ id: string }>).map(({ id }) => id).sort();
  };
  const codeOf = ({ body }: { body: Record<string, unknown> }) =>
    String(body["type"]).replace("urn:signet:error:", "");
  const put = async (group: string, user: string) =>
    assert.equal((await api.call("PUT", `/groups/${group}/members/users/${user}`)).status, 204);

  test("memberships follow each sign-in, what is unknown means nothing, and the audit log tells each change", async () => {
    const [staff, admins] = [await newGroup(), await newGroup()];
    const connection = await connect({ from: "/realm/groups", map: { staff, admins, "7": admins } });
    const user = await signIn(connection, "follow", {
      realm: { groups: ["staff", "Administrator", "STAFF"] },
    });
    assert.deepEqual(await groupsOf(user), [staff]);
    await signIn(connection, "follow", { realm: { groups: ["staff", 7, { staff: true }, null] } });
    assert.deepEqual(await groupsOf(user), [staff, admins].sort());
    await signIn(connection, "follow", { realm: { groups: "admins" } });
    assert.deepEqual(await groupsOf(user), [admins]);
    const events = (await listAuditEvents(running.service.database.query, orgId(), 50)).filter(
      ({ action, target }) => action === "group.members-changed" && target === staff,
    );
    assert.deepEqual(
      events.map(({ actor, details }) => {
        const { added, removed } = details as { added: number; removed: number };
        return [actor, added, removed];
      }),
      [
        [`connection:${connection.id}`, 0, 1],
        [`connection:${connection.id}`, 1, 0],
      ],
    );
    await signIn(connection, "follow", {});
    assert.deepEqual(await groupsOf(user), [], "no claim is no group");
    assert.equal((await api.call("GET", `/users/${user}`)).body["role"], "Standard");
  });

  test("what the ID token lacks is asked for at userinfo, and what is signed goes before it", async () => {
    const [staff, admins] = [await newGroup(), await newGroup()];
    const connection = await connect({ from: "groups", map: { staff, admins } });
    there.userinfo = { sub: "info", groups: ["admins"] };
    const user = await signIn(connection, "info", {});
    assert.deepEqual(await groupsOf(user), [admins]);
    await signIn(connection, "info", { groups: ["staff"] });
    assert.deepEqual(await groupsOf(user), [staff]);
  });

  test("who is a member by hand stays one, and one of two connections does not end what the other says", async () => {
    const group = await newGroup();
    const map = { from: "groups", map: { staff: group } };
    const [one, two] = [await connect(map), await connect(map)];
    const user = await signIn(one, "hand", {});
    await put(group, user);
    await signIn(one, "hand", { groups: ["staff"] });
    await signIn(one, "hand", {});
    assert.deepEqual(await groupsOf(user), [group], "was a member before");

    const later = await signIn(one, "later", { groups: ["staff"] });
    await put(group, later);
    await signIn(one, "later", {});
    assert.deepEqual(await groupsOf(later), [group], "was made one by hand meanwhile");

    const both = await signIn(one, "both", { groups: ["staff"] });
    const followed = { act: { orgId: orgId(), actor: "test" }, userId: both, groupIds: [group] };
    const { database } = running.service;
    const apply = (connectionId: string, groupIds: readonly string[]) =>
      database.transaction((tx) =>
        applyClaimedGroups(tx, running.service, { ...followed, connectionId, groupIds }),
      );
    await apply(two.id, [group]);
    await signIn(one, "both", {});
    assert.deepEqual(await groupsOf(both), [group]);
    await apply(two.id, []);
    assert.deepEqual(await groupsOf(both), []);
  });

  test("unlinking, an entry that goes, and a deleted connection end the memberships that came from it", async () => {
    const [staff, admins, own] = [await newGroup(), await newGroup(), await newGroup()];
    const connection = await connect({ from: "groups", map: { staff, admins } });
    const user = await signIn(connection, "ends", { groups: ["staff", "admins"] });
    const other = await signIn(connection, "unlinked", { groups: ["staff"] });
    for (const one of [user, other]) await put(own, one);
    assert.equal(
      (
        await api.call("POST", `/users/${other}/reset-password`, {
          body: { password: "plum tractor ninety" },
        })
      ).status,
      200,
    );
    assert.equal((await api.call("DELETE", `/users/${other}/identities/${connection.id}`)).status, 204);
    assert.deepEqual(await groupsOf(other), [own]);
    const patched = await api.call("PATCH", `/connections/${connection.id}`, {
      body: { mapping: { groups: { map: { staff: null } } } },
    });
    assert.deepEqual((patched.body["mapping"] as Record<string, unknown>)["groups"], {
      from: "groups",
      map: { admins },
    });
    assert.deepEqual(await groupsOf(user), [admins, own].sort());
    assert.equal((await api.call("DELETE", `/connections/${connection.id}`)).status, 204);
    assert.deepEqual(await groupsOf(user), [own]);
    assert.equal((await api.call("GET", `/groups/${admins}`)).body["source"], "local");
  });

  test("no connection reaches a group of a directory, of another connection or of another organisation", async () => {
    const scim = await newScimConnection(running.service, orgId());
    const { body } = await scim.call("POST", "/Groups", { displayName: "Provisioned" });
    const provisioned = String(body["id"]);
    const stranger = await newGroup((await makeOrganisation(running.service, "Other")).organisation.id);
    const [theirs, mine] = [await newGroup(), await newGroup()];
    const [another, connection] = [await connect(null), await connect(null)];
    const handOver = (id: string, connectionId: string | null) =>
      api.call("POST", `/groups/${id}/hand-over`, { body: { connectionId } });
    assert.equal((await handOver(theirs, another.id)).body["source"], "connection");
    const set = (map: Record<string, string>) =>
      api.call("PATCH", `/connections/${connection.id}`, {
        body: { mapping: { groups: { from: "groups", map } } },
      });
    for (const id of [provisioned, stranger, theirs, randomUUID()]) {
      const { status, body: refused } = await set({ "a/b": id });
      assert.equal(status, 422, id);
      assert.equal((refused["errors"] as Array<{ path: string }>)[0]?.path, "/mapping/groups/map/a~1b");
    }
    // A group that changes hands after it was mapped is left alone.
    assert.equal((await set({ staff: mine })).status, 200);
    assert.equal((await handOver(mine, scim.connection.id)).status, 200);
    const user = await signIn(connection, "late", { groups: ["staff"] });
    assert.deepEqual(await groupsOf(user), []);
    assert.equal((await handOver(mine, connection.id)).status, 200);
    await signIn(connection, "late", { groups: ["staff"] });
    assert.deepEqual(await groupsOf(user), [mine]);
    const byHand = await api.call("DELETE", `/groups/${mine}/members/users/${user}`);
    assert.deepEqual([byHand.status, codeOf(byHand)], [409, "read-only-source"]);
    // Whoever was in it follows the claims from the hand-over on; handed back, it keeps who is in it.
    assert.equal((await handOver(mine, null)).status, 200);
    await signIn(connection, "late", {});
    assert.deepEqual(await groupsOf(user), [mine]);
    assert.equal((await handOver(mine, connection.id)).status, 200);
    await signIn(connection, "late", {});
    assert.deepEqual(await groupsOf(user), []);
    // Deleted, it is no fault of a change of something else.
    assert.equal((await handOver(mine, null)).status, 200);
    assert.equal((await api.call("DELETE", `/groups/${mine}`)).status, 204);
    assert.equal(
      (await api.call("PATCH", `/connections/${connection.id}`, { body: { shown: false } })).status,
      200,
    );
  });

  test("a mapping is bounded, whole, and set by nobody who may not change groups", async () => {
    const [group, connection] = [await newGroup(), await connect(null)];
    const path = `/connections/${connection.id}`;
    const many = Object.fromEntries(Array.from({ length: 501 }, (_, at) => [`v${at}`, group]));
    for (const [groups, at] of [
      [{ from: "groups", map: many }, "/mapping/groups/map"],
      [{ from: "/a~2", map: { staff: group } }, "/mapping/groups/from"],
      [{ map: { staff: group } }, "/mapping/groups/from"],
      [{ from: "groups" }, "/mapping/groups/map"],
      [{ from: "groups", map: { ["x".repeat(256)]: group } }, `/mapping/groups/map/${"x".repeat(256)}`],
      [{ from: "groups", map: { "": group } }, "/mapping/groups/map/"],
    ] as const) {
      const { status, body } = await api.call("PATCH", path, { body: { mapping: { groups } } });
      assert.equal(status, 422, at);
      assert.equal((body["errors"] as Array<{ path: string }>)[0]?.path, at);
    }
    const weak = await makeApiClient(running.service, org, ["signet:connections:write"]);
    const groups = { from: "groups", map: { staff: group } };
    const refused = await weak.call("PATCH", path, { body: { mapping: { groups } } });
    assert.deepEqual([refused.status, codeOf(refused)], [403, "exceeds-caller"]);
    assert.equal((await weak.call("PATCH", path, { body: { shown: false } })).status, 200);
  });

  test("of two sign-ins at once one follows the other, and none is left with the groups of both", async () => {
    const [a, b] = [await newGroup(), await newGroup()];
    const connection = await connect({ from: "groups", map: { a, b } });
    const user = await signIn(connection, "twice", {});
    const followed = { act: { orgId: orgId(), actor: "test" }, connectionId: connection.id, userId: user };
    const { database } = running.service;
    const apply = (groupIds: readonly string[], meanwhile: () => Promise<void>) =>
      database.transaction(async (tx) => {
        await applyClaimedGroups(tx, running.service, { ...followed, groupIds });
        await meanwhile();
      });
    // The first has read and written, and has not committed when the second begins.
    const [isDone, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = apply([a], async () => {
      isDone.resolve();
      await goOn.promise;
    });
    await isDone.promise;
    const second = apply([b], async () => {});
    await setTimeout(200);
    goOn.resolve();
    await Promise.all([first, second]);
    assert.deepEqual(await groupsOf(user), [b]);
  });

  test("an entry of the mapping that goes while somebody signs in leaves nobody in its group", async () => {
    const group = await newGroup();
    const connection = await connect({ from: "groups", map: { staff: group } });
    const user = await signIn(connection, "meanwhile", {});
    const followed = { act: { orgId: orgId(), actor: "test" }, connectionId: connection.id, userId: user };
    await changeSignInConnection(running.service, {
      ...{ orgId: orgId(), actor: "test", id: connection.id },
      ask: ({ kind, name, enabled, settings }) => ({
        ...{ kind, name, enabled, clientSecret: undefined },
        settings: { ...settings, groups: null },
      }),
    });
    // What the browser was sent back with was read by the mapping of before.
    await running.service.database.transaction((tx) =>
      applyClaimedGroups(tx, running.service, { ...followed, groupIds: [group] }),
    );
    assert.deepEqual(await groupsOf(user), []);
  });
});
