import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Resource, ScimFault, type ScimType } from "./attribute.ts";
import { groupType } from "./group-schema.ts";
import { patchResource } from "./patch.ts";
import { readResource } from "./read-resource.ts";
import { ENTERPRISE_SCHEMA, USER_SCHEMA, userType } from "./user-schema.ts";

type Operation = { op: string; path?: string; value?: unknown };

const user = (): Resource =>
  readResource(userType, {
    userName: "uma@acme.example",
    name: { givenName: "Uma", familyName: "Ray" },
    active: true,
    emails: [
      { value: "uma@acme.example", type: "work", primary: true },
      { value: "uma@home.example", type: "home" },
    ],
    [ENTERPRISE_SCHEMA]: { department: "Sales" },
  });
const patch = (...operations: Operation[]) => patchResource(userType, user(), { Operations: operations });
const replace = (path: string, value: unknown) => patch({ op: "replace", path, value });
const refused = (scimType: ScimType, ...operations: Operation[]) =>
  assert.throws(
    () => patch(...operations),
    (error) => error instanceof ScimFault && error.scimType === scimType && error.status === 400,
    JSON.stringify(operations),
  );
const enterprise = (resource: Resource) => resource[ENTERPRISE_SCHEMA] as Resource | undefined;

describe("a PATCH of a user", () => {
  test("adds, replaces and removes attributes and members", () => {
    assert.equal(replace("title", "Dr")["title"], "Dr");
    assert.deepEqual(replace("name.familyName", "Rao")["name"], { givenName: "Uma", familyName: "Rao" });
    assert.deepEqual(replace("name", { middleName: "B" })["name"], {
      ...{ givenName: "Uma", familyName: "Ray", middleName: "B" },
    });
    assert.equal("name" in patch({ op: "remove", path: "name" }), false);
    assert.deepEqual(patch({ op: "remove", path: "NAME.givenname" })["name"], { familyName: "Ray" });
    assert.equal(
      "title" in
        patch({ op: "add", path: "title", value: "x" }, { op: "replace", path: "title", value: null }),
      false,
    );
    assert.equal(replace(`${USER_SCHEMA}:title`, "Dr")["title"], "Dr");
  });

  test("takes operations in any case, and booleans as text", () => {
    assert.equal(patch({ op: "Replace", path: "active", value: "False" })["active"], false);
    assert.equal(patch({ op: "ADD", path: "Active", value: "true" })["active"], true);
    refused("invalidValue", { op: "replace", path: "active", value: "maybe" });
  });

  test("without a path each key is a path, and what a client was shown is left out", () => {
    const patched = patch({
      op: "replace",
      value: {
        ...{
          id: "x",
          meta: {},
          schemas: [],
          groups: [],
          title: "Dr",
          "name.familyName": "Rao",
          active: "False",
        },
        [`${ENTERPRISE_SCHEMA}:costCenter`]: "7",
        'emails[type eq "work"].value': "new@acme.example",
        [ENTERPRISE_SCHEMA]: { schemas: [ENTERPRISE_SCHEMA], division: "West" },
      },
    });
    assert.equal(patched["title"], "Dr");
    assert.equal(patched["active"], false);
    assert.equal("id" in patched || "meta" in patched || "groups" in patched, false);
    assert.deepEqual(patched["name"], { givenName: "Uma", familyName: "Rao" });
    assert.deepEqual(enterprise(patched), { department: "Sales", costCenter: "7", division: "West" });
    assert.equal((patched["emails"] as Resource[])[0]?.["value"], "new@acme.example");
    refused("invalidPath", { op: "add", value: { unknown: 1 } });
  });

  test("makes what a value filter does not find yet", () => {
    const patched = patch({ op: "add", path: 'phoneNumbers[type eq "work"].value', value: "+1 2" });
    assert.deepEqual(patched["phoneNumbers"], [{ type: "work", value: "+1 2" }]);
    const second = replace('emails[type eq "other" and primary eq true].value', "o@acme.example");
    assert.deepEqual(second["emails"], [
      { value: "uma@acme.example", type: "work", primary: false },
      { value: "uma@home.example", type: "home" },
      { value: "o@acme.example", type: "other", primary: true },
    ]);
    refused("noTarget", { op: "replace", path: 'emails[value co "zz" or type eq "y"].value', value: "z" });
  });

  test("changes and removes the values that a filter chooses", () => {
    const emails = (resource: Resource) => (resource["emails"] as Resource[]).map(({ value }) => value);
    assert.deepEqual(emails(replace('emails[type eq "home"].value', "h@acme.example")), [
      ...["uma@acme.example", "h@acme.example"],
    ]);
    assert.deepEqual(emails(patch({ op: "remove", path: 'emails[type eq "home"]' })), ["uma@acme.example"]);
    const untyped = patch({ op: "remove", path: 'emails[type eq "home"].type' });
    assert.deepEqual((untyped["emails"] as Resource[])[1], { value: "uma@home.example" });
    assert.equal("emails" in patch({ op: "remove", path: "emails[value pr]" }), false);
    assert.deepEqual(emails(replace("emails", [{ value: "only@acme.example" }])), ["only@acme.example"]);
  });

  test("adds a value once, and a new primary one takes the place of the old", () => {
    const again = { op: "add", path: "emails", value: { value: "uma@home.example", type: "home" } };
    assert.equal((patch(again)["emails"] as unknown[]).length, 2);
    const emails = patch({ ...again, value: [{ value: "n@acme.example", type: "other", primary: true }] })[
      "emails"
    ];
    assert.deepEqual(
      (emails as Resource[]).filter(({ primary }) => primary === true).map(({ value }) => value),
      ["n@acme.example"],
    );
  });

  test("takes a manager as a string, an object or a list, and removes it with an empty one", () => {
    const path = `${ENTERPRISE_SCHEMA}:manager`;
    for (const value of ["m1", { value: "m1" }, [{ value: "m1" }], { value: "m1", displayName: "M" }])
      assert.deepEqual(enterprise(replace(path, value))?.["manager"], { value: "m1" });
    assert.deepEqual(enterprise(replace(`${path}.value`, "m2"))?.["manager"], { value: "m2" });
    assert.equal("manager" in (enterprise(replace(path, "")) ?? {}), false);
    const none = patch({ op: "remove", path: `${ENTERPRISE_SCHEMA}:department` });
    assert.equal(enterprise(none), undefined);
  });

  test("is refused by the code of its fault, and then nothing is changed", () => {
    refused("invalidPath", { op: "add", path: "nothing", value: 1 });
    refused("invalidPath", { op: "add", path: "name.nothing", value: 1 });
    refused("invalidPath", { op: "replace", path: "emails[type eq", value: 1 });
    refused("invalidPath", { op: "replace", path: 'name[familyName eq "x"]', value: { familyName: "y" } });
    refused("invalidPath", { op: "add", path: "urn:unknown:User:title", value: "x" });
    refused("mutability", { op: "replace", path: "id", value: "x" });
    refused("mutability", { op: "remove", path: "groups" });
    refused("mutability", { op: "replace", path: "meta.created", value: "x" });
    refused("mutability", { op: "remove", path: "userName" });
    refused("noTarget", { op: "remove" });
    refused("invalidValue", { op: "replace", path: "title" });
    refused("invalidValue", { op: "replace", path: "title", value: 7 });
    refused("invalidSyntax", { op: "move", path: "title" });
    const before = user();
    const operations = [{ op: "replace", path: "title", value: "x" }, { op: "remove" }];
    assert.throws(() => patchResource(userType, before, { Operations: operations }));
    assert.deepEqual(before, user());
    for (const body of [null, [], {}, { Operations: [] }, { Operations: {} }, { Operations: [null] }])
      assert.throws(() => patchResource(userType, user(), body), ScimFault);
  });

  test("a password is taken and forgotten", () => {
    assert.deepEqual(replace("password", "secret"), user());
  });
});

describe("a PATCH of a group", () => {
  const group = () =>
    readResource(groupType, {
      displayName: "Sales",
      members: [{ value: "a" }, { value: "b", type: "User" }],
    });
  const members = (...operations: Operation[]) =>
    ((patchResource(groupType, group(), { operations })["members"] ?? []) as Resource[]).map(
      ({ value }) => value,
    );

  test("adds, replaces and removes members as Entra ID and Okta do", () => {
    const value = [{ value: "b" }, { value: "c" }];
    assert.deepEqual(members({ op: "Add", path: "members", value }), ["a", "b", "c"]);
    assert.deepEqual(members({ op: "Remove", path: "members", value }), ["a"]);
    assert.deepEqual(members({ op: "remove", path: 'members[value eq "b"]' }), ["a"]);
    assert.deepEqual(members({ op: "replace", path: "members", value }), ["b", "c"]);
    assert.deepEqual(members({ op: "remove", path: "members" }), []);
    assert.deepEqual(members({ op: "replace", value: { id: "g", displayName: "x" } }), ["a", "b"]);
  });

  test("a name is required", () => {
    for (const one of [
      { op: "remove", path: "displayName" },
      { op: "replace", path: "displayName", value: " " },
    ])
      assert.throws(() => members(one), ScimFault);
  });
});

describe("what is published as required", () => {
  test("is not removed as a whole, by whatever spelling", () => {
    for (const path of ["emails", "active", "userName"]) {
      refused("mutability", { op: "remove", path });
      refused("mutability", { op: "replace", path, value: null });
      refused("mutability", { op: "replace", value: { [path]: null } });
    }
  });

  test("one of several values may go, and the last by its filter", () => {
    const [work] = patch({ op: "remove", path: 'emails[type eq "home"]' })["emails"] as object[];
    assert.deepEqual(work, { value: "uma@acme.example", type: "work", primary: true });
    assert.equal(patch({ op: "remove", path: "emails[value pr]" })["emails"], undefined);
  });
});

describe("the work of one PATCH", () => {
  const many = Array.from({ length: 200 }, (_, at) => ({ value: `${at}@acme.example` }));
  const filter = Array.from({ length: 60 }, (_, at) => `value eq "x${at}"`).join(" or ");
  const searches = (count: number) =>
    Array.from({ length: count }, () => ({ op: "remove", path: `emails[${filter}]` }));

  test("is bounded, comparisons of filters counted", () => {
    const fill = { op: "replace", path: "emails", value: many };
    assert.equal((patch(fill, ...searches(3))["emails"] as unknown[]).length, 200);
    refused("tooMany", fill, ...searches(20));
  });

  test("is of lists that end, however they grow", () => {
    const fill = { op: "replace", path: "emails", value: many };
    refused("invalidValue", { op: "add", path: "emails", value: [...many, { value: "one@acme.example" }] });
    refused("invalidValue", fill, { op: "add", path: "emails", value: [{ value: "one@acme.example" }] });
    refused("invalidValue", fill, {
      op: "add",
      path: 'emails[type eq "other"].value',
      value: "one@a.example",
    });
  });

  test("leaves room for groups of many members", () => {
    const group = {
      displayName: "All",
      members: Array.from({ length: 50_000 }, (_, at) => ({ value: `${at}` })),
    };
    const joins = Array.from({ length: 20 }, (_, at) => ({
      op: "add",
      path: "members",
      value: [{ value: `n${at}` }],
    }));
    const patched = patchResource(groupType, group, { Operations: joins });
    assert.equal((patched["members"] as unknown[]).length, 50_020);
  });
});
