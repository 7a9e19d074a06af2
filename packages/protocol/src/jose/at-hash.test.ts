import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { atHash } from "./jws.ts";
import { mlDsaAlgs } from "./ml-dsa.ts";

const accessToken = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y";

test("the example of OpenID Connect Core Appendix A.3", () => {
  for (const alg of ["RS256", "PS256", "ES256"] as const) {
    assert.equal(atHash(accessToken, alg), "77QmUPtjPfzWtF2AnpK9RQ", alg);
  }
});

test("EdDSA with Ed25519 uses the left half of SHA-512", () => {
  const half = createHash("sha512").update(accessToken).digest().subarray(0, 32);
  assert.equal(atHash(accessToken, "EdDSA"), half.toString("base64url"));
});

test("ML-DSA uses the first 32 of 64 bytes of SHAKE256", () => {
  const whole = createHash("shake256", { outputLength: 64 }).update(accessToken).digest();
  for (const alg of mlDsaAlgs)
    assert.equal(atHash(accessToken, alg), whole.subarray(0, 32).toString("base64url"), alg);
});
