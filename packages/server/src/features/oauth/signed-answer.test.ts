/** Signed introspection (RFC 9701) and userinfo, as a resource server and a client verify them. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { forEachDatabase } from "../../testing/databases.ts";
import { codeSource } from "../../testing/fakes/code-source.ts";
import { credentials } from "../../testing/fixtures/client.ts";
import { postText, sendRaw } from "../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });
  const keys = () => createRemoteJWKSet(new URL(`${org.issuer}/.well-known/jwks.json`));

  test("introspection is a JWT where it is asked for, active or not, and JSON otherwise", async () => {
    const api = await makeClient(running.service, org.organisation, {
      ...{ redirectUris: [REDIRECT_URI], requireConsent: false, introspectionSignedResponseAlg: "PS256" },
    });
    const { accessToken } = await codeSource(org).tokens({ scope: "openid" }, api);
    const ask = (token: string, accept: string) =>
      postText(`${org.issuer}/introspect`, String(new URLSearchParams({ token, ...credentials(api) })), {
        accept,
      });
    const type = "application/token-introspection+jwt";
    for (const [token, active] of [
      [accessToken, true],
      ["nonsense", false],
    ] as const) {
      const { status, headers, text } = await ask(token, `${type}, application/json;q=0.5`);
      assert.deepEqual(
        [status, headers.get("content-type"), headers.get("cache-control")],
        [200, type, "no-store"],
      );
      const { payload, protectedHeader } = await jwtVerify(text, keys(), {
        ...{ issuer: org.issuer, audience: api.application.id, algorithms: ["PS256"] },
      });
      assert.equal(protectedHeader.typ, "token-introspection+jwt");
      assert.deepEqual(Object.keys(payload).sort(), ["aud", "iat", "iss", "token_introspection"]);
      const described = payload["token_introspection"] as Record<string, unknown>;
      assert.equal(described["active"], active);
      assert.deepEqual(described, (await ask(token, "application/json")).body);
    }
    // It is no access token, and no hint.
    const { text } = await ask(accessToken, type);
    assert.equal(
      (await sendRaw(`${org.issuer}/userinfo`, { headers: { authorization: `Bearer ${text}` } })).status,
      401,
    );
    assert.equal((await ask(text, "application/json")).body["active"], false);
  });

  test("userinfo is signed for a client that wants it, for that client alone", async () => {
    const client = await makeClient(running.service, org.organisation, {
      ...{ redirectUris: [REDIRECT_URI], requireConsent: false, userinfoSignedResponseAlg: "EdDSA" },
    });
    const { accessToken } = await codeSource(org).tokens({ scope: "openid email" }, client);
    const answer = await sendRaw(`${org.issuer}/userinfo`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    assert.equal(answer.headers.get("content-type"), "application/jwt");
    const { payload } = await jwtVerify(answer.text, keys(), {
      ...{ issuer: org.issuer, audience: client.application.id, algorithms: ["EdDSA"] },
    });
    assert.deepEqual([payload.sub, payload["email"]], [org.user.id, org.user.email]);
    assert.equal(
      (await sendRaw(`${org.issuer}/userinfo`, { headers: { authorization: `Bearer ${answer.text}` } }))
        .status,
      401,
    );
  });
});
