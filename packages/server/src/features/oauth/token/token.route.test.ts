import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { credentials, postForm } from "../../../testing/fixtures/client.ts";
import { assertOAuthError, postText, sendRaw } from "../../../testing/probes/answers.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let url: string;
  let good: string;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    url = `${org.issuer}/token`;
    good = new URLSearchParams({
      grant_type: "client_credentials",
      ...credentials(org.batch),
    }).toString();
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, [], "no request led to an unexpected error");
  });

  test("responds as RFC 6749 §5.1 defines, uncacheable", async () => {
    const answer = await postText(url, good);
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get("content-type") ?? "", /^application\/json/);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.equal(answer.headers.get("pragma"), "no-cache");
    assert.deepEqual(Object.keys(answer.body).sort(), ["access_token", "expires_in", "scope", "token_type"]);
    assert.equal(answer.body["token_type"], "Bearer");
    assert.equal(answer.body["expires_in"], 3600);
  });

  test("ignores charset, case of the media type, unknown and empty parameters", async () => {
    for (const type of [
      "application/x-www-form-urlencoded;charset=UTF-8",
      "Application/X-WWW-Form-Urlencoded",
    ]) {
      assert.equal((await postText(url, good, { "content-type": type })).status, 200, type);
    }
    for (const more of ["&unknown=1", "&resource=", "&client_secret=", "&=&&", "&scope=", "&constructor=x"]) {
      assert.equal((await postText(url, good + more)).status, 200, more);
    }
  });

  test("responds with invalid_request without grant_type and unsupported_grant_type to an unknown one", async () => {
    for (const body of ["", "grant_type=", "x=1", good.replace("grant_type", "granttype")]) {
      assertOAuthError(await postText(url, body), 400, "invalid_request", body);
    }
    const unknown = [
      "password",
      "implicit",
      "CLIENT_CREDENTIALS",
      "client_credentials ",
      "__proto__",
      "urn:ietf:params:oauth:grant-type:saml2-bearer",
    ];
    for (const grant of unknown) {
      const body = { ...credentials(org.batch), grant_type: grant };
      assertOAuthError(await postForm(url, body), 400, "unsupported_grant_type", grant);
    }
  });

  test("responds with unauthorized_client to a grant that the client does not have", async () => {
    const code = { grant_type: "authorization_code", code: "x", ...credentials(org.batch) };
    assertOAuthError(await postForm(url, code), 400, "unauthorized_client");
    const own = { grant_type: "client_credentials", ...credentials(org.web) };
    assertOAuthError(await postForm(url, own), 400, "unauthorized_client");
  });

  test("authenticates the client before it checks the grant type", async () => {
    const answer = await postForm(url, { grant_type: "password", client_id: org.batch.application.id });
    assertOAuthError(answer, 401, "invalid_client");
  });

  test("responds with invalid_request to any repeated parameter except resource", async () => {
    for (const name of ["grant_type", "client_id", "client_secret", "scope", "code", "anything"]) {
      const body = `${good}&${name}=a&${name}=b`;
      assertOAuthError(await postText(url, body), 400, "invalid_request", name);
    }
    const twice = `${good}&resource=https://a.example/&resource=https://b.example/`;
    assertOAuthError(await postText(url, twice), 400, "invalid_target");
  });

  test("responds with invalid_request to a form that cannot be decoded", async () => {
    const malformed = ["%", "%zz", "%c3%28", "%ff", "a=%00", "%u0041", "x=%ed%a0%80", "x=\0"];
    for (const more of malformed) {
      assertOAuthError(await postText(url, `${good}&${more}`), 400, "invalid_request", more);
    }
    const bytes = new Uint8Array([...Buffer.from(`${good}&x=`), 0xff, 0xfe]);
    const raw = { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" } };
    assertOAuthError(await sendRaw(url, { ...raw, body: bytes }), 400, "invalid_request");
  });

  test("accepts a hundred parameters and no more", async () => {
    const more = (count: number) => Array.from({ length: count }, (_, index) => `&p${index}=1`).join("");
    assert.equal((await postText(url, good + more(97))).status, 200);
    assertOAuthError(await postText(url, good + more(98)), 400, "invalid_request");
  });

  test("responds with 413 to a body over 64 KiB, with or without Content-Length", async () => {
    const big = `${good}&x=${"a".repeat(64 * 1024)}`;
    assertOAuthError(await postText(url, big), 413, "invalid_request");
    const chunks = new ReadableStream({
      start: (controller) => {
        for (let at = 0; at < big.length; at += 16_384)
          controller.enqueue(new TextEncoder().encode(big.slice(at, at + 16_384)));
        controller.close();
      },
    });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const streamed = { method: "POST", headers, body: chunks, duplex: "half" } as RequestInit;
    assertOAuthError(await sendRaw(url, streamed), 413, "invalid_request");
    const fits = `${good}&x=${"a".repeat(64 * 1024 - good.length - 3)}`;
    assert.equal((await postText(url, fits)).status, 200);
  });

  test("responds with 415 to a body that is not a form", async () => {
    const json = JSON.stringify({ grant_type: "client_credentials", ...credentials(org.batch) });
    for (const type of [
      "application/json",
      "text/plain",
      "multipart/form-data; boundary=x",
      "application/x-www-form-urlencoded2",
      "application/json;application/x-www-form-urlencoded",
      "*/*",
      "nonsense",
    ]) {
      assertOAuthError(await postText(url, json, { "content-type": type }), 415, "invalid_request", type);
      assertOAuthError(await postText(url, good, { "content-type": type }), 415, "invalid_request", type);
    }
    const untyped = { method: "POST", body: new TextEncoder().encode(good) };
    assertOAuthError(await sendRaw(url, untyped), 415, "invalid_request");
  });

  test("responds with invalid_request without a body, and never reads the query", async () => {
    assertOAuthError(await sendRaw(url, { method: "POST" }), 400, "invalid_request");
    assertOAuthError(await sendRaw(`${url}?${good}`, { method: "POST" }), 400, "invalid_request");
  });

  test("accepts POST only", async () => {
    for (const method of ["GET", "PUT", "DELETE", "PATCH", "HEAD"]) {
      const answer = await sendRaw(`${url}?${good}`, { method });
      assert.ok([404, 405].includes(answer.status), `${method} ${answer.status}`);
      assert.equal(answer.headers.get("cache-control"), "no-store", method);
      assert.ok(!answer.text.includes("access_token"), method);
    }
  });

  test("responds with 404 to unknown and malformed organisations", async () => {
    const unknown = org.issuer.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    const base = org.issuer.slice(0, org.issuer.lastIndexOf("/"));
    for (const issuer of [unknown, `${base}/nonsense`, `${base}/%00`, `${base}/..`, `${org.issuer}%20`]) {
      const answer = await postText(`${issuer}/token`, good);
      assert.equal(answer.status, 404, issuer);
      assert.equal(answer.headers.get("cache-control"), "no-store");
    }
    assert.equal((await postText(`${org.issuer}/token/`, good)).status, 404);
    assert.equal((await postText(`${base}/%zz/token`, good)).status, 400);
  });

  test("finds organisation and client in upper case, and keeps the issuer in lower case", async () => {
    const upper = `${running.baseUrl}/oauth/${org.organisation.id.toUpperCase()}/token`;
    const client = {
      ...credentials(org.batch),
      client_id: org.batch.application.id.toUpperCase(),
      grant_type: "client_credentials",
    };
    const answer = await postForm(upper, client);
    assert.equal(answer.status, 200);
    const token = String(answer.body["access_token"]);
    const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    assert.equal(claims.iss, org.issuer);
    assert.equal(claims.client_id, org.batch.application.id);
  });

  test("ignores the Host header", async () => {
    const headers = {
      host: "evil.example",
      "x-forwarded-host": "evil.example",
      forwarded: "host=evil.example",
    };
    const answer = await running.app.inject({
      method: "POST",
      url: new URL(url).pathname,
      headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
      payload: good,
    });
    assert.equal(answer.statusCode, 200);
    const [, payload = ""] = String(answer.json().access_token).split(".");
    assert.ok(!Buffer.from(payload, "base64url").toString().includes("evil"));
  });
});
