import assert from "node:assert/strict";
import { test } from "node:test";
import type { User } from "../users/user.ts";
import { customClaims } from "./custom-claims.ts";
import { type CustomScope, fingerprintsOf, type ScopeClaim } from "./custom-scope.ts";

const uma: User = {
  homeOrgId: "acme",
  orgId: "acme",
  id: "uma",
  email: "uma@acme.example",
  emailVerified: true,
  username: null,
  firstname: "Uma",
  surname: "User",
  phone: null,
  locale: "da",
  details: {},
  role: "Standard",
  attributes: { department: "Finance", empty: "", none: [] },
  membership: { groups: ["staff"], attributes: { desk: 7 } },
  createdAt: 0,
  profileChangedAt: 0,
  disabledAt: null,
};
const scope = (name: string, claims: readonly ScopeClaim[]): CustomScope => ({
  orgId: "acme",
  id: name,
  name,
  displayName: name,
  description: "",
  claims,
  sensitive: false,
  resourceId: null,
  createdAt: 0,
  updatedAt: 0,
  version: 1,
});
const hr = scope("hr", [
  { name: "id", source: "user", path: "permId" },
  { name: "phone", source: "user", path: "phone" },
  { name: "language", source: "user", path: "locale" },
  { name: "department", source: "user", path: "attributes.department" },
  { name: "empty", source: "user", path: "attributes.empty" },
  { name: "none", source: "user", path: "attributes.none" },
  { name: "inherited", source: "user", path: "attributes.constructor" },
  { name: "role", source: "membership", path: "role" },
  { name: "groups", source: "membership", path: "groups" },
  { name: "desk", source: "membership", path: "attributes.desk" },
  { name: "tier", source: "static", value: { level: 1 } },
]);
const told = (more: Partial<Parameters<typeof customClaims>[0]> = {}) =>
  customClaims({ customScopes: [hr], scopes: ["openid", "hr"], user: uma, consented: undefined, ...more });
const all = {
  id: "uma",
  language: "da",
  department: "Finance",
  role: "Standard",
  groups: ["staff"],
  desk: 7,
  tier: { level: 1 },
};

test("reads claims from each source and omits absent values", () => {
  assert.deepEqual(told(), all);
  assert.deepEqual(told({ scopes: ["openid"] }), {});
  assert.deepEqual(told({ user: undefined }), { tier: { level: 1 } });
});

test("a guest's account attributes stay hidden, membership attributes are the organisation's", () => {
  const { department: _, ...others } = all;
  assert.deepEqual(told({ user: { ...uma, orgId: "other" } }), others);
});

test("the older scope wins when two have the same claim", () => {
  const customScopes = [
    scope("old", [{ name: "tier", source: "static", value: "old" }]),
    scope("new", [{ name: "tier", source: "static", value: "new" }]),
  ];
  for (const scopes of [
    ["old", "new"],
    ["new", "old"],
  ])
    assert.deepEqual(told({ customScopes, scopes }), { tier: "old" });
});

test("omits claims added since the user's consent", () => {
  const before = scope("hr", hr.claims.slice(0, 4));
  assert.deepEqual(told({ consented: fingerprintsOf([before], ["hr"]) }), {
    id: "uma",
    language: "da",
    department: "Finance",
  });
  const other = scope("hr", [{ name: "tier", source: "static", value: { level: 2 } }]);
  assert.deepEqual(told({ consented: fingerprintsOf([other], ["hr"]) }), {});
  assert.deepEqual(told({ consented: {} }), {});
});
