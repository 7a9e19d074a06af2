/** A service that sends what the policy does not allow, in every way that a token can say it. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { Refusal } from "../agent/refusal.ts";
import { type AgentKey, agentKey } from "../keys/key-source.ts";
import { generatePrivateKey, memoryKey } from "../keys/pem-key.ts";
import {
  type Changes,
  CLIENT,
  ISSUER,
  POLICY,
  type RequestBody,
  sampleRequest,
  USER,
} from "../testing/sample-request.ts";
import { checkRequest, requireOnlyRenewed } from "./check-tokens.ts";
import { parsePolicy } from "./policy.ts";

const now = 1_800_000_000_000;
const seconds = now / 1000;
const thumbprint = "bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2";
const policy = parsePolicy(POLICY);

describe("the checks before a signature", () => {
  let key: AgentKey;
  let certified: AgentKey;
  before(async () => {
    const source = memoryKey(await generatePrivateKey("ES256"), "ES256");
    key = agentKey(source, "test");
    certified = agentKey(source, "test", ["bGVhZg=="]);
  });
  const check = (request: RequestBody, keys = [key]) => checkRequest(request, { policy, keys, now });

  test("what the policy allows passes", () => {
    const { tokens, sub, clientId } = check(sampleRequest(key, now));
    assert.deepEqual([tokens.length, sub, clientId], [2, USER, CLIENT]);
  });

  test("a key of ML-DSA signs under its own parameter set alone", async () => {
    const lattice = agentKey(memoryKey(await generatePrivateKey("ML-DSA-65"), "ML-DSA-65"), "test");
    assert.equal(check(sampleRequest(lattice, now), [key, lattice]).tokens.length, 2);
    for (const alg of ["ML-DSA-44", "ML-DSA-87", "EdDSA", "ES256"]) {
      const request = sampleRequest(lattice, now, { header: { alg } });
      assert.throws(() => check(request, [key, lattice]), /does not match the key's ML-DSA-65/);
    }
    const swapped = sampleRequest(lattice, now, { header: { kid: key.kid } });
    assert.throws(() => check(swapped, [key, lattice]), /alg "ML-DSA-65" does not match the key's ES256/);
  });

  test("the device grant is recognised by its URN", () => {
    const device = parsePolicy(POLICY.replace("refresh_token]", "device_code]"));
    const context = { grantType: "urn:ietf:params:oauth:grant-type:device_code" };
    const request = sampleRequest(key, now, { context });
    assert.equal(checkRequest(request, { policy: device, keys: [key], now }).grant, "device_code");
  });

  test("device claims and bindings to a certificate or key are accepted", () => {
    const device = { device_id: "d", device_attestation: "tpm", cnf: { "x5t#S256": thumbprint } };
    check(sampleRequest(key, now, { access: device }));
    check(sampleRequest(key, now, { access: { device_id: "d" } }));
    check(sampleRequest(key, now, { access: { cnf: { jkt: thumbprint } } }));
  });

  const client = "55555555-5555-4555-8555-555555555555";
  const other = "https://evil.example";
  const hostile: ReadonlyArray<readonly [what: string, check: string, changes: Changes]> = [
    ["another issuer", "iss", { access: { iss: other } }],
    ["another issuer in the ID token only", "iss", { id: { iss: other } }],
    ["another issuer beside the token", "iss", { context: { issuer: other } }],
    [
      "a client that is not in the policy",
      "client",
      { access: { client_id: client }, context: { clientId: client } },
    ],
    ["a client beside the token that is not its own", "client_id", { context: { clientId: client } }],
    ["no client", "client_id", { access: { client_id: undefined } }],
    ["another audience", "aud", { access: { aud: "payments" } }],
    ["an audience more", "aud", { access: { aud: ["api", "payments"] } }],
    ["no audience", "aud", { access: { aud: [] } }],
    ["an audience that is no text", "aud", { access: { aud: ["api", { a: 1 }] } }],
    ["an ID token for another client", "aud", { id: { aud: client } }],
    ["an ID token for two", "aud", { id: { aud: [CLIENT, client] } }],
    ["an ID token of another party", "azp", { id: { azp: client } }],
    [
      "a scope more",
      "scope",
      { access: { scope: "openid email admin" }, context: { scope: ["openid", "email", "admin"] } },
    ],
    [
      "a scope in the token only",
      "scope",
      { access: { scope: "openid email" }, context: { scope: ["openid"] } },
    ],
    ["a scope with a tab", "scope", { access: { scope: "openid\temail" } }],
    ["a claim more", "claims", { access: { role: "Administrator" } }],
    ["a claim more in the ID token", "claims", { id: { groups: ["root"] } }],
    ["a hash of a token that is not there", "claims", { id: { at_hash: "x" } }],
    ["an attestation of no device", "device_id", { access: { device_attestation: "tpm" } }],
    ["a binding to a key that the token brings", "cnf", { access: { device_id: "d", cnf: { jwk: {} } } }],
    ["a binding that is no hash", "cnf", { access: { device_id: "d", cnf: { "x5t#S256": "*" } } }],
    ["two bindings", "cnf", { access: { device_id: "d", cnf: { "x5t#S256": thumbprint, jkt: "x" } } }],
    ["an unknown attestation", "device_attestation", { access: { device_id: "d", device_attestation: "x" } }],
    ["a device in the ID token", "claims", { id: { device_id: "d" } }],
    ["a longer lifetime", "lifetime", { access: { exp: seconds + 3601 } }],
    ["a longer lifetime of the ID token", "lifetime", { id: { exp: seconds + 86_400 } }],
    ["an end before the start", "lifetime", { access: { exp: seconds - 1 } }],
    ["an endless lifetime", "exp", { access: { exp: 1e300 } }],
    ["an end that is a text", "exp", { access: { exp: "9999999999" } }],
    ["no end", "exp", { access: { exp: undefined } }],
    ["a start in the past", "iat", { access: { iat: seconds - 61, exp: seconds + 60 } }],
    ["a start in the future", "iat", { access: { iat: seconds + 61, exp: seconds + 120 } }],
    ["a sign-in in the future", "iat", { access: { auth_time: seconds + 3600 } }],
    ["a grant that is not allowed", "grant", { context: { grantType: "client_credentials" } }],
    ["a grant that nobody knows", "grant", { context: { grantType: "password" } }],
    ["two subjects", "sub", { id: { sub: "someone-else" }, context: { sub: USER } }],
    ["a subject beside the token that is not its own", "sub", { context: { sub: "someone-else" } }],
    ["a subject that is no text", "sub", { access: { sub: ["a"] } }],
    [
      "the client itself as a user",
      "sub",
      { access: { sub: CLIENT }, id: { sub: CLIENT }, context: { sub: CLIENT } },
    ],
    ["no jti", "jti", { access: { jti: undefined } }],
    ["the alg none", "header", { header: { alg: "none" } }],
    ["a MAC with the public key", "header", { header: { alg: "HS256" } }],
    ["an alg that is not the key's", "header", { header: { alg: "RS256" } }],
    ["a key that is not ours", "header", { header: { kid: "other" } }],
    ["a key in the header", "header", { header: { jwk: {} } }],
    ["an address of keys in the header", "header", { header: { jku: other } }],
    ["a certificate that is not ours", "header", { header: { x5c: ["AAAA"] } }],
    ["a critical extension", "header", { header: { crit: ["exp"] } }],
    ["the type of another token", "header", { header: { typ: "logout+jwt" } }],
    ["an ID token without openid", "tokens", { access: { scope: "email" }, context: { scope: ["email"] } }],
    [
      "two subjects of one name",
      "encoding",
      { accessText: (text) => text.replace('"sub"', '"sub":"root","sub"') },
    ],
    [
      "a subject spelled twice",
      "encoding",
      { accessText: (text) => `${text.slice(0, -1)},"s\\u0075b":"root"}` },
    ],
    ["a payload that is no object", "encoding", { accessText: () => "[]" }],
  ];
  for (const [what, expected, changes] of hostile)
    test(`refuses ${what}`, () => {
      const isRefusal = (error: unknown) => error instanceof Refusal && error.check === expected;
      assert.throws(() => check(sampleRequest(key, now, changes)), isRefusal);
    });

  test("refuses anything but one access token and at most one ID token", () => {
    const request = sampleRequest(key, now);
    const [access, id] = request.tokens;
    assert.ok(access && id);
    for (const tokens of [[id], [access, access], [access, { ...id, use: "refresh_token" }]])
      assert.throws(() => check({ ...request, tokens }), Refusal);
  });

  test("refuses a non-canonical encoding, and a kid that differs from the header's", () => {
    const request = sampleRequest(key, now, { withoutIdToken: true });
    const [access] = request.tokens;
    assert.ok(access);
    const others = [
      `${access.payload}=`,
      access.payload.replace(/.$/, (last) => ` ${last}`),
      `${access.payload}.x`,
      "",
    ];
    for (const payload of others)
      assert.throws(() => check({ ...request, tokens: [{ ...access, payload }] }), Refusal);
    assert.throws(() => check({ ...request, tokens: [{ ...access, kid: "other" }] }), Refusal);
  });

  test("accepts the key's own certificate chain in the header", () => {
    const request = sampleRequest(certified, now, { header: { x5c: ["bGVhZg=="] } });
    assert.equal(check(request, [certified]).tokens.length, 2);
    assert.throws(() => check(sampleRequest(certified, now, { header: { x5c: [] } }), [certified]), Refusal);
  });

  test("a client may demand the identity provider that its users sign in by", () => {
    const id = "0190f0c4-0000-7000-8000-000000000001";
    const demanding = (more: string) =>
      parsePolicy(POLICY.replace("maxLifetime:", `connection: { ids: ["${id}"]${more} }\n    maxLifetime:`));
    type Upstream = NonNullable<RequestBody["context"]["connection"]>;
    const checkWith = (connection: Upstream | undefined, more = "") =>
      checkRequest(sampleRequest(key, now, { context: connection ? { connection } : {} }), {
        ...{ policy: demanding(more), keys: [key], now },
      });
    const upstream = { id, name: "Entra ID", kind: "oidc", issuer: "https://idp.example" };
    checkWith(upstream);
    checkWith({ ...upstream, acr: "gold", amr: ["pwd", "hwk"] }, `, acr: [gold, silver], amr: [hwk]`);
    const refused = (connection: Upstream | undefined, more?: string) =>
      assert.throws(
        () => checkWith(connection, more),
        (error) => error instanceof Refusal && error.check === "connection",
      );
    refused(undefined);
    refused({ ...upstream, id: "0190f0c4-0000-7000-8000-000000000002" });
    refused(upstream, ", acr: [gold]");
    refused({ ...upstream, acr: "bronze" }, ", acr: [gold]");
    refused({ ...upstream, amr: ["pwd"] }, ", amr: [hwk, swk]");
    refused(upstream, ", amr: [hwk]");
  });

  const demand = (line: string) => parsePolicy(POLICY.replace("maxLifetime:", `${line}\n    maxLifetime:`));
  const refusal = (check: string) => (error: unknown) => error instanceof Refusal && error.check === check;
  const checkBy = (line: string, access: object, context: object) =>
    checkRequest(sampleRequest(key, now, { access, context } as never), {
      ...{ policy: line === "" ? parsePolicy(POLICY) : demand(line), keys: [key], now },
    });

  test("a client may demand that its tokens are bound", () => {
    const [jkt, x5t] = [{ jkt: "k".repeat(43) }, { "x5t#S256": "c".repeat(43) }];
    const bound = (kind: string, cnf: object | undefined, binding: object | null = cnf ?? null) =>
      checkBy(`binding: ${kind}`, cnf ? { cnf } : {}, { binding });
    bound("dpop", jkt);
    bound("mtls", x5t);
    for (const cnf of [jkt, x5t]) bound("any", cnf);
    for (const [kind, cnf] of [
      ["dpop", x5t],
      ["mtls", jkt],
      ["any", undefined],
    ] as const)
      assert.throws(() => bound(kind, cnf), refusal("binding"), kind);
    assert.throws(() => bound("dpop", jkt, { jkt: "x".repeat(43) }), refusal("binding"), "they differ");
    assert.throws(() => bound("dpop", jkt, null), refusal("binding"));
    assert.throws(() => demand("binding: tls"));
  });

  test("authorization details are of types that the policy names, and those of the request", () => {
    const details = [{ type: "payment", amount: "1" }];
    const line = "authorizationDetails: [payment]";
    const asked = (told: unknown, authorizationDetails: unknown = told, by = line) =>
      checkBy(by, { authorization_details: told }, { authorizationDetails });
    asked(details);
    checkBy(line, {}, { authorizationDetails: [] });
    for (const wrong of [[{ type: "loan" }], [{}], [null], {}, [...details, { type: "loan" }]])
      assert.throws(() => asked(wrong), refusal("authorization_details"), JSON.stringify(wrong));
    assert.throws(() => asked(details, [{ type: "payment", amount: "2" }]), refusal("authorization_details"));
    assert.throws(() => asked(details, details, ""), refusal("authorization_details"), "none are named");
  });

  test("resources and actors are those that the policy names", () => {
    const resources = (asked: readonly string[] | undefined) =>
      checkBy('resources: ["https://pay.example"]', {}, asked ? { resources: asked } : {});
    resources(["https://pay.example"]);
    for (const asked of [undefined, [], ["https://other.example"], ["https://pay.example", "urn:x"]])
      assert.throws(() => resources(asked), refusal("resources"), String(asked));
    const actor = (act: object | undefined, line = "actors: [robot]", told: unknown = act ?? null) =>
      checkBy(line, act ? { act } : {}, { actor: told });
    actor({ iss: "https://id.example", sub: "robot" });
    actor(undefined);
    for (const act of [
      { sub: "other" },
      { iss: "x" },
      { sub: "robot", act: { sub: "other" } },
      { sub: "robot", act: 1 },
    ])
      assert.throws(() => actor(act), refusal("actor"), JSON.stringify(act));
    assert.throws(() => actor({ sub: "robot" }, ""), refusal("actor"), "none is named");
    assert.throws(() => actor({ sub: "robot" }, "actors: [robot]", null), refusal("actor"));
  });

  test("with client_credentials the client is the subject and gets no ID token", () => {
    const own = parsePolicy(POLICY.replace("[authorization_code, refresh_token]", "[client_credentials]"));
    const changes = {
      access: { sub: CLIENT },
      id: { sub: CLIENT },
      context: { sub: CLIENT, grantType: "client_credentials" },
    };
    const run = (more: Changes) =>
      checkRequest(sampleRequest(key, now, { ...changes, ...more }), { policy: own, keys: [key], now });
    assert.equal(run({ withoutIdToken: true }).sub, CLIENT);
    assert.throws(() => run({}), Refusal);
    const user = { access: {}, context: { grantType: "client_credentials" } };
    assert.throws(() => run({ withoutIdToken: true, ...user }), Refusal);
  });

  test("of the audiences that the policy does not list, only its issuer is allowed", () => {
    assert.ok(check(sampleRequest(key, now, { access: { aud: ISSUER } })));
  });

  test("rerendered tokens may differ only in iat, exp and jti", () => {
    const jti = "one";
    const first = check(sampleRequest(key, now, { access: { jti } }));
    const again = (changes: Changes) => check(sampleRequest(key, now + 30_000, changes));
    assert.doesNotThrow(() =>
      requireOnlyRenewed(
        first,
        again({ access: { auth_time: seconds - 5 }, id: { auth_time: seconds - 5 } }),
      ),
    );
    const same = { auth_time: seconds - 5 };
    const changed: Changes[] = [
      { access: { ...same, aud: "api" }, id: same },
      { access: { ...same, scope: "openid" }, id: same, context: { scope: ["openid"] } },
      { access: same, id: { ...same, email: "other@example" } },
      { access: same, withoutIdToken: true },
    ];
    for (const changes of changed) assert.throws(() => requireOnlyRenewed(first, again(changes)), Refusal);
  });
});
