import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newUuid } from "@signet/protocol/uuid";
import { type ChangeFeed, openChangeFeed } from "../../db/change-feed.ts";
import { migrate } from "../../db/migrate.ts";
import { type Database, openDatabase } from "../../db/open.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type Directory, groupRef, makeDirectory, userRef } from "../../testing/fixtures/directory.ts";
import { listAuditEvents } from "../audit/audit.store.ts";
import { createConnection } from "../connections/connections.ts";
import { InvalidGroup } from "./group.ts";
import { countMembers, listMembers } from "./group-members.store.ts";
import { changeMembers, MAX_CHANGES } from "./group-members.ts";
import { findGroup, listGroups } from "./groups.store.ts";
import { changeGroup, createGroup, deleteGroup, handOverGroup } from "./groups.ts";

forEachDatabase(({ fresh }) => {
  let database: Database;
  let changes: ChangeFeed;
  let own: Directory;
  let other: Directory;
  const clock = () => 1_800_000_000_000;
  const deps = () => ({ database, changes, clock });
  before(async () => {
    database = openDatabase(await fresh());
    await migrate(database);
    changes = await openChangeFeed(database);
    own = await makeDirectory(deps());
    other = await makeDirectory(deps());
  });
  after(async () => {
    await changes.close();
    await database.close();
  });

  const find = (id: string, at = own) => findGroup(database.query, { orgId: at.orgId, id });
  const members = async (id: string, effective = false) => {
    const page = { effective, limit: 100 };
    return (await listMembers(database.query, { orgId: own.orgId, id }, page)).map((one) => one.id);
  };
  /** Of n groups, each inside the one before it; the outermost first. */
  const chain = async (name: string, count: number) => {
    const ids: string[] = [];
    for (let at = 0; at < count; at++) {
      const id = await own.group(`${name} ${at}`);
      const outer = ids.at(-1);
      if (outer !== undefined) await own.change(outer, [groupRef(id)]);
      ids.push(id);
    }
    return ids;
  };

  test("a name belongs to one group of an organisation, whatever its case, width and the space around it", async () => {
    const id = await own.group("Nürnberg Team");
    for (const name of ["nürnberg team", "  NÜRNBERG TEAM ", "Nürnberg Ｔeam", "Nu\u0308rnberg team"])
      await assert.rejects(own.group(name), { code: "name-taken" });
    assert.ok(await other.group("nürnberg team"));
    const second = await own.group("Second");
    await assert.rejects(
      changeGroup(deps(), { ...own.act, id: second, content: { displayName: "nürnberg TEAM" } }),
      { code: "name-taken" },
    );
    assert.equal((await find(second))?.displayName, "Second");
    const renamed = await changeGroup(deps(), {
      ...own.act,
      id,
      content: { displayName: "NÜRNBERG TEAM", description: " Where it is. ", externalId: "x-1" },
    });
    assert.deepEqual(
      [renamed?.displayName, renamed?.description, renamed?.externalId, renamed?.version],
      ["NÜRNBERG TEAM", "Where it is.", "x-1", 2],
    );
    assert.equal((await changeGroup(deps(), { ...own.act, id, content: {} }))?.version, 2);
  });

  test("of two groups that take one name at the same time, one has it", async () => {
    const ids = [await own.group("Racer 1"), await own.group("Racer 2")];
    const both = Promise.withResolvers<void>();
    let waiting = 0;
    // SQLite's transactions run one after the other.
    const check = async () => {
      waiting += 1;
      if (waiting === ids.length || database.kind === "sqlite") both.resolve();
      await both.promise;
    };
    const content = { displayName: "Winner" };
    const outcomes = await Promise.allSettled(
      ids.map((id) => changeGroup(deps(), { ...own.act, id, content, check })),
    );
    const refusals = outcomes.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
    assert.deepEqual(
      refusals.map((error) => (error as { code?: unknown }).code),
      ["name-taken"],
    );
  });

  test("what no group can be is named, member by member", async () => {
    const create = (content: Partial<Parameters<typeof createGroup>[1]["content"]>) =>
      createGroup(deps(), {
        ...own.act,
        content: { displayName: "Fine", description: null, externalId: null, ...content },
      });
    const bad = { displayName: " ", description: "x".repeat(501), externalId: "a\nb" };
    await assert.rejects(create(bad), (error) => {
      assert.ok(error instanceof InvalidGroup);
      assert.deepEqual(
        error.faults.map(({ path }) => path),
        ["/displayName", "/description", "/externalId"],
      );
      return true;
    });
    for (const displayName of ["x".repeat(257), "a\u202eb", "\ud800"])
      await assert.rejects(create({ displayName }), InvalidGroup);
    // NFKC makes eighteen letters of this one.
    assert.ok(await create({ displayName: "\ufdfa".repeat(256) }));
  });

  test("another organisation's groups and members are not there", async () => {
    const [id, user] = [await own.group("Theirs"), await own.user()];
    const foreign = { ...other.act, id };
    assert.equal(await find(id, other), undefined);
    assert.equal(await changeGroup(deps(), { ...foreign, content: { displayName: "Mine" } }), undefined);
    assert.equal(await changeMembers(deps(), { ...foreign, add: [], remove: [userRef(user)] }), undefined);
    assert.equal(await deleteGroup(deps(), foreign), false);
    assert.equal(await handOverGroup(deps(), { ...foreign, to: null }), undefined);
    const group = await other.group("Ours");
    await assert.rejects(other.change(group, [userRef(user), groupRef(id)]), (error) => {
      assert.ok(error instanceof InvalidGroup);
      assert.deepEqual(
        error.faults.map(({ path }) => path),
        ["/add/0/id", "/add/1/id"],
      );
      return true;
    });
    const page = { sort: "createdAt", isDescending: false, limit: 100 } as const;
    const listed = await listGroups(database.query, other.orgId, page);
    assert.ok(listed.length > 0 && listed.every(({ orgId }) => orgId === other.orgId));
  });

  test("members come and go all or none of them, and again makes no difference", async () => {
    const [ada, bob, group, inner] = [
      await own.user("ada@acme.example"),
      await own.user("bob@acme.example"),
      await own.group("Both"),
      await own.group("Inner"),
    ];
    const add = [userRef(ada), userRef(bob), groupRef(inner), userRef(ada)];
    await own.change(group, add);
    await own.change(group, add);
    assert.equal((await find(group))?.memberCount, 3);
    assert.deepEqual((await members(group)).sort(), [ada, bob, inner].sort());
    await assert.rejects(own.change(group, [userRef(newUuid())], [userRef(ada)]), InvalidGroup);
    assert.equal((await find(group))?.memberCount, 3);
    await own.change(group, [], [userRef(ada), userRef(newUuid()), groupRef(inner)]);
    assert.deepEqual(await members(group), [bob]);
    const events = await listAuditEvents(database.query, own.orgId, 200);
    const changed = events.filter(({ action, target }) => action.includes("members") && target === group);
    assert.deepEqual(
      changed.map(({ details }) => [details["added"], details["removed"]]),
      [
        [0, 2],
        [3, 0],
      ],
    );
    const many = Array.from({ length: MAX_CHANGES + 1 }, () => userRef(ada));
    await assert.rejects(own.change(group, many), InvalidGroup);
  });

  test("effective members are those of every depth, each once, page by page", async () => {
    const users = [await own.user(), await own.user(), await own.user()].sort();
    const [outer = "", middle = "", inner = ""] = await chain("deep", 3);
    const [first = "", second = "", third = ""] = users;
    await own.change(outer, [userRef(first)]);
    await own.change(middle, [userRef(first), userRef(second)]);
    await own.change(inner, [userRef(third)]);
    await own.change(outer, [groupRef(inner)]);
    const groups = [middle, inner].sort();
    assert.deepEqual(await members(outer, true), [...groups, ...users]);
    const key = { orgId: own.orgId, id: outer };
    assert.equal(await countMembers(database.query, key, true), 5);
    assert.equal(await countMembers(database.query, key, false), 3);
    const walked = [];
    let page = await listMembers(database.query, key, { effective: true, limit: 2 });
    while (page.length > 0) {
      walked.push(...page.map(({ id }) => id));
      page = await listMembers(database.query, key, { effective: true, after: page.at(-1), limit: 2 });
    }
    assert.deepEqual(walked, [...groups, ...users]);
  });

  test("a group is inside itself by no way", async () => {
    const [outer = "", middle = "", inner = ""] = await chain("ring", 3);
    for (const [group, member] of [
      [outer, outer],
      [middle, outer],
      [inner, outer],
    ] as const)
      await assert.rejects(own.change(group, [groupRef(member)]), { code: "group-cycle" });
    assert.deepEqual(await members(inner), []);
    // In one call with a member that is fine: neither stays.
    const user = await own.user();
    await assert.rejects(own.change(inner, [userRef(user), groupRef(outer)]), { code: "group-cycle" });
    assert.deepEqual(await members(inner), []);
    await own.change(outer, [], [groupRef(middle)]);
    await own.change(inner, [groupRef(outer)]);
    assert.deepEqual(await members(inner), [outer]);
  });

  test("eight groups are a chain, nine are none, wherever the link is made", async () => {
    const eight = await chain("eight", 8);
    const one = await own.group("the ninth");
    await assert.rejects(own.change(eight[7] ?? "", [groupRef(one)]), { code: "group-depth" });
    await assert.rejects(own.change(one, [groupRef(eight[0] ?? "")]), { code: "group-depth" });
    await own.change(one, [groupRef(eight[1] ?? "")]);
    const [five, four] = [await chain("five", 5), await chain("four", 4)];
    await assert.rejects(own.change(five[4] ?? "", [groupRef(four[0] ?? "")]), { code: "group-depth" });
    await own.change(five[3] ?? "", [groupRef(four[0] ?? "")]);
    // A short way beside the long one changes nothing.
    await own.change(five[0] ?? "", [groupRef(four[3] ?? "")]);
  });

  test("of two halves of a cycle that race, one stands", async () => {
    for (let round = 0; round < 5; round++) {
      const [one, two] = [await own.group(`race ${round} a`), await own.group(`race ${round} b`)];
      const both = await Promise.allSettled([
        own.change(one, [groupRef(two)]),
        own.change(two, [groupRef(one)]),
      ]);
      const refused = both.filter(({ status }) => status === "rejected");
      assert.equal(refused.length, 1);
      assert.equal((refused[0] as PromiseRejectedResult).reason.code, "group-cycle");
      assert.equal((await members(one)).length + (await members(two)).length, 1);
    }
  });

  test("of two links that make a chain too long together, one stands", async () => {
    for (let round = 0; round < 5; round++) {
      const [upper, link, lower] = [
        await chain(`upper ${round}`, 4),
        await own.group(`link ${round}`),
        await chain(`lower ${round}`, 4),
      ];
      const both = await Promise.allSettled([
        own.change(upper[3] ?? "", [groupRef(link)]),
        own.change(link, [groupRef(lower[0] ?? "")]),
      ]);
      assert.equal(both.filter(({ status }) => status === "rejected").length, 1);
    }
  });

  test("a connection's group is changed by its connection, and is the organisation's own once it is handed over", async () => {
    const connection = { name: "Entra", enabled: true, deletionPolicy: "disable" as const };
    const { id: connectionId } = await createConnection(deps(), { ...own.act, content: connection });
    const content = { displayName: "From Entra", description: null, externalId: "e-1" };
    const user = await own.user();
    const { id } = await createGroup(deps(), { ...own.act, connectionId, source: "scim", content });
    // A local one may have the name as well.
    const twin = await own.group("From Entra");
    const refused = { code: "read-only-source" };
    const act = { ...own.act, id };
    await assert.rejects(changeGroup(deps(), { ...act, content: { displayName: "Mine" } }), refused);
    await assert.rejects(own.change(id, [userRef(user)]), refused);
    await assert.rejects(deleteGroup(deps(), act), refused);
    assert.equal(
      (await changeGroup(deps(), { ...act, content: { description: "Ours" } }))?.description,
      "Ours",
    );
    assert.ok(await changeMembers(deps(), { ...act, connectionId, add: [userRef(user)], remove: [] }));
    await assert.rejects(
      changeMembers(deps(), { ...own.act, connectionId, id: twin, add: [], remove: [] }),
      refused,
    );
    const handOver = (to: string | null) => handOverGroup(deps(), { ...act, to });
    await assert.rejects(handOver(null), { code: "name-taken" });
    await deleteGroup(deps(), { ...own.act, id: twin });
    const foreign = await createConnection(deps(), { ...other.act, content: connection });
    for (const to of [newUuid(), foreign.id]) await assert.rejects(handOver(to), InvalidGroup);
    assert.equal((await handOver(connectionId))?.source, "scim");
    assert.equal((await handOver(null))?.source, "local");
    assert.equal((await handOver(null))?.connectionId, null);
    assert.equal((await handOver(connectionId))?.connectionId, connectionId);
    await assert.rejects(deleteGroup(deps(), act), refused);
    assert.equal((await handOver(null))?.source, "local");
    await own.change(id, [], [userRef(user)]);
    assert.equal(await deleteGroup(deps(), act), true);
    assert.equal(await deleteGroup(deps(), act), false);
    const events = await listAuditEvents(database.query, own.orgId, 20);
    assert.deepEqual(
      events.filter(({ target }) => target === id).map(({ action }) => action),
      [
        ...["group.deleted", "group.members-changed"],
        ...["group.handed-over", "group.handed-over", "group.handed-over"],
        ...["group.members-changed", "group.changed", "group.created"],
      ],
    );
  });
});
