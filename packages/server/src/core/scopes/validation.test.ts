import assert from "node:assert/strict";
import { test } from "node:test";
import type { ScopeClaim } from "./custom-scope.ts";
import { InvalidScope, requireValidScope } from "./validation.ts";

const fine = { name: "payroll", displayName: "See your pay", description: "", claims: [] as ScopeClaim[] };
const faults = (change: Partial<typeof fine>): string[] => {
  try {
    requireValidScope({ ...fine, ...change });
    return [];
  } catch (error) {
    assert.ok(error instanceof InvalidScope);
    return error.faults.map(({ path }) => path);
  }
};
const claim = (name: string, path = "attributes.x"): ScopeClaim => ({ name, source: "user", path });
const constant = (value: unknown, name = "tier"): ScopeClaim => ({ name, source: "static", value });

test("a scope's name is one scope token, and not a standard scope", () => {
  for (const name of ["payroll", "jobs:run", "https://api.example/read", "<script>", "constructor"])
    assert.deepEqual(faults({ name }), [], name);
  for (const name of [
    "",
    "two words",
    'quo"te',
    "back\\slash",
    "ü",
    "x".repeat(101),
    "openid",
    "offline_access",
    "address",
  ])
    assert.deepEqual(faults({ name }), ["name"], name);
});

test("an older scope may be named address, and no other standard name", () => {
  requireValidScope({ ...fine, name: "address" }, fine);
  for (const name of ["openid", "phone", "two words"])
    assert.throws(() => requireValidScope({ ...fine, name }, fine), InvalidScope);
});

test("rejects deceptive characters in displayed texts", () => {
  for (const displayName of ["", "  ", "a\u202eb", "a\nb", "x".repeat(101)])
    assert.deepEqual(faults({ displayName }), ["displayName"], displayName);
  assert.deepEqual(faults({ description: "x".repeat(501) }), ["description"]);
  assert.deepEqual(faults({ displayName: "<b>&", description: "<script>alert(1)</script>" }), []);
});

test("rejects claims reserved by token formats and standard scopes", () => {
  const reserved =
    `iss sub aud exp iat nbf jti client_id scope azp auth_time acr amr cnf act org_id nonce at_hash c_hash
    sid events token_type active username name email_verified`.split(/\s+/);
  for (const name of reserved)
    for (const one of [claim(name), constant("x", name)])
      assert.deepEqual(faults({ claims: [one] }), ["claims[0].name"], name);
});

test("a standard claim may only have its standard source", () => {
  const meanings = { email: "email", given_name: "firstname", family_name: "surname", phone_number: "phone" };
  for (const [name, path] of Object.entries(meanings)) {
    assert.deepEqual(faults({ claims: [claim(name, path)] }), [], name);
    for (const other of [claim(name, "permId"), claim(name), constant("a@b.example", name)])
      assert.deepEqual(faults({ claims: [other] }), ["claims[0].name"], name);
  }
});

test("validates a claim's name, path and value, and rejects duplicates", () => {
  for (const name of ["", "1st", "__proto__", "a b", 'a"b', "x".repeat(101)])
    assert.deepEqual(faults({ claims: [claim(name)] }), ["claims[0].name"], name);
  for (const path of [
    "",
    "password",
    "password_hash",
    "role",
    "attributes",
    "attributes.",
    "attributes.a.b",
    "__proto__",
  ])
    assert.deepEqual(faults({ claims: [claim("x", path)] }), ["claims[0].path"], path);
  for (const path of ["role", "groups", "attributes.team"])
    assert.deepEqual(faults({ claims: [{ name: "x", source: "membership", path }] }), [], path);
  assert.deepEqual(faults({ claims: [{ name: "x", source: "membership", path: "email" }] }), [
    "claims[0].path",
  ]);
  for (const value of ["gold", true, 7, ["a"], { a: 1 }])
    assert.deepEqual(faults({ claims: [constant(value)] }), []);
  for (const value of [undefined, null, "x".repeat(2_000), "half \ud800", [Number.POSITIVE_INFINITY]])
    assert.deepEqual(faults({ claims: [constant(value)] }), ["claims[0].value"]);
  assert.deepEqual(faults({ claims: [claim("x"), claim("x")] }), ["claims[1].name"]);
  const many = Array.from({ length: 51 }, (_, at) => claim(`c${at}`));
  assert.deepEqual(faults({ claims: many }), ["claims"]);
});

test("reports an unknown claim source with its path", () => {
  for (const source of ["directory", "constructor", "__proto__", undefined, 7]) {
    const claims = [{ name: "tier", source, path: "x" }] as unknown as ScopeClaim[];
    assert.deepEqual(faults({ claims }), ["claims[0].source"], String(source));
  }
});
