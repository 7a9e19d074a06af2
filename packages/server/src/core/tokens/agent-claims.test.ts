import assert from "node:assert/strict";
import { test } from "node:test";
import { readAgentClaims } from "./agent-claims.ts";
import { newTokenId } from "./token-family.ts";

const limits = { now: 1_000, maxLifetimeSeconds: 600 };
const own = { iss: "i", sub: "c", aud: "a", client_id: "c", jti: "j", iat: 1_000, exp: 1_600 };
const thumbprint = { "x5t#S256": "bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2" };

test("accepts an agent's token that names a device and is bound to its certificate", () => {
  const device = { device_id: "d", device_attestation: "tpm" };
  for (const more of [{}, device, { ...device, cnf: thumbprint }])
    assert.deepEqual(readAgentClaims({ ...own, ...more }, limits), { ...own, ...more });
});

test("rejects an agent's token with a binding that cannot be checked", () => {
  const bindings = [null, {}, "x", [], { jkt: "x" }, { ...thumbprint, jkt: "x" }, { "x5t#S256": 1 }];
  for (const cnf of bindings)
    assert.equal(readAgentClaims({ ...own, device_id: "d", cnf }, limits), undefined, JSON.stringify(cnf));
  const ofNoDevice = { ...own, cnf: thumbprint };
  assert.deepEqual(readAgentClaims(ofNoDevice, limits), ofNoDevice, "a self-signed certificate");
  const ofKey = { ...own, cnf: { ...thumbprint, jkt: "k".repeat(43) } };
  assert.deepEqual(readAgentClaims(ofKey, limits), ofKey, "a key of DPoP");
  assert.equal(readAgentClaims({ ...own, device_id: 1 }, limits), undefined);
});

test("rejects an agent's token whose actors cannot be read, or that says what it was exchanged from", () => {
  const actor = (depth: number): object => ({
    iss: "i",
    sub: "a",
    ...(depth > 1 ? { act: actor(depth - 1) } : {}),
  });
  const ofUser = { ...own, jti: newTokenId("01998d70-0000-7000-8000-000000000000") };
  for (const depth of [1, 4])
    assert.ok(readAgentClaims({ ...ofUser, act: actor(depth) }, limits), String(depth));
  assert.equal(readAgentClaims({ ...own, act: actor(1) }, limits), undefined, "a client's own");
  assert.ok(readAgentClaims({ ...own, workload: actor(1) }, limits));
  for (const workload of [1, {}, actor(2)])
    assert.equal(readAgentClaims({ ...own, workload }, limits), undefined, JSON.stringify(workload));
  for (const act of [
    ...[null, "x", 1, [], {}, { iss: "i" }, { iss: "i", sub: 1 }, actor(5), { ...actor(1), act: "x" }],
  ])
    assert.equal(readAgentClaims({ ...ofUser, act }, limits), undefined, JSON.stringify(act));
  for (const exchanged_from of [1, "x", ["x"], null])
    assert.equal(
      readAgentClaims({ ...own, exchanged_from }, limits),
      undefined,
      JSON.stringify(exchanged_from),
    );
});
