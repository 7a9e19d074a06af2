import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { newUuid } from "@signet/protocol/uuid";
import { createConnection } from "../../../core/connections/connections.ts";
import { changeMembers } from "../../../core/groups/group-members.ts";
import { createGroup } from "../../../core/groups/groups.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { type Directory, groupRef, makeDirectory, userRef } from "../../../testing/fixtures/directory.ts";
import { signInConnection } from "../../../testing/fixtures/routed-domain.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let own: Directory;
  let foreign: Directory;
  let api: ApiClient;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    const { service } = running;
    org = await makeOrganisation(service);
    own = await makeDirectory(service, org.organisation.id);
    foreign = await makeDirectory(service, (await makeOrganisation(service, "Other")).organisation.id);
    api = await makeApiClient(service, org, [
      ...(["signet:groups:write", "signet:users:read", "signet:applications:write"] as const),
    ]);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const names = ({ body }: { body: Record<string, unknown> }, member = "displayName") =>
    (body["items"] as Array<Record<string, unknown>>).map((one) => one[member]);
  const codeOf = ({ status, body }: { status: number; body: Record<string, unknown> }) => [
    status,
    String(body["type"]).replace("urn:signet:error:", ""),
  ];
  const pathsOf = ({ body }: { body: Record<string, unknown> }) =>
    (body["errors"] as Array<{ path: string }>).map(({ path }) => path);
  const connection = async () => {
    const content = { name: `Entra ID ${randomUUID()}`, enabled: true, deletionPolicy: "disable" as const };
    return (await createConnection(running.service, { ...own.act, content })).id;
  };
  const provisioned = async (displayName: string, connectionId: string) => {
    const content = { displayName, description: null, externalId: `e-${displayName}` };
    const act = { ...own.act, connectionId, source: "scim" as const };
    return (await createGroup(running.service, { ...act, content })).id;
  };

  test("a group is made, read, changed and deleted, and has every member", async () => {
    const made = await api.call("POST", "/groups", { body: { displayName: " Crew ", externalId: "x-1" } });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { id, createdAt, updatedAt, ...rest } = made.body;
    for (const time of [createdAt, updatedAt]) assert.match(String(time), /^\d{4}-\d\d-\d\dT.*Z$/);
    assert.deepEqual(rest, {
      ...{ displayName: "Crew", description: null, externalId: "x-1" },
      ...{ source: "local", connectionId: null, memberCount: 0 },
    });
    const path = `/groups/${id}`;
    assert.equal(
      made.headers.get("location"),
      `${running.service.config.baseUrl}/api/v1/organisations/${own.orgId}${path}`,
    );
    assert.deepEqual(codeOf(await api.call("POST", "/groups", { body: { displayName: "CREW" } })), [
      409,
      "conflict",
    ]);
    const read = await api.call("GET", path);
    const etag = read.headers.get("etag") ?? "";
    const patch = { description: "On board", externalId: null };
    const changed = await api.call("PATCH", path, { body: patch, headers: { "if-match": etag } });
    assert.deepEqual([changed.body["description"], changed.body["externalId"]], ["On board", null]);
    const stale = { headers: { "if-match": etag } };
    for (const [method, at, body] of [
      ["PATCH", path, {}],
      ["POST", `${path}/members`, {}],
      ["POST", `${path}/hand-over`, {}],
      ["DELETE", path, undefined],
    ] as const)
      assert.deepEqual(
        codeOf(await api.call(method, at, { ...stale, body })),
        [412, "stale"],
        `${method} ${at}`,
      );
    assert.equal((await api.call("DELETE", path)).status, 204);
    assert.equal((await api.call("DELETE", path)).status, 404);
  });

  test("membership changes the count and the list, and not the entity tag", async () => {
    const [group, user] = [await own.group("Tagged"), await own.user()];
    const tagOf = async () => (await api.call("GET", `/groups/${group}`)).headers.get("etag");
    const before = await tagOf();
    const add = { add: [userRef(user)] };
    for (let again = 0; again < 2; again++) {
      const { status, body } = await api.call("POST", `/groups/${group}/members`, { body: add });
      assert.deepEqual([status, body["memberCount"]], [200, 1]);
    }
    assert.equal(await tagOf(), before);
    const known = { headers: { "if-none-match": before ?? "" } };
    assert.equal((await api.call("GET", `/groups/${group}`, known)).status, 304);
    for (let again = 0; again < 2; again++) {
      const { body } = await api.call("POST", `/groups/${group}/members`, { body: { remove: add.add } });
      assert.equal(body["memberCount"], 0);
    }
    for (const method of ["PUT", "PUT", "DELETE", "DELETE"])
      assert.equal(
        (await api.call(method, `/groups/${group}/members/users/${user.toUpperCase()}`)).status,
        204,
      );
    assert.deepEqual(names(await api.call("GET", `/groups/${group}/members`)), []);
  });

  test("all of a change of members is done, or nothing of it", async () => {
    const [group, user, theirs] = [await own.group("Whole"), await own.user(), await foreign.user()];
    const [theirGroup, members] = [await foreign.group("Theirs"), `/groups/${group}/members`];
    const wrong = await api.call("POST", members, {
      body: { add: [userRef(user), userRef(theirs), groupRef(theirGroup)] },
    });
    assert.deepEqual([wrong.status, pathsOf(wrong)], [422, ["/add/1/id", "/add/2/id"]]);
    const gone = await api.call("POST", members, {
      body: { add: [userRef(user)], remove: [userRef(theirs)] },
    });
    assert.deepEqual([gone.status, pathsOf(gone)], [422, ["/remove/0/id"]]);
    const many = Array.from({ length: 1_000 }, () => userRef(user));
    const tooMany = await api.call("POST", members, { body: { add: many, remove: [userRef(user)] } });
    assert.equal(tooMany.status, 422);
    assert.deepEqual(names(await api.call("GET", members)), []);
    assert.equal((await api.call("POST", members, { body: { add: many } })).body["memberCount"], 1);
    for (const [kind, id] of [
      ["users", theirs],
      ["groups", theirGroup],
    ])
      for (const method of ["PUT", "DELETE"])
        assert.equal((await api.call(method, `${members}/${kind}/${id}`)).status, 404);
  });

  test("a group is not inside itself, and nine are no chain", async () => {
    const ids: string[] = [];
    for (let at = 0; at < 9; at++) ids.push(await own.group(`Link ${at}`));
    for (let at = 0; at < 7; at++)
      assert.equal((await api.call("PUT", `/groups/${ids[at]}/members/groups/${ids[at + 1]}`)).status, 204);
    const [outer = "", last = "", more = ""] = [ids[0], ids[7], ids[8]];
    for (const id of [outer, last])
      assert.deepEqual(codeOf(await api.call("PUT", `/groups/${last}/members/groups/${id}`)), [
        409,
        "group-cycle",
      ]);
    assert.deepEqual(codeOf(await api.call("PUT", `/groups/${last}/members/groups/${more}`)), [
      409,
      "group-depth",
    ]);
    const body = { add: [groupRef(more)] };
    assert.deepEqual(codeOf(await api.call("POST", `/groups/${last}/members`, { body })), [
      409,
      "group-depth",
    ]);
    assert.deepEqual(names(await api.call("GET", `/groups/${last}/members`)), []);
  });

  test("a walk through the members meets each once, at every depth, in any order and with any filter", async () => {
    const [one, two, three] = [await own.user("one@walk.example"), await own.user(), await own.user()];
    const inner = await own.group("Walk inner", [userRef(one), userRef(two)]);
    const middle = await own.group("Walk middle", [groupRef(inner), userRef(two)]);
    const outer = await own.group("Walk outer", [groupRef(middle), groupRef(inner), userRef(three)]);
    const walk = async (query: string) => {
      const ids: unknown[] = [];
      let cursor = "";
      do {
        const page = await api.call("GET", `/groups/${outer}/members?limit=1&total=true${query}${cursor}`);
        assert.equal(page.status, 200, JSON.stringify(page.body));
        ids.push(...names(page, "id"));
        cursor = page.body["nextCursor"] === null ? "" : `&cursor=${page.body["nextCursor"]}`;
        if (cursor === "") assert.equal(page.body["total"], ids.length);
      } while (cursor !== "");
      return ids;
    };
    const sorted = (...ids: string[]) => ids.toSorted();
    assert.deepEqual(await walk(""), [...sorted(middle, inner), three]);
    assert.deepEqual(await walk("&effective=true"), [...sorted(middle, inner), ...sorted(one, two, three)]);
    for (const sort of ["displayName", "-createdAt", "type", "id"])
      assert.deepEqual(
        (await walk(`&effective=true&sort=${sort}`)).toSorted(),
        sorted(middle, inner, one, two, three),
      );
    assert.deepEqual(
      await walk(`&effective=true&filter=${encodeURIComponent('type eq "group"')}&sort=displayName`),
      [inner, middle],
    );
    assert.deepEqual(await walk(`&filter=${encodeURIComponent('type eq "user"')}`), [three]);
    const page = await api.call("GET", `/groups/${outer}/members?effective=true`);
    assert.deepEqual(
      (page.body["items"] as Array<{ id: string }>).find(({ id }) => id === one),
      { type: "user", id: one, displayName: "Uma User" },
    );
  });

  test("groups are found by a filter, a search and in an order", async () => {
    const [a, b] = [
      await own.group("Zeta Lister"),
      await own.group("alpha lister", [userRef(await own.user())]),
    ];
    const list = (query: string) => api.call("GET", `/groups?${query}`);
    assert.deepEqual(names(await list("search=LISTER&sort=displayName"), "id"), [b, a]);
    assert.deepEqual(names(await list("search=lister%20zeta&total=true"), "id"), [a]);
    const filter = encodeURIComponent('displayName ew "lister" and memberCount gt 0 and source eq "local"');
    assert.deepEqual(names(await list(`filter=${filter}`), "id"), [b]);
  });

  test("what a connection has provisioned is read only, and may be handed over", async () => {
    const [connectionId, user] = [await connection(), await own.user()];
    const id = await provisioned("From Entra", connectionId);
    const members = `/groups/${id}/members`;
    const refused = [409, "read-only-source"];
    for (const [method, path, body] of [
      ["PATCH", `/groups/${id}`, { displayName: "Mine" }],
      ["PATCH", `/groups/${id}`, { externalId: null }],
      ["POST", members, { add: [userRef(user)] }],
      ["PUT", `${members}/users/${user}`, undefined],
      ["DELETE", `${members}/users/${user}`, undefined],
      ["DELETE", `/groups/${id}`, undefined],
    ] as const)
      assert.deepEqual(codeOf(await api.call(method, path, { body })), refused, `${method} ${path}`);
    const described = await api.call("PATCH", `/groups/${id}`, { body: { description: "Ours" } });
    assert.deepEqual([described.body["description"], described.body["source"]], ["Ours", "scim"]);
    const handOver = (to: string | null) =>
      api.call("POST", `/groups/${id}/hand-over`, { body: { connectionId: to } });
    const upstream = await signInConnection(running.service, org.organisation.id);
    const unknown = await handOver(newUuid());
    assert.deepEqual([unknown.status, pathsOf(unknown)], [422, ["/connectionId"]]);
    assert.deepEqual((await handOver(upstream.id)).body["source"], "connection");
    for (let again = 0; again < 2; again++) {
      const { body } = await handOver(null);
      assert.deepEqual([body["source"], body["connectionId"]], ["local", null]);
    }
    assert.equal((await api.call("PUT", `${members}/users/${user}`)).status, 204);
    assert.deepEqual((await handOver(connectionId)).body["source"], "scim");
    await provisioned("Twin", connectionId);
    const twin = await own.group("twin");
    const taken = await api.call("POST", `/groups/${twin}/hand-over`, { body: { connectionId } });
    assert.deepEqual(codeOf(taken), [409, "conflict"]);
  });

  test("the groups of a user are those it is a member of, or all that it is in", async () => {
    const user = await own.user();
    const inner = await own.group("Has user", [userRef(user)]);
    const outer = await own.group("Has group", [groupRef(inner)]);
    const path = `/users/${user}/groups`;
    assert.deepEqual(names(await api.call("GET", path), "id"), [inner]);
    const all = await api.call("GET", `${path}?effective=true&sort=-displayName&total=true`);
    assert.deepEqual([names(all, "id"), all.body["total"]], [[inner, outer], 2]);
    assert.equal((await api.call("GET", `/users/${await foreign.user()}/groups`)).status, 404);
  });

  test("a group opens an application to its members, and is listed there", async () => {
    const { application } = await makeClient(running.service, org.organisation, { access: "assigned" });
    const [user, theirs] = [await own.user("assigned@acme.example"), await foreign.group("Others")];
    const group = await own.group("Opens", [userRef(user)]);
    const path = `/applications/${application.id}`;
    for (let again = 0; again < 2; again++)
      assert.equal((await api.call("PUT", `${path}/groups/${group}`)).status, 204);
    assert.equal((await api.call("PUT", `${path}/groups/${theirs}`)).status, 404);
    assert.equal((await api.call("PUT", `${path}/users/${user}`)).status, 204);
    const groups = await api.call("GET", `${path}/groups?total=true`);
    const [listed] = groups.body["items"] as Array<Record<string, unknown>>;
    assert.equal(groups.body["total"], 1);
    assert.deepEqual([listed?.["id"], listed?.["displayName"]], [group, "Opens"]);
    assert.equal(listed?.["createdBy"], `client:${api.application.id}`);
    const filter = encodeURIComponent('email eq "ASSIGNED@acme.example"');
    assert.deepEqual(names(await api.call("GET", `${path}/users?filter=${filter}`), "id"), [user]);
    assert.equal((await api.call("DELETE", `${path}/groups/${group}`)).status, 204);
    assert.equal((await api.call("DELETE", `${path}/groups/${group}`)).status, 404);
    assert.deepEqual(names(await api.call("GET", `${path}/groups`)), []);
    for (const kind of ["users", "groups"])
      assert.equal((await api.call("GET", `/applications/${newUuid()}/${kind}`)).status, 404);
  });

  test("a change of the source's own is told by its connection", async () => {
    const connectionId = await connection();
    const [id, user] = [await provisioned("Own words", connectionId), await own.user()];
    const act = { ...own.act, id, connectionId };
    await changeMembers(running.service, { ...act, add: [userRef(user)], remove: [] });
    assert.deepEqual(names(await api.call("GET", `/groups/${id}/members`), "id"), [user]);
  });
});
