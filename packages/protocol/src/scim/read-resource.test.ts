import assert from "node:assert/strict";
import { test } from "node:test";
import { ScimFault } from "./attribute.ts";
import { readResource } from "./read-resource.ts";
import { ENTERPRISE_SCHEMA, USER_SCHEMA, userType } from "./user-schema.ts";

const read = (body: unknown) => readResource(userType, body);

test("names are taken in any case and unknown, read-only and secret members left out", () => {
  assert.deepEqual(
    read({
      ...{ schemas: [USER_SCHEMA], id: "x", meta: {}, groups: [{ value: "g" }], password: "p", __unknown: 1 },
      ...{ USERNAME: "uma", Name: { GivenName: "Uma", nothing: 1 }, title: null, emails: [] },
      [ENTERPRISE_SCHEMA.toUpperCase()]: { Department: "Sales" },
    }),
    { userName: "uma", name: { givenName: "Uma" }, [ENTERPRISE_SCHEMA]: { department: "Sales" } },
  );
});

test("one value without its list is a list of one", () => {
  assert.deepEqual(read({ userName: "u", emails: { value: "u@acme.example" } })["emails"], [
    { value: "u@acme.example" },
  ]);
  assert.deepEqual(read({ userName: "u", emails: "u@acme.example" })["emails"], [
    { value: "u@acme.example" },
  ]);
});

test("what is no value of its attribute is refused", () => {
  for (const body of [
    ...[null, [], "x", {}, { userName: "" }, { userName: 1 }, { userName: "u", active: "yes" }],
    ...[
      { userName: "u", name: "x" },
      { userName: "u", title: {} },
      { userName: "u", [ENTERPRISE_SCHEMA]: "x" },
    ],
    { userName: "u", title: "x".repeat(20_001) },
    {
      userName: "u",
      emails: [
        { value: "a", primary: true },
        { value: "b", primary: true },
      ],
    },
  ])
    assert.throws(() => read(body), ScimFault, JSON.stringify(body).slice(0, 60));
});

test("__proto__ is a name like any unknown one", () => {
  const body = JSON.parse(
    '{"userName": "u", "__proto__": {"active": true}, "name": {"__proto__": {"givenName": "x"}}}',
  );
  assert.deepEqual(read(body), { userName: "u" });
});
