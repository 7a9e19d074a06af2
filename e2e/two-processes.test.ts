/** Two nodes of one installation: two processes of the program on one PostgreSQL, behind one address. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, describe, test } from "node:test";
import * as oidc from "openid-client";
import type { Browser } from "playwright-core";
import type { DemoFile } from "../packages/server/src/cli/demo/demo-file.ts";
import { postgresServer } from "../packages/server/src/testing/databases.ts";
import { eventually } from "../packages/server/src/testing/eventually.ts";
import {
  authorizationRequest,
  authorize,
  testBrowser,
} from "../packages/server/src/testing/fakes/browser.ts";
import { type Answer, postForm } from "../packages/server/src/testing/fixtures/client.ts";
import { freePort } from "../packages/server/src/testing/free-port.ts";
import { createDatabase, dropDatabase } from "../packages/server/src/testing/postgres.ts";
import { verifyTokens } from "./clients/verified-tokens.ts";
import { allow, signIn } from "./journeys/sign-in-steps.ts";
import { type Balancer, openBalancer } from "./support/balancer.ts";
import { launchBrowser } from "./support/browser.ts";
import { type ServerProcess, startServer } from "./support/server-process.ts";
import { signet } from "./support/signet-command.ts";

const redirectUri = "http://127.0.0.1:8765/callback";
const times = 100;

describe("two nodes on one PostgreSQL", () => {
  let databaseUrl: string;
  let nodes: ServerProcess[];
  let balancer: Balancer;
  let demo: DemoFile;
  let settings: Record<string, string>;

  before(async () => {
    databaseUrl = await createDatabase(await postgresServer());
    const port = await freePort();
    settings = {
      SIGNET_BASE_URL: `http://localhost:${port}`,
      SIGNET_MASTER_KEY: randomBytes(32).toString("base64url"),
    };
    // At once, on an empty database: one of them migrates.
    nodes = await Promise.all([
      startServer({ databaseUrl, settings }),
      startServer({ databaseUrl, settings, isDemo: false }),
    ]);
    demo = await (nodes[0] as ServerProcess).demo();
    balancer = await openBalancer(
      port,
      nodes.map((node) => node.port),
    );
  });
  after(async () => {
    await balancer?.close();
    await Promise.all((nodes ?? []).map((node) => node.stop()));
    await dropDatabase(await postgresServer(), databaseUrl);
  });

  test(`a code redeemed ${times} times at once succeeds once, and its tokens are revoked`, async () => {
    const { code, verifier } = await getCode(demo);
    const before = [...balancer.counts];
    const answers = await atOnce(() => redeem(demo, code, verifier));
    assert.deepEqual(
      balancer.counts.map((count, index) => count - (before[index] ?? 0)),
      [50, 50],
    );
    const [success, ...more] = answers.filter(({ status }) => status === 200);
    assert.equal(more.length, 0);
    const refusals = answers.filter(({ status }) => status !== 200);
    assert.deepEqual(
      new Set(refusals.map(({ status, body }) => `${status} ${body["error"]}`)),
      new Set(["400 invalid_grant"]),
    );
    assert.equal((await refresh(demo, String(success?.body["refresh_token"]))).status, 400);
  });

  test(`a refresh token used ${times} times at once has one successor, and the family stays active`, async () => {
    const { code, verifier } = await getCode(demo);
    const first = String((await redeem(demo, code, verifier)).body["refresh_token"]);
    const answers = await atOnce(() => refresh(demo, first));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    const successors = new Set(answers.map(({ body }) => String(body["refresh_token"])));
    assert.equal(successors.size, 1);
    const [successor = ""] = successors;
    assert.equal((await refresh(demo, successor)).status, 200);
    assert.equal((await refresh(demo, first)).status, 400, "its successor was used");
  });

  test("sign-in, consent, code and refresh alternate between the nodes", async (t) => {
    const browser: Browser = await launchBrowser();
    t.after(() => browser.close());
    const page = await browser.newPage();
    const { config, asked, url } = await authorizationUrl(demo);
    const answered = page.waitForRequest((request) => request.url().startsWith(redirectUri));
    balancer.route(() => 0);
    await page.goto(url);
    balancer.route((path) => (path.endsWith("/login") ? 0 : 1));
    await signIn(page, demo.user);
    await page.locator("#consent-allow").waitFor();
    const before = [...balancer.counts];
    await allow(page);
    const answer = new URL((await answered).url());
    assert.deepEqual(
      balancer.counts.map((count, index) => count - (before[index] ?? 0)),
      [0, 1],
    );

    balancer.route(() => 0);
    const tokens = await oidc.authorizationCodeGrant(config, answer, asked);
    const expected = {
      issuer: demo.issuer,
      jwksUri: String(config.serverMetadata().jwks_uri),
      clientId: demo.webApp.clientId,
    };
    balancer.route(() => 1);
    const { idToken } = await verifyTokens(tokens, { ...expected, nonce: asked.expectedNonce });
    const refreshed = await oidc.refreshTokenGrant(config, String(tokens.refresh_token));
    balancer.route(() => 0);
    await verifyTokens(refreshed, expected);
    assert.equal(
      (await oidc.fetchUserInfo(config, refreshed.access_token, String(idToken.sub))).email,
      demo.user.email,
    );
  });

  test("a record that an operator disables stops on both nodes before their caches expire", async () => {
    const token = (node: ServerProcess) => {
      const { clientId, clientSecret } = demo.otherOrg.serviceApp;
      const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
      return postForm(`${node.baseUrl}/oauth/${demo.otherOrg.org}/token`, form);
    };
    for (const node of nodes) assert.equal((await token(node)).status, 200);
    const named = ["--org", demo.otherOrg.org, demo.otherOrg.serviceApp.clientId];
    await signet(["app", "disable", ...named], {
      ...settings,
      DATABASE_URL: databaseUrl,
      SIGNET_DATA_DIR: nodes[0]?.dataDir,
    });
    for (const node of nodes) {
      await eventually("it is refused", async () => (await token(node)).status !== 200);
      assert.equal((await token(node)).status, 401);
    }
  });
});

/** The same request, `times` times, through the balancer: every other one reaches the other node. */
function atOnce(send: () => Promise<Answer>): Promise<Answer[]> {
  return Promise.all(Array.from({ length: times }, send));
}

async function getCode(demo: DemoFile): Promise<{ code: string; verifier: string }> {
  const { query, verifier } = authorizationRequest(demo.webApp.clientId, redirectUri);
  const answer = await authorize(testBrowser(), { issuer: demo.issuer, query, ...demo.user });
  const code = answer.get("code");
  assert.ok(code, `no code: ${answer}`);
  return { code, verifier };
}

function redeem(demo: DemoFile, code: string, verifier: string): Promise<Answer> {
  const grant = {
    grant_type: "authorization_code",
    code,
    code_verifier: verifier,
    redirect_uri: redirectUri,
  };
  return postForm(`${demo.issuer}/token`, { ...grant, ...credentials(demo) });
}

function refresh(demo: DemoFile, token: string): Promise<Answer> {
  const grant = { grant_type: "refresh_token", refresh_token: token };
  return postForm(`${demo.issuer}/token`, { ...grant, ...credentials(demo) });
}

const credentials = ({ webApp }: DemoFile) => ({
  client_id: webApp.clientId,
  client_secret: webApp.clientSecret,
});

async function authorizationUrl(demo: DemoFile) {
  const { clientId, clientSecret } = demo.webApp;
  const insecure = { execute: [oidc.allowInsecureRequests] };
  const authentication = oidc.ClientSecretBasic(clientSecret);
  const config = await oidc.discovery(new URL(demo.issuer), clientId, undefined, authentication, insecure);
  const asked = {
    pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
    expectedState: oidc.randomState(),
    expectedNonce: oidc.randomNonce(),
  };
  const { href } = oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: "openid email offline_access",
    state: asked.expectedState,
    nonce: asked.expectedNonce,
    prompt: "consent",
    code_challenge: await oidc.calculatePKCECodeChallenge(asked.pkceCodeVerifier),
    code_challenge_method: "S256",
  });
  return { config, asked, url: href };
}
