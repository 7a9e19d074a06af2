import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { findGroup } from "../../core/groups/groups.store.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { newScimConnection, type ScimClient } from "../../testing/fixtures/scim-connection.ts";
import { withUser } from "../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

type Json = Record<string, unknown>;
type Group = Json & { id: string; displayName: string; members?: Array<Json & { value: string }> };

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let scim: ScimClient;
  let count = 0;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    scim = await newScimConnection(running.service, org.organisation.id);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const orgId = () => org.organisation.id;
  const db = () => running.service.database.query;
  const user = async (client = scim) => {
    const { status, body } = await client.call("POST", "/Users", { userName: `g${count++}@acme.example` });
    assert.equal(status, 201);
    return String(body["id"]);
  };
  const refs = (ids: readonly string[]) => ids.map((value) => ({ value }));
  const create = async (members: readonly string[] = [], more: object = {}, client = scim) => {
    const sent = { displayName: `Group ${count++}`, members: refs(members), ...more };
    const { status, body } = await client.call("POST", "/Groups", sent);
    assert.equal(status, 201, JSON.stringify(body));
    return body as Group;
  };
  const patch = (id: string, ...Operations: object[]) => scim.call("PATCH", `/Groups/${id}`, { Operations });
  const addTo = (id: string, ...ids: string[]) => patch(id, { op: "add", path: "members", value: refs(ids) });
  const read = async (path: string, client = scim) => (await client.call("GET", path)).body;
  const membersOf = async (id: string) =>
    ((await read(`/Groups/${id}`)) as Group).members?.map(({ value }) => value).sort() ?? [];
  const list = async (query: string, client = scim) => {
    const { status, body } = await client.call("GET", `/Groups?${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body as Json & { totalResults: number; Resources: Group[]; nextCursor?: string };
  };
  const filtered = (filter: string, client = scim) => list(`filter=${encodeURIComponent(filter)}`, client);

  test("are created, read, replaced and deleted, with users and groups as members", async () => {
    const [ada, inner] = [await user(), await create()];
    const made = await scim.call("POST", "/Groups", {
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"],
      ...{ displayName: "Sales", externalId: "e-sales", unknown: true },
      members: [{ value: ada, display: "ignored" }, { value: inner.id }],
    });
    assert.equal(made.status, 201);
    const id = String(made.body["id"]);
    assert.equal(made.headers.get("location"), `${scim.root}/Groups/${id}`);
    assert.deepEqual(
      (made.body as Group).members?.map(({ value, type, $ref }) => [value, type, $ref]),
      [
        [ada, "User", `${scim.root}/Users/${ada}`],
        [inner.id, "Group", `${scim.root}/Groups/${inner.id}`],
      ],
    );
    const group = await findGroup(db(), { orgId: orgId(), id });
    assert.deepEqual(
      [group?.source, group?.connectionId, group?.externalId, group?.memberCount],
      ["scim", scim.connection.id, "e-sales", 2],
    );
    const again = await scim.call("GET", `/Groups/${id}`);
    assert.deepEqual(again.body, made.body);
    assert.equal(
      (await scim.call("PUT", `/Groups/${id}`, { displayName: "Sales", members: refs([ada]) })).status,
      200,
    );
    assert.deepEqual(await membersOf(id), [ada]);
    const emptied = await scim.call("PUT", `/Groups/${id}`, { displayName: "Sales EU" });
    assert.deepEqual(
      [emptied.body["displayName"], "members" in emptied.body, "externalId" in emptied.body],
      [...["Sales EU", false, false]],
    );
    assert.equal((await scim.call("DELETE", `/Groups/${id}`)).status, 204);
    for (const method of ["GET", "DELETE", "PATCH", "PUT"]) {
      const sent = { displayName: "x", Operations: [{ op: "remove", path: "members" }] };
      const { status } = await scim.call(method, `/Groups/${id}`, method === "GET" ? undefined : sent);
      assert.equal(status, 404, method);
    }
  });

  test("are the connection's own alone", async () => {
    const other = await newScimConnection(running.service, orgId());
    const theirs = await create([], { displayName: "Shared name" }, other);
    await create([], { displayName: "shared NAME" });
    for (const [method, body] of [
      ["GET", undefined],
      ["PUT", { displayName: "x" }],
      ["PATCH", { Operations: [{ op: "replace", path: "displayName", value: "x" }] }],
      ["DELETE", undefined],
    ] as const)
      assert.equal((await scim.call(method, `/Groups/${theirs.id}`, body)).status, 404, method);
    assert.equal((await filtered(`id eq "${theirs.id}"`)).totalResults, 0);
    const own = await create();
    const { status, body } = await addTo(own.id, theirs.id);
    assert.deepEqual([status, body["scimType"]], [400, "invalidValue"]);
    const theirUser = await user(other);
    assert.equal((await addTo(own.id, theirUser)).status, 400);
    assert.equal((await filtered(`members eq "${theirUser}"`)).totalResults, 0);
  });

  test("take local users, whom the first write takes over, as members", async () => {
    const local = await withUser(running.service, org, `local-g${count++}@acme.example`);
    const { id } = await create([local.user.id]);
    assert.deepEqual(await membersOf(id), [local.user.id]);
  });

  test("of one name or externalId are 409 uniqueness, also of two at once", async () => {
    const { displayName, id } = await create([], { externalId: `x${count}` });
    for (const sent of [
      { displayName: displayName.toUpperCase() },
      { displayName: "Fresh", externalId: `x${count - 1}` },
    ]) {
      const { status, body } = await scim.call("POST", "/Groups", sent);
      assert.deepEqual([status, body["scimType"]], [409, "uniqueness"], JSON.stringify(sent));
    }
    const second = await create();
    const renamed = await patch(second.id, { op: "replace", value: { displayName } });
    assert.deepEqual([renamed.status, renamed.body["scimType"]], [409, "uniqueness"]);
    assert.equal((await patch(id, { op: "replace", value: { displayName } })).status, 200);
    const racing = await Promise.all(
      [1, 2, 3].map(() => scim.call("POST", "/Groups", { displayName: "Race" })),
    );
    assert.deepEqual(racing.map(({ status }) => status).sort(), [201, 409, 409]);
  });

  test("change by every form of PATCH that directories send", async () => {
    const [a, b, c] = [await user(), await user(), await user()];
    const { id } = await create([a]);
    assert.equal((await addTo(id, b, b)).status, 200);
    assert.deepEqual(await membersOf(id), [a, b].sort());
    await patch(id, { op: "Remove", path: `members[value eq "${a}"]` });
    await patch(id, { op: "remove", path: "members", value: [{ value: b }, { value: "nobody" }] });
    assert.deepEqual(await membersOf(id), []);
    await patch(id, { op: "replace", path: "members", value: refs([a, c]) });
    assert.deepEqual(await membersOf(id), [a, c].sort());
    await patch(id, { op: "remove", path: 'members[type eq "Group"]' });
    assert.deepEqual(await membersOf(id), [a, c].sort());
    const renamed = await patch(id, { op: "replace", value: { id, displayName: `Renamed ${id}` } });
    assert.deepEqual([renamed.status, renamed.body["displayName"]], [200, `Renamed ${id}`]);
    await patch(id, { op: "remove", path: 'members[type eq "User"]' });
    assert.deepEqual(await membersOf(id), []);
    const lean = await scim.call("PATCH", `/Groups/${id}?excludedAttributes=members`, {
      Operations: [{ op: "add", path: "members", value: refs([a]) }],
    });
    assert.deepEqual([lean.status, "members" in lean.body], [200, false]);
  });

  test("refuse members that there are not, circles and chains of nine, and change nothing then", async () => {
    const ada = await user();
    const chain: Group[] = [];
    for (let at = 0; at < 8; at++) {
      const inner = chain.at(-1);
      chain.push(await create(inner ? [inner.id] : []));
    }
    const [innermost, outermost] = [chain[0]?.id ?? "", chain.at(-1)?.id ?? ""];
    const ninth = { displayName: "Ninth", members: refs([outermost]) };
    const refusals = [
      await addTo(innermost, crypto.randomUUID()),
      await addTo(innermost, ada, "x"),
      await addTo(innermost, org.user.id, outermost),
      await addTo(innermost, innermost),
      await scim.call("POST", "/Groups", ninth),
      await scim.call("POST", "/Groups", { displayName: "x".repeat(257) }),
      await scim.call("POST", "/Groups", { displayName: "a\u202eb" }),
      await scim.call("POST", "/Groups", { members: [] }),
    ];
    for (const [at, { status, body }] of refusals.entries())
      assert.deepEqual([status, body["scimType"]], [400, "invalidValue"], String(at));
    assert.deepEqual(await membersOf(innermost), []);
    assert.equal((await filtered('displayName eq "Ninth"')).totalResults, 0);
  });

  test("have a tag that every change of theirs changes, and that a stale change is refused by", async () => {
    const [a, b] = [await user(), await user()];
    const { id } = await create();
    const tag = async () => (await scim.call("GET", `/Groups/${id}?attributes=id`)).headers.get("etag") ?? "";
    const tags = [await tag()];
    for (const operation of [
      { op: "add", path: "members", value: refs([a]) },
      { op: "replace", path: "members", value: refs([b]) },
      { op: "replace", path: "displayName", value: `Tagged ${id}` },
    ]) {
      await patch(id, operation);
      tags.push(await tag());
    }
    await scim.call("DELETE", `/Users/${b}`);
    tags.push(await tag());
    assert.equal(new Set(tags).size, tags.length);
    const unchanged = { "if-none-match": await tag() };
    assert.equal((await scim.call("GET", `/Groups/${id}`, undefined, unchanged)).status, 304);
    const stale = { "if-match": tags[0] ?? "" };
    for (const [method, body] of [
      ["PUT", { displayName: "x" }],
      ["PATCH", { Operations: [{ op: "add", path: "members", value: refs([a]) }] }],
      ["DELETE", undefined],
    ] as const)
      assert.equal((await scim.call(method, `/Groups/${id}`, body, stale)).status, 412, method);
    assert.deepEqual(await membersOf(id), []);
  });

  describe("lists", () => {
    let own: ScimClient;
    let ids: string[];
    let members: string[];
    before(async () => {
      own = await newScimConnection(running.service, orgId());
      members = [await user(own), await user(own)];
      ids = [];
      for (let at = 0; at < 5; at++) {
        const more = { displayName: `List ${at}`, externalId: `list-${at}` };
        ids.push((await create(at % 2 === 0 ? members : [], more, own)).id);
      }
      ids.sort();
    });

    test("have pages by index and by cursor, and a total", async () => {
      const whole = await list("", own);
      assert.deepEqual(
        [whole.totalResults, whole["startIndex"], whole.Resources.map(({ id }) => id)],
        [5, 1, ids],
      );
      const second = await list("startIndex=3&count=2", own);
      assert.deepEqual([second.totalResults, second.Resources.map(({ id }) => id)], [5, ids.slice(2, 4)]);
      assert.deepEqual((await list("count=0", own)).Resources, []);
      const walked: string[] = [];
      for (let cursor: string | undefined = ""; cursor !== undefined; ) {
        const page = await list(`cursor=${cursor}&count=2`, own);
        walked.push(...page.Resources.map(({ id }) => id));
        cursor = page.nextCursor;
      }
      assert.deepEqual(walked, ids);
    });

    test("filter by anything: names, ids, members, and the rest of the grammar", async () => {
      const [first = "", second = ""] = members;
      const named = ids[0] ?? "";
      const total = async (filter: string) => (await filtered(filter, own)).totalResults;
      assert.equal(await total('displayName eq "LIST 3"'), 1);
      assert.equal(await total('externalId eq "list-3" and displayName sw "List"'), 1);
      assert.equal(await total('externalId eq "LIST-3"'), 0);
      assert.equal(await total(`members eq "${first}"`), 3);
      assert.equal(await total(`members.value eq "${first}" and members[value eq "${second}"]`), 3);
      assert.equal(await total(`members eq "${crypto.randomUUID()}"`), 0);
      const has = ((await read(`/Groups/${named}`, own)) as Group).members !== undefined;
      assert.equal(await total(`id eq "${named}" and members eq "${first}"`), has ? 1 : 0);
      assert.equal(await total(`id eq "${named}" and members eq "${crypto.randomUUID()}"`), 0);
      assert.equal(await total("not (members pr)"), 2);
      assert.equal(await total('members[type eq "User"] and not (displayName ew "4")'), 2);
      assert.equal(await total('meta.resourceType eq "Group" or displayName co "9"'), 5);
      assert.equal(await total('id eq "a" or id eq "b"'), 0);
      assert.equal(await total(`id eq "${named}" and id eq "${ids[1]}"`), 0);
      const searched = await own.call("POST", "/Groups/.search", { filter: "members pr", count: 1 });
      assert.deepEqual([searched.status, searched.body["totalResults"]], [200, 3]);
      const both = await own.call("POST", "/.search", { filter: 'externalId eq "list-1"' });
      assert.deepEqual([both.status, both.body["totalResults"]], [200, 1]);
      const bad = await own.call("GET", `/Groups?filter=${encodeURIComponent("userName pr")}`);
      assert.deepEqual([bad.status, bad.body["scimType"]], [400, "invalidFilter"]);
    });

    test("leave members out where these are not asked for", async () => {
      for (const query of ["excludedAttributes=members", "attributes=displayName"]) {
        const { Resources } = await list(query, own);
        assert.ok(
          Resources.every((group) => !("members" in group)),
          query,
        );
      }
      const { Resources } = await list("attributes=members.value", own);
      const shown = Resources.find(({ members: all }) => all !== undefined);
      assert.deepEqual(shown?.members, refs([...members].sort()));
    });
  });

  test("are told with the users in them, directly and by other groups", async () => {
    const [ada, bob] = [await user(), await user()];
    const inner = await create([ada]);
    const outer = await create([inner.id, bob]);
    const { body, headers } = await scim.call("GET", `/Users/${ada}`);
    const groups = (body["groups"] as Json[]).map(({ value, type, display }) => [value, type, display]);
    assert.deepEqual(
      groups.sort(),
      [
        [inner.id, "direct", inner.displayName],
        [outer.id, "indirect", outer.displayName],
      ].sort(),
    );
    const sent = { Operations: [{ op: "replace", path: "groups", value: [] }] };
    assert.equal((await scim.call("PATCH", `/Users/${ada}`, sent)).body["scimType"], "mutability");
    const found = await read(`/Users?filter=${encodeURIComponent(`groups.value eq "${outer.id}"`)}`);
    assert.equal(found["totalResults"], 2);
    await patch(inner.id, { op: "remove", path: "members" });
    const after = await scim.call("GET", `/Users/${ada}`);
    assert.equal("groups" in after.body, false);
    assert.notEqual(after.headers.get("etag"), headers.get("etag"));
    const stale = { "if-match": headers.get("etag") ?? "" };
    const body2 = { Operations: [{ op: "add", path: "title", value: "x" }] };
    assert.equal((await scim.call("PATCH", `/Users/${ada}`, body2, stale)).status, 412);
  });

  test("lose who is deprovisioned, who does not come back into them with a POST of the name", async () => {
    const userName = `leaver-g${count++}@acme.example`;
    const id = String((await scim.call("POST", "/Users", { userName })).body["id"]);
    const group = await create([id]);
    await scim.call("DELETE", `/Users/${id}`);
    assert.deepEqual(await membersOf(group.id), []);
    const again = await scim.call("POST", "/Users", { userName });
    assert.deepEqual([again.body["id"], "groups" in again.body], [id, false]);
  });

  test("are made by a bulk with their users and other groups, named in any order", async () => {
    const { body } = await scim.call("POST", "/Bulk", {
      Operations: [
        {
          ...{ method: "POST", path: "/Groups", bulkId: "outer" },
          data: { displayName: "Bulk outer", members: refs(["bulkId:inner", "bulkId:ada"]) },
        },
        {
          ...{ method: "POST", path: "/Groups", bulkId: "inner" },
          data: { displayName: "Bulk inner", members: refs(["bulkId:ada"]) },
        },
        {
          method: "POST",
          path: "/Users",
          bulkId: "ada",
          data: { userName: `bulk-g${count++}@acme.example` },
        },
        {
          ...{ method: "PATCH", path: "/Groups/bulkId:inner" },
          data: { Operations: [{ op: "remove", path: "members", value: refs(["bulkId:ada"]) }] },
        },
        {
          method: "POST",
          path: "/Groups",
          bulkId: "lost",
          data: { displayName: "L", members: refs(["bulkId:no"]) },
        },
      ],
    });
    const results = body["Operations"] as Array<Json & { location: string; status: string }>;
    assert.deepEqual(
      results.map(({ status }) => status),
      ["201", "201", "201", "200", "400"],
    );
    const [outer, inner, ada] = results.map(({ location }) => String(location).split("/").at(-1) ?? "");
    assert.deepEqual(await membersOf(outer ?? ""), [inner, ada].sort());
    assert.deepEqual(await membersOf(inner ?? ""), []);
  });

  test("are published, with what a member is", async () => {
    const types = (await read("/ResourceTypes")) as Json & { Resources: Array<{ id: string }> };
    assert.deepEqual(
      types.Resources.map(({ id }) => id),
      ["User", "Group"],
    );
    const schema = await read("/Schemas/urn:ietf:params:scim:schemas:core:2.0:Group");
    assert.equal(schema["name"], "Group");
  });

  test("of many members change in little, and more members than there is room for are refused", async () => {
    const { id } = await create();
    const users = await Promise.all(Array.from({ length: 3 }, () => user()));
    const seen = await Promise.all(users.map((one) => addTo(id, one)));
    assert.deepEqual(
      seen.map(({ status }) => status),
      [200, 200, 200],
    );
    assert.deepEqual(await membersOf(id), users.sort());
    const many = Array.from({ length: 100_001 }, (_, at) => String(at));
    const { status, body } = await addTo(id, ...many);
    assert.deepEqual([status, body["scimType"]], [400, "invalidValue"]);
  });
});
