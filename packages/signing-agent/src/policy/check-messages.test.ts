/** A malicious service that asks for messages: responses for others, tokens in disguise, assertions for any server. */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { quoted, Refusal } from "../agent/refusal.ts";
import { type AgentKey, agentKey } from "../keys/key-source.ts";
import { generatePrivateKey, memoryKey } from "../keys/pem-key.ts";
import type { RequestContext, TokenToSign } from "../service/signing-service.ts";
import { CLIENT, ISSUER, POLICY, sampleRequest, USER } from "../testing/sample-request.ts";
import { messageTypes } from "./check-messages.ts";
import { checkRequest, requireOnlyRenewed } from "./check-tokens.ts";
import type { MessageUse } from "./decode-token.ts";
import { parsePolicy } from "./policy.ts";
import { readMessageSample, tryMessage } from "./sample-token.ts";

const now = 1_800_000_000_000;
const iat = now / 1000;
const OTHER = "55555555-5555-4555-8555-555555555555";
const PARTNER = "https://auth.partner.example";
const URN = "urn:ietf:params:oauth:grant-type:token-exchange";

const messages = "messages: [authorization_response, id_jag, introspection_response, userinfo_response]";
const idJag = `idJag: { aud: ["${PARTNER}"], scopes: [read], clientIds: [there], resources: ["https://api.partner.example"] }`;
const policyText = POLICY.replace("maxLifetime:", `${messages}\n    ${idJag}\n    maxLifetime:`);
const policy = parsePolicy(policyText);

type Members = Readonly<Record<string, unknown>>;

/** As an honest service asks for them. */
const honest: Readonly<Record<MessageUse, Members>> = {
  authorization_response: {
    error: "login_required",
    error_description: "sign in",
    state: "s",
    exp: iat + 600,
  },
  id_jag: {
    ...{ sub: USER, aud: PARTNER, client_id: CLIENT, jti: "j", exp: iat + 300, scope: "read" },
    ...{ resource: "https://api.partner.example", auth_time: iat - 5, acr: "1", amr: ["pwd"] },
  },
  introspection_response: {
    token_introspection: { active: true, sub: USER, client_id: OTHER, exp: iat + 60, token_type: "Bearer" },
  },
  userinfo_response: { sub: USER, email: "uma@example" },
};
const contexts: Readonly<Record<MessageUse, Partial<RequestContext>>> = {
  authorization_response: { grantType: "authorization_code", sub: CLIENT },
  id_jag: { grantType: URN, scope: ["read"] },
  introspection_response: { grantType: "introspection", sub: CLIENT },
  userinfo_response: { grantType: "userinfo" },
};

interface Changes {
  readonly claims?: Members;
  readonly header?: Members;
  readonly context?: Partial<RequestContext>;
}

describe("the checks of messages", () => {
  let key: AgentKey;
  before(async () => {
    key = agentKey(memoryKey(await generatePrivateKey("ES256"), "ES256"), "test");
  });

  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  /** Undefined members are left out. */
  const message = (use: MessageUse, { claims = {}, header = {} }: Changes = {}): TokenToSign => {
    const whole = { alg: key.alg, kid: key.kid, typ: messageTypes[use], ...header };
    const payload = { iss: ISSUER, aud: CLIENT, iat, ...honest[use], ...claims };
    return { use, kid: key.kid, alg: key.alg, protected: encode(whole), payload: encode(payload) };
  };
  const contextOf = (use: MessageUse, changes: Changes = {}): RequestContext => ({
    ...{ issuer: ISSUER, clientId: CLIENT, grantType: "", scope: [], sub: USER },
    ...contexts[use],
    ...changes.context,
  });
  const check = (use: MessageUse, changes: Changes = {}, by = policy) =>
    checkRequest(
      { context: contextOf(use, changes), tokens: [message(use, changes)] },
      { policy: by, keys: [key], now },
    );
  const isRefusal = (check: string) => (error: unknown) => error instanceof Refusal && error.check === check;

  test("what the policy allows passes, and nobody is asked for an answer", () => {
    const asking = parsePolicy(
      policyText.replace("grants:", "challenge: { type: pin, when: always }\n    grants:"),
    );
    for (const use of Object.keys(honest) as MessageUse[]) {
      const { clientId, tokens, challenge } = check(use, {}, asking);
      assert.deepEqual([clientId, tokens.map((one) => one.use)], [CLIENT, [use]]);
      // An assertion gives access elsewhere.
      assert.equal(challenge?.type, use === "id_jag" ? "pin" : undefined, use);
    }
    assert.equal(check("userinfo_response").sub, USER, "counted for the user");
    assert.equal(check("introspection_response").sub, CLIENT, "counted for the client alone");
    check("authorization_response", { claims: { state: undefined, error_description: undefined } });
    check("introspection_response", { claims: { token_introspection: { active: false } } });
    check("id_jag", { claims: { client_id: "there", resource: undefined } });
  });

  test("nothing is signed that the policy does not name, for any client", () => {
    for (const use of Object.keys(honest) as MessageUse[]) {
      assert.throws(() => check(use, {}, parsePolicy(POLICY)), isRefusal("message"), use);
      const others = messages.replace(use, "").replace(/\[,|, ,|, \]/, (two) => two.replace(",", ""));
      const without = parsePolicy(policyText.replace(messages, others));
      assert.throws(() => check(use, {}, without), isRefusal("message"), use);
    }
    const bare = parsePolicy(policyText.replace(idJag, ""));
    assert.throws(() => check("id_jag", {}, bare), isRefusal("aud"));
  });

  const all = Object.keys(honest) as MessageUse[];
  const each = (what: string, refused: string, changes: Changes) =>
    all.map((use) => [use, what, refused, changes] as const);
  const other = { clientId: OTHER };
  const hostile: ReadonlyArray<readonly [MessageUse, string, string, Changes]> = [
    ...each("of another issuer", "iss", { claims: { iss: "https://evil.example" } }),
    ...each("of another issuer in the context", "iss", { context: { issuer: "https://evil.example" } }),
    ...each("with two recipients", "aud", { claims: { aud: [CLIENT, OTHER] } }),
    ...each("with a list of one", "aud", { claims: { aud: [CLIENT] } }),
    ...each("with no recipient", "aud", { claims: { aud: undefined } }),
    ...each("with the type of an access token", "header", { header: { typ: "at+jwt" } }),
    ...each("with the type of a logout token", "header", { header: { typ: "logout+jwt" } }),
    ...each("with a key in the header", "header", { header: { jwk: {} } }),
    ...each("with the alg none", "header", { header: { alg: "none" } }),
    ...each("with a nonce, as an ID token has", "claims", { claims: { nonce: "n" } }),
    ...each("with a binding, as an access token has", "claims", { claims: { cnf: {} } }),
    ...each("with events, as a security event token has", "claims", { claims: { events: {} } }),
    ...each("of the past", "iat", { claims: { iat: iat - 61 } }),
    ...each("without its time", "iat", { claims: { iat: undefined } }),
    ["authorization_response", "for another client", "aud", { claims: { aud: OTHER } }],
    [
      "authorization_response",
      "for a client of no policy",
      "client",
      { claims: { aud: OTHER }, context: other },
    ],
    ["authorization_response", "that is an ID token", "claims", { claims: { sub: USER } }],
    ["authorization_response", "with a code and no tokens", "claims", { claims: { code: "c" } }],
    ["authorization_response", "with neither code nor error", "error", { claims: { error: undefined } }],
    ["authorization_response", "with an error of words", "error", { claims: { error: "<b>Pay</b>" } }],
    ["authorization_response", "with a nested state", "state", { claims: { state: { sub: USER } } }],
    ["authorization_response", "with a boundless state", "state", { claims: { state: "s".repeat(4_097) } }],
    ["authorization_response", "that lives too long", "lifetime", { claims: { exp: iat + 601 } }],
    ["authorization_response", "without an end", "exp", { claims: { exp: undefined } }],
    ["authorization_response", "of another grant", "grant", { context: { grantType: "refresh_token" } }],
    ["id_jag", "for a server of no policy", "aud", { claims: { aud: "https://evil.example" } }],
    ["id_jag", "for ourselves", "aud", { claims: { aud: ISSUER } }],
    ["id_jag", "for a client of no policy", "client", { context: other }],
    ["id_jag", "with the type of an ID token", "header", { header: { typ: "JWT" } }],
    ["id_jag", "as another client", "client_id", { claims: { client_id: OTHER } }],
    ["id_jag", "of another user than is said", "sub", { claims: { sub: "someone-else" } }],
    ["id_jag", "of the client itself", "sub", { claims: { sub: CLIENT }, context: { sub: CLIENT } }],
    ["id_jag", "of nobody", "sub", { claims: { sub: undefined } }],
    ["id_jag", "without an id", "jti", { claims: { jti: undefined } }],
    ["id_jag", "with a scope more", "scope", { claims: { scope: "read write" } }],
    ["id_jag", "with another scope than is said", "scope", { context: { scope: ["write"] } }],
    ["id_jag", "without a scope", "scope", { claims: { scope: undefined } }],
    ["id_jag", "for another resource", "resources", { claims: { resource: "https://bank.example" } }],
    ["id_jag", "for resources of any kind", "resources", { claims: { resource: [{ a: 1 }] } }],
    ["id_jag", "that lives too long", "lifetime", { claims: { exp: iat + 301 } }],
    ["id_jag", "without an end", "exp", { claims: { exp: undefined } }],
    ["id_jag", "with a sign-in in the future", "iat", { claims: { auth_time: iat + 3_600 } }],
    ["id_jag", "with an actor", "claims", { claims: { act: { sub: OTHER } } }],
    ["introspection_response", "for another client", "aud", { claims: { aud: OTHER } }],
    [
      "introspection_response",
      "that is an access token",
      "claims",
      { claims: { client_id: CLIENT, scope: "email" } },
    ],
    ["introspection_response", "with a subject", "claims", { claims: { sub: USER } }],
    ["introspection_response", "with an end", "claims", { claims: { exp: iat + 60 } }],
    ["introspection_response", "with an id", "claims", { claims: { jti: "j" } }],
    [
      "introspection_response",
      "of nothing",
      "token_introspection",
      { claims: { token_introspection: undefined } },
    ],
    [
      "introspection_response",
      "of a text",
      "token_introspection",
      { claims: { token_introspection: "active" } },
    ],
    ["introspection_response", "of a list", "token_introspection", { claims: { token_introspection: [] } }],
    [
      "introspection_response",
      "that says neither yes nor no",
      "token_introspection",
      { claims: { token_introspection: { active: "true" } } },
    ],
    [
      "introspection_response",
      "of a token that is over, with what it was",
      "token_introspection",
      { claims: { token_introspection: { active: false, sub: USER } } },
    ],
    [
      "introspection_response",
      "with another one inside",
      "claims",
      { claims: { token_introspection: { active: true, token_introspection: { active: true } } } },
    ],
    [
      "introspection_response",
      "with a claim that the policy has not",
      "claims",
      { claims: { token_introspection: { active: true, role: "Administrator" } } },
    ],
    ["userinfo_response", "for another client", "aud", { claims: { aud: OTHER } }],
    ["userinfo_response", "that is an ID token", "claims", { claims: { exp: iat + 60 } }],
    ["userinfo_response", "that is an access token", "claims", { claims: { client_id: CLIENT, jti: "j" } }],
    ["userinfo_response", "of another user than is said", "sub", { claims: { sub: "someone-else" } }],
    ["userinfo_response", "of nobody", "sub", { claims: { sub: undefined } }],
    [
      "userinfo_response",
      "of the client itself",
      "sub",
      { claims: { sub: CLIENT }, context: { sub: CLIENT } },
    ],
    [
      "userinfo_response",
      "with a claim that the policy has not",
      "claims",
      { claims: { role: "Administrator" } },
    ],
  ];
  for (const [use, what, refused, changes] of hostile)
    test(`refuses: ${use} ${what}`, () => {
      assert.throws(() => check(use, changes), isRefusal(refused));
    });

  test("a claim that a token is known by is in no userinfo, even where the policy names it", () => {
    const claims = "claims: [email, exp, nonce, client_id]";
    const careless = parsePolicy(policyText.replace("claims: [email]", claims));
    for (const name of ["exp", "nonce", "client_id"])
      assert.throws(
        () => check("userinfo_response", { claims: { [name]: iat + 60 } }, careless),
        isRefusal("claims"),
      );
  });

  const withTokens = (changes: Changes = {}) => {
    const request = sampleRequest(key, now);
    const response = message("authorization_response", {
      ...changes,
      claims: { error: undefined, error_description: undefined, code: "c", ...changes.claims },
    });
    return { ...request, tokens: [...request.tokens, response] };
  };
  const checkAll = (request: Pick<ReturnType<typeof withTokens>, "context" | "tokens">) =>
    checkRequest(request, { policy, keys: [key], now });

  test("a response with its code is signed with the tokens of the same client", () => {
    const uses = checkAll(withTokens()).tokens.map(({ use }) => use);
    assert.deepEqual(uses, ["access_token", "id_token", "authorization_response"]);
    assert.throws(() => checkAll(withTokens({ claims: { aud: OTHER } })), isRefusal("aud"));
    assert.throws(() => checkAll(withTokens({ claims: { code: undefined } })), isRefusal("code"));
    assert.throws(() => checkAll(withTokens({ claims: { error: "access_denied" } })), isRefusal("claims"));
    assert.throws(() => checkAll(withTokens({ claims: { exp: iat + 601 } })), isRefusal("lifetime"));
  });

  test("refuses tokens with a message of another kind, two messages, and messages of unknown kinds", () => {
    const { context, tokens } = sampleRequest(key, now);
    for (const use of all.filter((one) => one !== "authorization_response"))
      assert.throws(() => checkAll({ context, tokens: [...tokens, message(use)] }), Refusal, use);
    const [access, id] = tokens;
    assert.ok(access && id);
    const response = message("authorization_response");
    const many = [
      [response, response],
      [response, message("userinfo_response")],
      [id, response],
      [{ ...response, use: "logout_token" }],
      [],
    ];
    for (const wrong of many)
      assert.throws(
        () => checkAll({ context: contextOf("authorization_response"), tokens: wrong }),
        isRefusal("tokens"),
        quoted(wrong.map(({ use }) => use).join()),
      );
  });

  test("a message that was rendered anew states the same", () => {
    const before = check("introspection_response");
    requireOnlyRenewed(before, check("introspection_response", { claims: { iat: iat + 30 } }));
    const claims = { token_introspection: { active: true, sub: "someone-else" } };
    assert.throws(
      () => requireOnlyRenewed(before, check("introspection_response", { claims })),
      isRefusal("stale_payload"),
    );
  });

  test("a message is tried as a sample, and what is said of it is that of a real request", async () => {
    const sample = { iss: ISSUER, aud: CLIENT, iat, ...honest.userinfo_response };
    const { checked } = await tryMessage(
      policy,
      "userinfo_response",
      readMessageSample(JSON.stringify(sample)),
    );
    assert.equal(checked.clientId, CLIENT);
    const jag = { iss: ISSUER, iat, ...honest.id_jag, client_id: "there" };
    assert.equal((await tryMessage(policy, "id_jag", jag, CLIENT)).checked.sub, USER);
    await assert.rejects(tryMessage(policy, "id_jag", jag), isRefusal("client"));
  });
});
