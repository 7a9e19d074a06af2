/** FAPI 2.0 Message Signing and the messages beside tokens, with the real service, and an agent whose policy allows them or not. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { authorizationRequest, authorize, testBrowser } from "@signet/server/testing/fakes/browser";
import { makePool } from "@signet/server/testing/fixtures/agent";
import { postForm } from "@signet/server/testing/fixtures/client";
import { type DpopKey, dpopKey } from "@signet/server/testing/fixtures/dpop";
import { type RequestKey, requestKey, signClaims } from "@signet/server/testing/fixtures/request-object";
import { makeSystemAccount } from "@signet/server/testing/fixtures/system-account";
import { payloadOf, postText, sendRaw } from "@signet/server/testing/probes/answers";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "@signet/server/testing/test-service";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { type OpenAgent, openAgent } from "./agent/open-agent.ts";
import { runAgentCommandLine } from "./commands/agent-command-line.ts";
import { readConfiguration } from "./configuration/configuration.ts";
import { verifyJournal } from "./journal/verify-journal.ts";

const MESSAGES = "messages: [authorization_response, introspection_response, userinfo_response]";

describe("messages, with the real service", () => {
  let folder: string;
  let running: TestService;
  let org: TestOrganisation;
  let bank: TestClient;
  let poolIssuer: string;
  let agent: OpenAgent;
  let key: RequestKey;
  let dpop: DpopKey;
  let accessToken: string;
  const browser = testBrowser();
  const inFolder = (name: string) => path.join(folder, name);

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-agent-"));
    running = await startTestService({ databaseUrl: `sqlite:${inFolder("service.db")}` });
    org = await makeOrganisation(running.service);
    [key, dpop] = [await requestKey(), await dpopKey()];
    const pool = await makePool(running.service, org, { tokenWaitSeconds: 20 });
    poolIssuer = `${org.issuer}/sovereign/pools/${pool.id}`;
    bank = await makeClient(running.service, org.organisation, {
      ...{ redirectUris: [REDIRECT_URI], requireConsent: false, signingPoolId: pool.id },
      ...{ securityProfile: "fapi2-message-signing", tokenEndpointAuthMethod: "private_key_jwt" },
      ...{
        jwks: { keys: [{ ...key.jwk }] },
        dpopBoundAccessTokens: true,
        userinfoSignedResponseAlg: "ES256",
      },
      grantTypes: ["authorization_code", "refresh_token"],
    });
    await enroll(pool.id);
    const configuration = await readConfiguration(inFolder("agent.yaml"));
    agent = await openAgent(configuration, { log: () => {}, clock: Date.now });
  });
  after(async () => {
    await agent.stop();
    await running.close();
    await rm(folder, { recursive: true });
  });

  async function enroll(poolId: string): Promise<void> {
    const account = await makeSystemAccount(running.service, org, { administrator: true });
    await writeFile(inFolder("secret"), `${account.secret}\n`, { mode: 0o600 });
    const named = {
      service: running.baseUrl,
      organisation: org.organisation.id,
      pool: poolId,
      name: "agent",
    };
    const by = { dir: folder, account: account.publicKey, "account-secret-file": inFolder("secret") };
    const words = Object.entries({ ...named, ...by }).flatMap(([name, value]) => [`--${name}`, value]);
    const printed: string[] = [];
    const print = (line: string) => printed.push(line);
    const io = { print, printError: print, clock: Date.now, terminal: undefined, onSignal: () => {} };
    assert.equal(await runAgentCommandLine(["enroll", ...words], io), 0, printed.join("\n"));
    const client = `{ aud: [], scopes: [openid, email], claims: [email, email_verified], maxLifetime: 3600, binding: dpop,
      grants: [authorization_code, refresh_token], ${MESSAGES} }`;
    const policy = await readFile(inFolder("policy.yaml"), "utf8");
    const allowed = policy.replace("clients: {}", `clients: { "${bank.application.id}": ${client} }`);
    await writeFile(inFolder("policy.yaml"), allowed);
    const agentFile = await readFile(inFolder("agent.yaml"), "utf8");
    await writeFile(inFolder("agent.yaml"), agentFile.replace("port: 9464", "port: 0"));
  }

  const now = () => Math.floor(Date.now() / 1000);
  const authenticated = async (form: Record<string, string>) => {
    const { id } = bank.application;
    const times = { iat: now(), exp: now() + 60, jti: crypto.randomUUID() };
    return {
      ...{ ...form, client_id: id },
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: await signClaims(key, { iss: id, sub: id, aud: poolIssuer, ...times }),
    };
  };
  /** Pushed and signed, bound to the key that will redeem the code. */
  const push = async (more: Record<string, string> = {}) => {
    const { id } = bank.application;
    const { parameters, verifier } = authorizationRequest(id, REDIRECT_URI, {
      scope: "openid email",
      ...more,
    });
    const own = { iss: id, aud: poolIssuer, nbf: now(), exp: now() + 300, dpop_jkt: dpop.jkt };
    const request = await signClaims(key, { ...parameters, ...own });
    const { status, body } = await postForm(`${org.issuer}/par`, await authenticated({ request }));
    assert.equal(status, 201, JSON.stringify(body));
    const query = new URLSearchParams({ client_id: id, request_uri: String(body["request_uri"]) });
    return { query: String(query), verifier };
  };
  const verified = async (text: string | null) => {
    const keys = createRemoteJWKSet(new URL(`${poolIssuer}/jwks.json`));
    const expected = { issuer: poolIssuer, audience: bank.application.id };
    return (await jwtVerify(text ?? "", keys, expected)).payload;
  };
  const introspect = async () =>
    postText(
      `${org.issuer}/introspect`,
      String(new URLSearchParams(await authenticated({ token: accessToken }))),
      { accept: "application/token-introspection+jwt" },
    );
  const userinfo = async () => {
    const url = `${org.issuer}/userinfo`;
    const proof = await dpop.proof({ url, method: "GET", token: accessToken });
    return sendRaw(url, { headers: { authorization: `DPoP ${accessToken}`, dpop: proof } });
  };

  test("a signed request, a signed response, bound tokens, signed answers", async () => {
    const { query, verifier } = await push();
    const answer = await authorize(browser, { issuer: org.issuer, query, ...org.user });
    assert.deepEqual([...answer.keys()], ["response"]);
    const code = String((await verified(answer.get("response")))["code"]);
    const proof = await dpop.proof({ url: `${org.issuer}/token` });
    const form = { grant_type: "authorization_code", code, code_verifier: verifier };
    const redeeming = await authenticated({ ...form, redirect_uri: REDIRECT_URI });
    const { status, body } = await postForm(`${org.issuer}/token`, redeeming, { dpop: proof });
    assert.equal(status, 200, JSON.stringify(body));
    accessToken = String(body["access_token"]);
    assert.deepEqual(payloadOf(accessToken)["cnf"], { jkt: dpop.jkt });
    const described = await verified((await introspect()).text);
    assert.equal((described["token_introspection"] as Record<string, unknown>)["active"], true);
    const told = await userinfo();
    assert.equal(told.status, 200, told.text);
    assert.equal((await verified(told.text))["email"], org.user.email);
  });

  test("an error alone is signed too", async () => {
    const { query } = await push({ prompt: "none" });
    const { location = "" } = await testBrowser().get(`${org.issuer}/authorize?${query}`);
    const payload = await verified(new URL(location).searchParams.get("response"));
    assert.equal(payload["error"], "login_required");
  });

  test("without a policy for them messages are refused, and nothing goes out unsigned", async () => {
    const policy = await readFile(inFolder("policy.yaml"), "utf8");
    await writeFile(inFolder("policy.yaml"), policy.replace(MESSAGES, "messages: []"));
    await agent.reload();
    for (const refused of [await introspect(), await userinfo()])
      assert.deepEqual([refused.status, refused.body["error"]], [400, "access_denied"]);
    const { query } = await push({ prompt: "none" });
    const page = await testBrowser().get(`${org.issuer}/authorize?${query}`);
    assert.deepEqual([page.status, page.location], [400, undefined]);
    assert.match(page.body, /access_denied/);
  });

  test("metrics and the journal name each message", async () => {
    const text = await (await fetch(`http://127.0.0.1:${agent.metricsPort}/metrics`)).text();
    for (const [use, count] of [
      ["authorization_response", 2],
      ["introspection_response", 1],
      ["userinfo_response", 1],
    ])
      assert.ok(text.includes(`signet_agent_tokens_signed_total{use="${use}",alg="ES256"} ${count}`), text);
    assert.match(text, /signet_agent_refusals_total\{reason="policy_denied",check="message"\} 3/);
    await agent.stop();
    const signed: string[] = [];
    const { fault } = await verifyJournal([inFolder("journal.jsonl")], (entry) => {
      if (entry.event === "signed") signed.push(entry.use);
    });
    assert.equal(fault, undefined);
    assert.deepEqual(signed.toSorted(), [
      ...["access_token", "authorization_response", "authorization_response", "id_token"],
      ...["introspection_response", "userinfo_response"],
    ]);
  });
});
