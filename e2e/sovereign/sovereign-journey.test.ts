/**
 * Sovereign signing as it is set up and used: a pool and an agent by the commands, a sign-in in real Chromium, a number that
 * goes from the page to the agent's own channel, and tokens that the application verifies with the pool's published keys.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createRemoteJWKSet, jwtVerify } from "jose";
import * as oidc from "openid-client";
import type { Browser, Page } from "playwright-core";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { nodeEnvironment } from "../../packages/server/src/testing/node-environment.ts";
import { type ApplicationSite, openApplicationSite } from "../clients/application-site.ts";
import { allow, signIn } from "../journeys/sign-in-steps.ts";
import { launchBrowser } from "../support/browser.ts";
import { startServerBesideCommands } from "../support/server-here.ts";
import type { RunningServer } from "../support/server-process.ts";
import { signet } from "../support/signet-command.ts";
import { type ChallengeWebhook, openChallengeWebhook } from "./challenge-webhook.ts";
import {
  type AgentProcess,
  enrolByCommands,
  startAgentAtTerminal,
  startAgentProcess,
} from "./signing-agent-process.ts";

const agentProgram = fileURLToPath(new URL("../../packages/signing-agent/src/main.ts", import.meta.url));
const userClaims = "[email, email_verified, name, given_name, family_name, phone_number, updated_at]";

let site: ApplicationSite;
let browser: Browser;
let server: RunningServer;
let demo: DemoFile;
let settings: Record<string, string>;
let poolId: string;
let client: { clientId: string; clientSecret: string };
let folder: string;
/** `agent.yaml`, and what the enrolment has written there. */
let configuration: string;
let enrolled: string;
let webhook: ChallengeWebhook;
before(async () => {
  [site, browser, server, webhook] = await Promise.all([
    openApplicationSite(),
    launchBrowser(),
    startServerBesideCommands(),
    openChallengeWebhook(),
  ]);
  demo = await server.demo();
  settings = server.settings;
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-agent-"));
  const inOrganisation = ["--org", demo.org];
  poolId = String(
    (await signet(["pool", "create", ...inOrganisation, "--name", "Headquarters"], settings))["poolId"],
  );
  const redirect = ["--redirect-uri", `${site.origin}/callback`];
  const app = [...inOrganisation, "--name", "Portal", "--type", "confidential", ...redirect];
  const made = await signet(["app", "create", ...app, "--signing-pool", poolId], settings);
  client = { clientId: String(made["clientId"]), clientSecret: String(made["clientSecret"]) };
  const user = `aud: [], scopes: [openid, profile, email], claims: ${userClaims}, maxLifetime: 3600`;
  const challenge = "challenge: { type: number_match, when: authorization_code }";
  await enrolByCommands(
    { org: demo.org, pool: poolId, baseUrl: server.baseUrl },
    {
      folder,
      clients: {
        [client.clientId]: `{ ${user}, grants: [authorization_code, refresh_token], ${challenge} }`,
      },
    },
    settings,
  );
  configuration = path.join(folder, "agent.yaml");
  enrolled = await readFile(configuration, "utf8");
});
after(async () => {
  await Promise.all([browser.close(), server.stop(), site.close(), webhook.close()]);
  await rm(folder, { recursive: true, force: true });
});

test("terminal channel: entering the number from the page issues the tokens", async (t) => {
  await writeFile(configuration, `${enrolled}challenges: { channel: terminal }\n`);
  const agent = startAgentAtTerminal(folder);
  await started(t, agent);
  const { page, finish } = await signInAt(t);
  const number = await page.locator("#match-number").innerText();
  await agent.said("Number that the user sees");
  assert.match(agent.output(), /is signing in to client/);
  agent.type(number);
  const idToken = await finish();
  assert.ok(agent.output().includes(String(idToken["sub"])), "the agent knows who signs in");
  await agent.stop();
});

test("webhook channel: the right number signs, a wrong one is rejected, and the journal records both", async (t) => {
  await writeFile(configuration, enrolled);
  await webhook.useFor(folder);
  const agent = startAgentProcess(folder);
  await started(t, agent);

  const { page, finish } = await signInAt(t);
  const { question, reply } = await webhook.asked();
  const number = await page.locator("#match-number").innerText();
  assert.equal(question.clientId, client.clientId);
  assert.equal(question.clientName, "Portal");
  assert.deepEqual([question.type, question.code], ["number_match", undefined], "only the page shows it");
  reply(number);
  assert.equal((await finish())["sub"], question.sub);

  const wrong = await signInAt(t);
  const again = await webhook.asked();
  const shown = await wrong.page.locator("#match-number").innerText();
  again.reply(shown === "10" ? "11" : "10");
  await wrong.page.locator("#wait-continue").click();
  assert.equal((await site.callback()).url.searchParams.get("error"), "access_denied");
  await agent.stop();

  const words = ["journal", "verify", path.join(folder, "journal.jsonl")];
  const { stdout } = await promisify(execFile)(process.execPath, [agentProgram, ...words], {
    env: nodeEnvironment(),
  });
  assert.match(stdout, /^\d+ entries, 1 to \d+: the chain is intact/);
});

async function started(t: TestContext, agent: AgentProcess): Promise<void> {
  t.after(() => agent.kill());
  await agent.said("agent started");
}

/**
 * From the application to the wait page with its number on it.
 * @returns `finish`: the application's end, which verifies all that it gets; gives the ID token's claims
 */
async function signInAt(t: TestContext): Promise<{ page: Page; finish(): Promise<Record<string, unknown>> }> {
  const context = await browser.newContext();
  t.after(() => context.close());
  site.forget();
  const page = await context.newPage();
  const poolIssuer = `${demo.issuer}/sovereign/pools/${poolId}`;
  const authentication = oidc.ClientSecretBasic(client.clientSecret);
  const config = await oidc.discovery(new URL(poolIssuer), client.clientId, undefined, authentication, {
    execute: [oidc.allowInsecureRequests],
  });
  const asked = {
    pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
    expectedState: oidc.randomState(),
    expectedNonce: oidc.randomNonce(),
  };
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: `${site.origin}/callback`,
    scope: "openid email",
    state: asked.expectedState,
    nonce: asked.expectedNonce,
    prompt: "consent",
    code_challenge: await oidc.calculatePKCECodeChallenge(asked.pkceCodeVerifier),
    code_challenge_method: "S256",
  });
  await page.goto(url.href);
  await signIn(page, demo.user);
  await allow(page);
  await page.getByRole("heading", { name: "Confirm with this number" }).waitFor();
  return {
    page,
    finish: async () => {
      const tokens = await oidc.authorizationCodeGrant(config, (await site.callback()).url, asked);
      const keys = createRemoteJWKSet(new URL(String(config.serverMetadata().jwks_uri)));
      const expected = { issuer: poolIssuer, typ: "at+jwt", requiredClaims: ["jti", "client_id"] };
      const accessToken = await jwtVerify(tokens.access_token, keys, expected);
      const idToken = await jwtVerify(String(tokens.id_token), keys, {
        issuer: poolIssuer,
        audience: client.clientId,
      });
      assert.equal(accessToken.payload.sub, idToken.payload.sub);
      const { email } = await oidc.fetchUserInfo(config, tokens.access_token, String(idToken.payload.sub));
      assert.equal(email, demo.user.email);
      return idToken.payload;
    },
  };
}
