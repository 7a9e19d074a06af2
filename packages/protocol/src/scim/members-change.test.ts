import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ScimFault } from "./attribute.ts";
import { GROUP_SCHEMA, groupType } from "./group-schema.ts";
import { membersOf, readGroupPatch } from "./members-change.ts";
import { patchResource } from "./patch.ts";

const read = (...Operations: object[]) => readGroupPatch({ Operations });
const change = (...operations: object[]) => {
  const { members } = read(...operations);
  return members && [members.replaces, [...members.add], [...members.remove]];
};
const add = (...ids: string[]) => ({ op: "Add", path: "members", value: ids.map((value) => ({ value })) });

describe("a PATCH of a group's members", () => {
  test("is known without a look at who they are, however directories write it", () => {
    assert.deepEqual(change(add("a", "b")), [false, ["a", "b"], []]);
    assert.deepEqual(change({ op: "add", value: { members: [{ value: "a", $ref: null }] } }), [
      ...[false, ["a"], []],
    ]);
    assert.deepEqual(change({ op: "add", path: `${GROUP_SCHEMA}:Members`, value: { value: "a" } }), [
      ...[false, ["a"], []],
    ]);
    assert.deepEqual(change({ op: "add", path: "members", value: [{ $ref: "https://x/Users/a" }] }), [
      ...[false, ["a"], []],
    ]);
    assert.deepEqual(change({ op: "remove", path: 'members[value eq "a"]' }), [false, [], ["a"]]);
    assert.deepEqual(change({ op: "Remove", path: 'members[value eq "a" or value eq "b"]' }), [
      ...[false, [], ["a", "b"]],
    ]);
    assert.deepEqual(change({ op: "remove", path: "members", value: [{ value: "a" }, "b"] }), [
      ...[false, [], ["a", "b"]],
    ]);
    assert.deepEqual(change({ op: "remove", path: "members", value: [] }), [false, [], []]);
    assert.deepEqual(change({ op: "remove", path: "members" }), [true, [], []]);
    assert.deepEqual(change({ op: "replace", path: "members", value: [{ value: "a" }] }), [true, ["a"], []]);
    assert.deepEqual(change({ op: "replace", path: "members", value: null }), [true, [], []]);
    assert.deepEqual(change({ op: "replace", value: { id: "g", displayName: "x" } }), [false, [], []]);
  });

  test("of several operations the last word about a member counts", () => {
    const remove = { op: "remove", path: 'members[value eq "a"]' };
    assert.deepEqual(change(add("a", "b"), remove), [false, ["b"], ["a"]]);
    assert.deepEqual(change(remove, add("a")), [false, ["a"], []]);
    assert.deepEqual(change(add("a"), { op: "remove", path: "members" }, add("c")), [true, ["c"], []]);
  });

  test("adds nobody with nothing, and takes nobody away", () => {
    assert.deepEqual(change({ op: "add", path: "members", value: null }), [false, [], []]);
    assert.deepEqual(change({ op: "add", path: "members", value: [] }), [false, [], []]);
  });

  test("whose filter is about more than the id needs them", () => {
    const paths = ['members[type sw "a"]', 'members[value eq "a" and type eq "User"]', "members.type"];
    for (const path of paths) assert.equal(read({ op: "remove", path }).members, undefined, path);
    const chosen = read({ op: "remove", path: 'members[type eq "Group"]' });
    const members = [
      { value: "a", type: "User" },
      { value: "b", type: "Group" },
    ];
    assert.deepEqual(membersOf(chosen.patch({ displayName: "g", members })), ["a"]);
  });

  test("goes with what else the operations change", () => {
    const both = read({ op: "replace", value: { displayName: "New", id: "g", members: [{ value: "a" }] } });
    assert.deepEqual(both.patch({ displayName: "Old" }), { displayName: "New" });
    assert.deepEqual([...(both.members?.add ?? [])], ["a"]);
  });

  test("is refused when it names nobody, or is no change of a group", () => {
    const refused = (scimType: string, operation: object) =>
      assert.throws(
        () => read(operation).patch({ displayName: "g" }),
        (error) => error instanceof ScimFault && error.scimType === scimType,
        JSON.stringify(operation),
      );
    refused("invalidValue", { op: "add", path: "members", value: [{ type: "User" }] });
    refused("invalidValue", { op: "add", path: "members", value: [7] });
    refused("invalidValue", { op: "add", path: "members" });
    refused("invalidPath", { op: "add", path: "members[", value: [] });
    refused("invalidPath", { op: "add", path: "nonmembers", value: [] });
    refused("noTarget", { op: "remove" });
    refused("mutability", { op: "remove", path: "displayName" });
  });

  test("comes to what the whole list would, whatever the operations are", () => {
    const ids = ["a", "b", "c", "d"];
    const pool = [
      ...ids.map((id) => add(id)),
      ...ids.map((id) => ({ op: "remove", path: `members[value eq "${id}"]` })),
      ...ids.map((value) => ({ op: "remove", path: "members", value: [{ value }] })),
      { op: "replace", path: "members", value: [{ value: "b" }, { value: "d" }] },
      { op: "remove", path: "members" },
    ];
    for (let turn = 0; turn < 500; turn++) {
      const length = 1 + (turn % 5);
      const Operations = Array.from({ length }, () => pool[Math.floor(Math.random() * pool.length)]);
      const before = ["a", "c"];
      const members = before.map((value) => ({ value, type: "User" }));
      const whole = membersOf(patchResource(groupType, { displayName: "g", members }, { Operations }));
      const { members: known } = readGroupPatch({ Operations });
      assert.ok(known);
      const left = (known.replaces ? [] : before).filter((id) => !known.remove.has(id));
      const text = JSON.stringify(Operations);
      assert.deepEqual([...new Set([...left, ...known.add])].sort(), whole.sort(), text);
    }
  });
});
