/** Whatever arrives at the endpoints that applications talk to: a documented refusal or success, never an error of ours. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { forEachDatabase } from "../../../testing/databases.ts";
import { codeSource } from "../../../testing/fakes/code-source.ts";
import { credentials } from "../../../testing/fixtures/client.ts";
import { postText, sendRaw } from "../../../testing/probes/answers.ts";
import { anyCharacter } from "../../../testing/probes/any-character.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const CODES = new Set([
  "invalid_request",
  "invalid_client",
  "invalid_grant",
  "invalid_scope",
  "invalid_target",
  "unauthorized_client",
  "unsupported_grant_type",
]);
const STATUSES = new Set([200, 400, 401, 413, 415]);

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let values: string[];
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    const source = codeSource(org);
    const { accessToken, idToken, refreshToken } = await source.tokens();
    const { code, verifier } = await source.code();
    const { client_id, client_secret } = credentials(org.web);
    const batch = credentials(org.batch);
    values = [accessToken, idToken, refreshToken, code, verifier, client_id, client_secret];
    values.push(batch.client_id, batch.client_secret, org.native.id, org.organisation.id, org.user.id);
    values.push("authorization_code", "refresh_token", "client_credentials", "openid profile", "jobs:run");
    values.push("https://app.example/callback", "", " ", "null", "0", "-1", "true", "[object Object]");
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, [], "no request led to an unexpected error");
  });

  const NAMES = [
    "grant_type",
    "client_id",
    "client_secret",
    "code",
    "code_verifier",
    "redirect_uri",
    "refresh_token",
    "scope",
    "resource",
    "token",
    "token_type_hint",
    "access_token",
    "client_assertion",
    "__proto__",
    "constructor",
  ];
  /** Something real, something real with a fault in it, or anything at all. */
  const value = () => {
    const real = fc.constantFrom(...values);
    const faulty = fc
      .tuple(real, fc.nat(400), fc.string({ unit: anyCharacter, maxLength: 3 }))
      .map(([text, at, put]) => text.slice(0, at) + put + text.slice(at + put.length));
    return fc.oneof(
      { weight: 5, arbitrary: real },
      { weight: 3, arbitrary: faulty },
      { weight: 2, arbitrary: fc.string({ unit: anyCharacter, maxLength: 60 }) },
    );
  };
  const parameter = () => {
    const name = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...NAMES) }, fc.string({ maxLength: 20 }));
    return fc.tuple(name, value());
  };
  const encode = (text: string) => {
    try {
      return encodeURIComponent(text);
    } catch {
      return "%ED%A0%80";
    }
  };
  const form = () =>
    fc
      .array(parameter(), { maxLength: 8 })
      .map((pairs) => pairs.map((pair) => pair.map(encode).join("=")).join("&"));
  const authorization = () =>
    fc.oneof(
      { weight: 6, arbitrary: fc.constant(undefined) },
      fc
        .tuple(value(), value())
        .map(([id, secret]) => `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`),
      value().map((token) => `Bearer ${token.replace(/[^\x20-\x7e]/g, "")}`),
      fc.string({ maxLength: 40 }).map((text) => text.replace(/[^\x20-\x7e]/g, "")),
    );

  const check = (answer: Awaited<ReturnType<typeof sendRaw>>, sent: string) => {
    const told = `${sent} -> ${answer.status} ${answer.text.slice(0, 200)}`;
    assert.ok(STATUSES.has(answer.status), told);
    assert.equal(answer.headers.get("cache-control"), "no-store", told);
    if (answer.status === 200) return;
    assert.match(answer.headers.get("content-type") ?? "", /^application\/json/, told);
    assert.ok(CODES.has(String(answer.body["error"])), told);
    assert.match(String(answer.body["error_description"]), /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/, told);
    assert.equal(answer.status === 401, answer.body["error"] === "invalid_client", told);
    assert.equal(answer.status === 401, answer.headers.has("www-authenticate"), told);
  };

  test("forms of real, faulty and arbitrary parameters", async () => {
    const property = fc.asyncProperty(
      fc.constantFrom("token", "token", "token", "revoke", "introspect"),
      form(),
      authorization(),
      async (endpoint, body, header) => {
        const headers: Record<string, string> = header === undefined ? {} : { authorization: header };
        check(await postText(`${org.issuer}/${endpoint}`, body, headers), `${endpoint} ${body} ${header}`);
      },
    );
    await fc.assert(property, { numRuns: 300 });
  });

  test("bodies of arbitrary bytes under arbitrary content types", async () => {
    const types = [
      "application/x-www-form-urlencoded",
      "application/json",
      "multipart/form-data; boundary=a",
      "application/x-www-form-urlencoded; charset=utf-16",
      "text/plain",
    ];
    const property = fc.asyncProperty(
      fc.constantFrom("token", "revoke", "introspect"),
      fc.uint8Array({ maxLength: 300 }),
      fc.oneof(
        fc.constantFrom(...types),
        fc.string({ maxLength: 20 }).map((text) => text.replace(/[^\x21-\x7e]/g, "x")),
      ),
      async (endpoint, bytes, type) => {
        const init = { method: "POST", body: Buffer.from(bytes), headers: { "content-type": type } };
        check(
          await sendRaw(`${org.issuer}/${endpoint}`, init),
          `${endpoint} ${type} ${Buffer.from(bytes).toString("hex")}`,
        );
      },
    );
    await fc.assert(property, { numRuns: 150 });
  });

  test("userinfo, with whatever for a token", async () => {
    const property = fc.asyncProperty(
      authorization(),
      form(),
      fc.boolean(),
      async (header, body, inQuery) => {
        const url = `${org.issuer}/userinfo`;
        const headers: Record<string, string> = header === undefined ? {} : { authorization: header };
        const answer = inQuery
          ? await sendRaw(`${url}?${body}`, { headers })
          : await postText(url, body, headers);
        assert.ok([200, 400, 401, 403].includes(answer.status), `${header} ${body} -> ${answer.status}`);
        if (answer.status !== 200)
          assert.match(String(answer.body["error"]), /^(invalid_request|invalid_token|insufficient_scope)$/);
      },
    );
    await fc.assert(property, { numRuns: 150 });
  });

  test("addresses of any shape", async () => {
    const segment = fc.oneof(
      fc.constantFrom(
        org?.organisation.id ?? "x",
        "..",
        ".",
        "%2e%2e",
        "%00",
        "%zz",
        "%",
        "token",
        "oauth",
        "",
      ),
      fc.string({ maxLength: 12 }).map(encode),
    );
    const property = fc.asyncProperty(fc.array(segment, { maxLength: 4 }), async (segments) => {
      const { statusCode } = await running.app.inject({
        method: "POST",
        url: `/oauth/${segments.join("/")}/token`,
        headers: { "content-type": "application/x-www-form-urlencoded" },
        payload: "grant_type=client_credentials",
      });
      assert.ok(statusCode >= 400 && statusCode < 500, `${segments.join("/")} -> ${statusCode}`);
    });
    await fc.assert(property, { numRuns: 150 });
  });
});
