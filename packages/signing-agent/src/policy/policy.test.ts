import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Refusal } from "../agent/refusal.ts";
import { InvalidFile } from "../configuration/yaml-file.ts";
import { CLIENT, POLICY } from "../testing/sample-request.ts";
import { parsePolicy, requiredChallenge } from "./policy.ts";
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
  test("the design's example is valid", () => {
    const text = `issuer: https://id.example/oauth/ORG/sovereign/pools/POOL
clients:
  CLIENT_ID: { aud: [api], scopes: [openid, email], claims: [email], maxLifetime: 3600,
    grants: [authorization_code, refresh_token], challenge: { type: number_match, when: authorization_code } }
limits: { perSubjectPerMin: 10, concurrency: 16 }
`;
    const client = parsePolicy(text).clients.get("client_id");
    assert.ok(client);
    assert.equal(requiredChallenge(client, "authorization_code")?.type, "number_match");
    assert.equal(requiredChallenge(client, "refresh_token"), undefined);
  });

  test("every fault is reported with its line", () => {
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

  test("a fault says what is wrong, however many there are", () => {
    const many = Array.from({ length: 12 }, (_, index) => `  c${index}: {}`).join("\n");
    assert.equal(faultsOf(`issuer: x\nclients:\n${many}\n`).length, 12 * 4);
    const when = POLICY.replace("grants:", "challenge: { type: pin, when: [never] }\n    grants:");
    const messages = [
      ...faultsOf(when),
      ...faultsOf("[]"),
      ...faultsOf("issuer: x\nclients: { c: 1 }\nlimits: { concurency: 1 }"),
    ];
    assert.deepEqual(messages, [
      `9 clients.${CLIENT}.challenge.when must be always, or one or more of authorization_code, refresh_token, client_credentials, device_code, ciba, token_exchange, jwt_bearer`,
      "1 the file must be a map of members",
      "2 clients.c must be a map of members",
      "3 limits.concurency is not known; known here: perSubjectPerMin, perClientPerMin, concurrency",
    ]);
  });

  test("wildcards are refused, and the message says so", () => {
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

  test("a member given twice and invalid YAML are refused", () => {
    assert.equal(faultsOf(`${POLICY.replace("limits:", "issuer: x\nlimits:")}`).length, 1);
    assert.ok(faultsOf("clients: {").length > 0);
    assert.match(faultsOf("clients: {}")[0] ?? "", /issuer is missing/);
  });
});

describe("limits", () => {
  test("a user's requests are limited in any minute, independently of other users", () => {
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

  test("a client's limit covers all its users, and the client itself is not a user", () => {
    const limits = rateLimits(() => 0);
    const policy = { perSubjectPerMin: 1, perClientPerMin: 3, concurrency: 1 };
    const take = (sub: string) => limits.take({ clientId: "c", sub }, policy);
    take("a");
    assert.throws(() => take("a"), Refusal);
    take("c");
    take("c");
    assert.throws(() => take("b"), Refusal);
  });

  test("a jti is refused until its token has expired", () => {
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

  test("a sample is claims or a JWS, checked at its own time", async () => {
    const jws = `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.AA`;
    for (const text of [JSON.stringify(claims), jws, JSON.stringify({ accessToken: jws })])
      assert.equal((await trySample(policy, readSample(text), "refresh_token")).challenge, "pin");
  });

  test("gives the answer of a real request", async () => {
    const sample = readSample(JSON.stringify({ ...claims, scope: "admin" }));
    await assert.rejects(trySample(policy, sample, "refresh_token"), /scope "admin" is not allowed/);
  });
});
