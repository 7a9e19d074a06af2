import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { authorizationRequest, authorize, testBrowser } from "../../testing/fakes/browser.ts";
import { codeSource } from "../../testing/fakes/code-source.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { makeAgent, makePool, signedWith, type TestAgent } from "../../testing/fixtures/agent.ts";
import { payloadOf, sendRaw } from "../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import type { SigningPool } from "../signing-pools/signing-pool.ts";
import { readIdTokenHint } from "./id-token-hint.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let pool: SigningPool;
  let agent: TestAgent;
  let web: TestClient;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    pool = await makePool(running.service, org);
    agent = await makeAgent(running.service, org, pool);
    web = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      signingPoolId: pool.id,
    });
  });
  after(() => running.close());
  const read = (hint: string) =>
    readIdTokenHint({ ...running.service, baseUrl: running.baseUrl }, org.organisation, hint);
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

  test("accepts an ID token by local keys or agents as hint, never an access token", async () => {
    const source = codeSource(org);
    const own = await source.tokens();
    assert.equal((await read(own.idToken))?.["sub"], org.user.id);
    assert.equal(await read(own.accessToken), undefined);
    const serving = agent.serve();
    const agents = await source.tokens({}, web).finally(() => serving.stop());
    assert.equal((await read(agents.idToken))?.["sub"], org.user.id);
    assert.equal(await read(agents.accessToken), undefined);
    const forged = agents.idToken.replace(/...$/, (end) => (end === "AAA" ? "EAA" : "AAA"));
    assert.equal(await read(forged), undefined);
  });

  test("rejects a signed userinfo response and a signed authorization response", async () => {
    const client = await makeClient(running.service, org.organisation, {
      ...{ redirectUris: [REDIRECT_URI], requireConsent: false, userinfoSignedResponseAlg: "ES256" },
    });
    const { accessToken } = await codeSource(org).tokens({}, client);
    const authorization = `Bearer ${accessToken}`;
    const { text } = await sendRaw(`${org.issuer}/userinfo`, { headers: { authorization } });
    assert.equal(payloadOf(text)["sub"], org.user.id);
    assert.equal(await read(text), undefined);
    const { query } = authorizationRequest(client.application.id, REDIRECT_URI, { response_mode: "jwt" });
    const answer = await authorize(testBrowser(), { issuer: org.issuer, query, ...org.user });
    assert.equal(await read(answer.get("response") ?? ""), undefined);
  });

  test("rejects an agent's hint for another pool's application or issuer", async () => {
    const [key] = agent.keys;
    assert.ok(key);
    const hintOf = (claims: object) =>
      signedWith(key, `${encoded({ alg: key.alg, typ: "JWT", kid: key.kid })}.${encoded(claims)}`);
    const iss = `${org.issuer}/sovereign/pools/${pool.id}`;
    const { id: aud } = web.application;
    const good = { iss, aud, sub: "somebody", exp: 1 };
    assert.deepEqual(await read(hintOf(good)), good);
    assert.equal(await read(hintOf({ ...good, aud: org.web.application.id })), undefined);
    assert.equal(await read(hintOf({ ...good, iss: org.issuer })), undefined);
    // What agents sign beside tokens: a userinfo response, and an authorization response.
    assert.equal(await read(hintOf({ ...good, exp: undefined })), undefined);
    assert.equal(await read(hintOf({ ...good, sub: undefined, code: "c" })), undefined);
    const other = await makeOrganisation(running.service, "Other");
    const there = { ...running.service, baseUrl: running.baseUrl };
    assert.equal(await readIdTokenHint(there, other.organisation, hintOf(good)), undefined);
  });
});
