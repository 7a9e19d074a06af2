import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Refusal } from "../refusal.ts";
import { CLIENT, POLICY } from "../testing/sample-request.ts";
import { InvalidFile } from "../yaml-file.ts";
import { challengeWanted, parsePolicy } from "./policy.ts";
import { rateLimits } from "./rate-limits.ts";
import { readSample, trySample } from "./sample-token.ts";
import { seenTokenIds } from "./seen-token-ids.ts";

/** The faults of a policy, as `line message`. */
function faultsOf(text: string): string[] {
  try {
    parsePolicy(text);
    return [];
  } catch (error) {
    assert.ok(error instanceof InvalidFile, String(error));
    return error.faults.map(({ line, message }) => `${line} ${message}`);
  }
}

describe("the policy file", () => {
  test("the design's own example is one", () => {
    const text = `issuer: https://id.example/oauth/ORG/sovereign/pools/POOL
clients:
  CLIENT_ID: { aud: [api], scopes: [openid, email], claims: [email], maxLifetime: 3600,
    grants: [authorization_code, refresh_token], challenge: { type: number_match, when: authorization_code } }
limits: { perSubjectPerMin: 10, concurrency: 16 }
`;
    const client = parsePolicy(text).clients.get("client_id");
    assert.ok(client);
    assert.equal(challengeWanted(client, "authorization_code")?.type, "number_match");
    assert.equal(challengeWanted(client, "refresh_token"), undefined);
  });

  test("names every fault with its line", () => {
    const text = `issuer: https://id.example
clients:
  a:
    aud: api
    scopes: [openid]
    maxLifetime: 0
    grants: [password]
    chalenge: { type: number_match }
limit: {}
`;
    const faults = faultsOf(text);
    assert.deepEqual(
      faults.map((fault) => fault.split(" ").slice(0, 2).join(" ")),
      [
        "4 clients.a.aud",
        "6 clients.a.maxLifetime",
        "7 clients.a.grants.0",
        "8 clients.a.chalenge",
        "9 limit",
      ],
      faults.join("\n"),
    );
  });

  test("knows no wildcards, and says so", () => {
    const faults = ["aud: [api]", "scopes: [openid, email]", "claims: [email]"].map((member) =>
      faultsOf(POLICY.replace(member, `${member.split(":")[0]}: ["*"]`)),
    );
    for (const [fault = ""] of faults) assert.match(fault, /there are no wildcards/);
    assert.deepEqual(
      faultsOf(POLICY.replace("[api]", '["urn:x:*"]')),
      [],
      "what only holds a star is a name",
    );
  });

  test("refuses a client that is there twice, and what is no YAML", () => {
    assert.equal(faultsOf(`${POLICY.replace("limits:", "issuer: x\nlimits:")}`).length, 1);
    assert.ok(faultsOf("clients: {").length > 0);
    assert.match(faultsOf("clients: {}")[0] ?? "", /issuer is missing/);
  });
});

describe("limits", () => {
  test("a user gets so many requests in any minute, and another user is not in the way", () => {
    let now = 0;
    const limits = rateLimits(() => now);
    const policy = { perSubjectPerMin: 2, perClientPerMin: undefined, concurrency: 1 };
    const take = (sub: string) => limits.take({ clientId: "c", sub }, policy);
    take("a");
    now = 59_000;
    take("a");
    assert.throws(() => take("a"), Refusal);
    take("b");
    now = 60_500;
    take("a");
    assert.throws(() => take("a"), Refusal);
  });

  test("a client gets so many for all its users, and counts as no user itself", () => {
    const limits = rateLimits(() => 0);
    const policy = { perSubjectPerMin: 1, perClientPerMin: 3, concurrency: 1 };
    const take = (sub: string) => limits.take({ clientId: "c", sub }, policy);
    take("a");
    assert.throws(() => take("a"), Refusal);
    take("c");
    take("c");
    assert.throws(() => take("b"), Refusal);
  });

  test("a jti is signed once until its token has expired", () => {
    let now = 0;
    const seen = seenTokenIds(() => now);
    seen.take([{ jti: "a", exp: 100 }]);
    assert.throws(
      () =>
        seen.take([
          { jti: "b", exp: 100 },
          { jti: "a", exp: 100 },
        ]),
      Refusal,
    );
    seen.take([{ jti: "b", exp: 100 }]);
    now = 400_000;
    seen.take([{ jti: "c", exp: 500 }]);
    assert.equal(seen.size, 1);
  });
});

describe("policy test", () => {
  const policy = parsePolicy(
    POLICY.replace("grants:", "challenge: { type: pin, when: always }\n    grants:"),
  );
  const claims = {
    iss: policy.issuer,
    sub: "u",
    aud: "api",
    iat: 1000,
    exp: 2000,
    jti: "j",
    client_id: CLIENT,
    scope: "email",
  };

  test("a sample is claims or a JWS, and its own moment counts", async () => {
    const jws = `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.AA`;
    for (const text of [JSON.stringify(claims), jws, JSON.stringify({ accessToken: jws })])
      assert.equal((await trySample(policy, readSample(text), "refresh_token")).challenge, "pin");
  });

  test("tells what a real request would be told", async () => {
    const sample = readSample(JSON.stringify({ ...claims, scope: "admin" }));
    await assert.rejects(trySample(policy, sample, "refresh_token"), /scope "admin" is not allowed/);
  });
});
