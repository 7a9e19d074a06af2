/** A sign-in that the organisation's agent confirms, as a person meets it: real Chromium, a real server, an agent of the test. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createLocalJWKSet, jwtVerify } from "jose";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { readConfig } from "../../packages/server/src/config/config.ts";
import { passkeyChallenge } from "../../packages/server/src/features/sovereign/requests/signing-input.ts";
import { openService, type Service } from "../../packages/server/src/modules/open-service.ts";
import { authorizationRequest } from "../../packages/server/src/testing/fakes/browser.ts";
import {
  type Claimed,
  makeAgent,
  makePool,
  type TestAgent,
} from "../../packages/server/src/testing/fixtures/agent.ts";
import { makeClient, type TestClient } from "../../packages/server/src/testing/test-service.ts";
import { type ApplicationSite, openApplicationSite } from "../clients/application-site.ts";
import { signIn } from "../journeys/sign-in-steps.ts";
import { addVirtualAuthenticator } from "../journeys/virtual-authenticator.ts";
import { launchBrowser } from "../support/browser.ts";
import { assertUsable, type PageWatch, watchPage } from "../support/page-watch.ts";
import { startServerBesideCommands } from "../support/server-here.ts";
import type { RunningServer } from "../support/server-process.ts";

const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

let site: ApplicationSite;
let browser: Browser;
let server: RunningServer;
/** Beside the server, as an operator's command is. */
let service: Service;
let demo: DemoFile;
let agent: TestAgent;
let client: TestClient;
let redirectUri: string;
before(async () => {
  site = await openApplicationSite();
  browser = await launchBrowser();
  server = await startServerBesideCommands();
  demo = await server.demo();
  service = await openService(readConfig(server.settings), {
    onError: (error) => assert.fail(String(error)),
  });
  const organisation = await service.organisations.find(demo.org);
  assert.ok(organisation);
  const pool = await makePool(service, { organisation });
  agent = await makeAgent(service, { organisation }, pool);
  redirectUri = `${site.origin}/callback`;
  client = await makeClient(service, organisation, {
    redirectUris: [redirectUri],
    homepageUri: `${site.origin}/`,
    signingPoolId: pool.id,
    requireConsent: false,
  });
});
after(async () => {
  await browser.close();
  await service.close();
  await server.stop();
  await site.close();
});

test("a number entered in the agent's own channel: from the sign-in to tokens that only the agent could sign", async (t) => {
  const { page, watch } = await newPage(t, phone);
  const verifier = await arrive(page);
  await look(page, watch, /^Demo can’t confirm right now$/);
  const claimed = await nextClaim();
  await look(page, watch, /^Waiting for Demo to confirm$/, claimed);

  const prompt = `Sign in to ${String(claimed.context["clientName"])}?`;
  assert.equal(
    (await agent.challenge(claimed, { type: "number_match", display: "42", prompt, ttl: 120 })).status,
    202,
  );
  await look(page, watch, /^Confirm with this number$/, claimed);
  await page.getByText(prompt).waitFor();
  assert.match(await page.locator("[data-seconds-left]").innerText(), /^(2:00|1:\d\d)$/);
  const entered = await page.locator("#match-number").innerText();
  assert.equal(entered, "42", "what the person types at the agent");
  await page.locator("#respond-submit").click();
  await look(page, watch, /^Checking your answer$/, claimed);
  const { body } = await agent.call("queue?max=0&wait=25");
  assert.deepEqual(body["responses"], [
    { requestId: claimed.requestId, challengeId: "c-1", outcome: "answered", answer: true },
  ]);
  assert.equal((await agent.sign(claimed)).status, 200);

  const tokens = await redeem(await codeAtSite(), verifier);
  for (const { use, protected: head, payload } of claimed.tokens)
    assert.ok(tokens[use]?.startsWith(`${head}.${payload}.`), use);
  const keys = createLocalJWKSet({ keys: agent.keys.map(({ kid, publicJwk }) => ({ ...publicJwk, kid })) });
  const { payload } = await jwtVerify(String(tokens["id_token"]), keys, {
    issuer: `${demo.issuer}/sovereign/pools/${agent.poolId}`,
    audience: client.application.id,
  });
  assert.equal(typeof payload.sub, "string");
  assert.deepEqual(watch.faults.filter(isNoNavigation), []);
  await page.waitForURL(`${site.origin}/**`);
  await page.goto(`${demo.issuer}/sovereign/wait/${claimed.requestId}`);
  await page.getByRole("heading", { name: "Already completed" }).waitFor();
});

test("without JavaScript: the page refreshes, accepts a code and continues to the application", async (t) => {
  const { page } = await newPage(t, { javaScriptEnabled: false });
  await arrive(page);
  const claimed = await nextClaim();
  await agent.challenge(claimed, { type: "pin", prompt: "We have sent you a code." });
  await page.locator("#answer").waitFor();
  await page.locator("#answer").fill("31337");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Checking your answer" }).waitFor();
  const { body } = await agent.call("queue?max=0&wait=25");
  assert.equal((body["responses"] as [{ answer: unknown }])[0].answer, "31337");
  await agent.sign(claimed);
  assert.match(await codeAtSite(), /^sgn_ac_/);
});

test("without events the page polls every two seconds, and shows when nothing answers", async (t) => {
  const { page } = await newPage(t);
  await page.route("**/stream", (route) => route.abort());
  await arrive(page);
  const notice = page.getByText("The connection was lost.");
  await page.context().setOffline(true);
  await notice.waitFor();
  await page.context().setOffline(false);
  await notice.waitFor({ state: "hidden" });
  const claimed = await nextClaim();
  await agent.challenge(claimed, { prompt: "Release the payment?", display: "42.00 EUR" });
  await page.getByRole("heading", { name: "Do you confirm this?" }).waitFor();
  await page.getByText("42.00 EUR").waitFor();
  await page.locator("#respond-submit").click();
  await agent.call("queue?max=0&wait=25");
  await agent.sign(claimed);
  assert.match(await codeAtSite(), /^sgn_ac_/);
});

test("a passkey signs the agent's challenge, and the agent verifies it", async (t) => {
  const { page } = await newPage(t);
  await addVirtualAuthenticator(page);
  await arrive(page);
  const claimed = await nextClaim();
  const credentialId = (await page.evaluate(`(async () => {
    const challenge = new Uint8Array(32);
    const user = { id: new Uint8Array(8), name: "uma", displayName: "Uma" };
    const pubKeyCredParams = [{ type: "public-key", alg: -7 }];
    const publicKey = { challenge, rp: { id: "localhost", name: "Demo" }, user, pubKeyCredParams };
    return (await navigator.credentials.create({ publicKey })).id;
  })()`)) as string;
  const challenge = passkeyChallenge(claimed.tokens);
  const publicKey = {
    challenge,
    rpId: "localhost",
    allowCredentials: [{ type: "public-key", id: credentialId }],
  };
  assert.equal((await agent.challenge(claimed, { type: "webauthn", publicKey })).status, 202);
  await page.getByRole("heading", { name: "Confirm with your passkey" }).waitFor();
  await page.locator("#respond-submit").click();
  await page.getByRole("heading", { name: "Checking your answer" }).waitFor();
  const { body } = await agent.call("queue?max=0&wait=25");
  const [{ answer }] = body["responses"] as [
    { answer: { id: string; response: { clientDataJSON: string } } },
  ];
  const clientData = JSON.parse(Buffer.from(answer.response.clientDataJSON, "base64url").toString()) as {
    challenge: string;
    origin: string;
  };
  assert.deepEqual(
    [answer.id, clientData.challenge, clientData.origin],
    [credentialId, challenge, server.baseUrl],
  );
  await agent.sign(claimed);
  await codeAtSite();
});

test("a cancelled, rejected or withdrawn request is shown and redirects with the error", async (t) => {
  const { page, watch } = await newPage(t, phone);
  await arrive(page);
  await agent.challenge(await nextClaim(), { type: "pin" });
  await page.locator("#respond-cancel").click();
  await look(page, watch, /^Sign-in cancelled$/);
  await page.locator("#wait-continue").click();
  assert.equal((await site.callback()).url.searchParams.get("error"), "access_denied");
  await page.waitForURL(`${site.origin}/**`);

  await openAuthorize(page);
  await page.locator("#wait").waitFor();
  const claimed = await nextClaim();
  await agent.reject(claimed, "key_unavailable");
  await look(page, watch, /^Demo could not confirm$/);
  await page.getByText(claimed.requestId).waitFor();
  await page.locator("#wait-continue").click();
  assert.equal((await site.callback()).url.searchParams.get("error"), "temporarily_unavailable");
});

/** Signs in, as far as the wait page. @returns the PKCE verifier */
async function arrive(page: Page): Promise<string> {
  const verifier = await openAuthorize(page);
  await signIn(page, demo.user);
  await page.locator("#wait").waitFor();
  return verifier;
}

async function openAuthorize(page: Page): Promise<string> {
  const { query, verifier } = authorizationRequest(client.application.id, redirectUri);
  await page.goto(`${demo.issuer}/authorize?${query}`);
  return verifier;
}

async function nextClaim() {
  const claimed = await agent.claim({ wait: 25 });
  assert.ok(claimed, "there is something to claim");
  return claimed;
}

async function codeAtSite(): Promise<string> {
  const { searchParams } = (await site.callback()).url;
  return searchParams.get("code") ?? assert.fail(String(searchParams));
}

async function redeem(code: string, verifier: string): Promise<Record<string, string>> {
  const response = await fetch(`${demo.issuer}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      client_id: client.application.id,
      client_secret: client.secret,
    }),
  });
  const body = (await response.json()) as Record<string, string>;
  assert.equal(response.status, 200, JSON.stringify(body));
  return body;
}

/** @param held what the agent has claimed meanwhile: looking takes its time, and a lease has only so much */
async function look(page: Page, watch: PageWatch, heading: RegExp, held?: Claimed): Promise<void> {
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
  await assertUsable(page, String(heading));
  if (held) await agent.call(`queue?max=0&renew=${held.requestId}`);
  assert.deepEqual(watch.faults.filter(isNoNavigation), [], String(heading));
}

/** A stream, or a look at the page, that was under way when the browser went on is not a fault. */
const isNoNavigation = (fault: string): boolean => !/\/wait\/[^ ]+ net::ERR_ABORTED$/.test(fault);

async function newPage(
  t: { after(work: () => Promise<void>): void },
  options: BrowserContextOptions = {},
): Promise<{ page: Page; watch: PageWatch }> {
  const context = await browser.newContext(options);
  site.forget();
  t.after(() => context.close());
  const page = await context.newPage();
  return { page, watch: await watchPage(page) };
}
