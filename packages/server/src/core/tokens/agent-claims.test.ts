import assert from "node:assert/strict";
import { test } from "node:test";
import { agentClaims } from "./agent-claims.ts";

const limits = { now: 1_000, longestSeconds: 600 };
const own = { iss: "i", sub: "c", aud: "a", client_id: "c", jti: "j", iat: 1_000, exp: 1_600 };
const thumbprint = { "x5t#S256": "bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2" };

test("an agent's token may be a device's, and bound to its certificate", () => {
  const device = { device_id: "d", device_attestation: "tpm" };
  for (const more of [{}, device, { ...device, cnf: thumbprint }])
    assert.deepEqual(agentClaims({ ...own, ...more }, limits), { ...own, ...more });
});

test("a binding that nobody here can check makes the token nothing", () => {
  const bindings = [null, {}, "x", [], { jkt: "x" }, { ...thumbprint, jkt: "x" }, { "x5t#S256": 1 }];
  for (const cnf of bindings)
    assert.equal(agentClaims({ ...own, device_id: "d", cnf }, limits), undefined, JSON.stringify(cnf));
  assert.equal(agentClaims({ ...own, cnf: thumbprint }, limits), undefined, "of no device");
  assert.equal(agentClaims({ ...own, device_id: 1 }, limits), undefined);
});
