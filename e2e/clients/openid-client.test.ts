/** The journeys of a web application and of a service, with `openid-client` and a person in real Chromium. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as oidc from "openid-client";
import type { Browser, Page } from "playwright-core";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { forEachDatabase } from "../../packages/server/src/testing/databases.ts";
import { allow, allowByKeyboard, signIn, signInByKeyboard } from "../journeys/sign-in-steps.ts";
import { launchBrowser } from "../support/browser.ts";
import { startServerInProcess } from "../support/server-here.ts";
import type { RunningServer } from "../support/server-process.ts";
import { type ApplicationSite, openApplicationSite, type Received } from "./application-site.ts";
import { verifyAccessToken, verifyTokens } from "./verified-tokens.ts";

const scope = "openid profile email offline_access";

let site: ApplicationSite;
let browser: Browser;
before(async () => {
  site = await openApplicationSite();
  browser = await launchBrowser(site.flagsToServe(["127.0.0.1:8765"]));
});
after(async () => {
  await browser.close();
  await site.close();
});

forEachDatabase(({ name, fresh }) => {
  let server: RunningServer;
  let demo: DemoFile;
  before(async () => {
    server = await startServerInProcess({ databaseUrl: name === "postgres" ? await fresh() : undefined });
    demo = await server.demo();
  });
  after(() => server.stop());

  const methods = { basic: oidc.ClientSecretBasic, post: oidc.ClientSecretPost };
  for (const [method, authentication] of Object.entries(methods)) {
    test(`a web application with client_secret_${method}: from discovery to sign-out`, async (t) => {
      const config = await discover(demo, demo.webApp, authentication);
      const page = await newPage(t);
      const asked = await askForCode(config, demo, page, { prompt: "consent" });
      await signIn(page, demo.user);
      await allow(page);
      const tokens = await redeem(config, await answerAt(page), asked);
      assert.equal(tokens.scope, scope);
      const { idToken, accessToken } = await verifyTokens(tokens, expectations(config, asked.nonce));
      assert.equal(accessToken["scope"], scope);

      const person = await oidc.fetchUserInfo(config, tokens.access_token, String(idToken.sub));
      assert.equal(person.email, demo.user.email);
      assert.equal(person.email_verified, true);
      assert.equal(person.name, "Uma User");
      const introspected = await oidc.tokenIntrospection(config, tokens.access_token);
      assert.deepEqual(
        [introspected.active, introspected.sub, introspected.client_id, introspected.exp],
        [true, idToken.sub, demo.webApp.clientId, accessToken.exp],
      );

      const refreshed = await oidc.refreshTokenGrant(config, String(tokens.refresh_token));
      const later = await verifyTokens(refreshed, expectations(config));
      for (const claim of ["iss", "sub", "aud", "auth_time", "sid"])
        assert.deepEqual(later.idToken[claim], idToken[claim], claim);
      assert.notEqual(refreshed.refresh_token, tokens.refresh_token);

      await oidc.tokenRevocation(config, String(refreshed.refresh_token));
      for (const token of [refreshed.refresh_token, refreshed.access_token, tokens.access_token])
        assert.deepEqual(await oidc.tokenIntrospection(config, String(token)), { active: false });
      await assert.rejects(oidc.fetchUserInfo(config, tokens.access_token, String(idToken.sub)), {
        status: 401,
      });
      await assert.rejects(oidc.refreshTokenGrant(config, String(refreshed.refresh_token)), {
        error: "invalid_grant",
      });
      await signOutAndSeeIt(config, demo, page, String(tokens.id_token));
    });
  }

  test("sign-in and consent by keyboard, then prompt=none with and without a session", async (t) => {
    const config = await discover(demo, demo.webApp, oidc.ClientSecretBasic);
    const page = await newPage(t);
    const asked = await askForCode(config, demo, page, { scope: "openid email phone", prompt: "consent" });
    await signInByKeyboard(page, demo.user);
    const visited = await allowByKeyboard(page);
    const { host } = new URL(demo.baseUrl);
    assert.deepEqual(visited, [host, "Not you? Use another account", "consent-deny", "consent-allow"]);
    const first = await redeem(config, await answerAt(page), asked);
    const { idToken } = await verifyTokens(first, expectations(config, asked.nonce));

    const silent = await askForCode(config, demo, page, { scope: "openid email", prompt: "none" });
    const second = await redeem(config, await answerAt(page), silent);
    const again = await verifyTokens(second, expectations(config, silent.nonce));
    for (const claim of ["sub", "auth_time", "sid"])
      assert.equal(again.idToken[claim], idToken[claim], claim);

    const elsewhere = await newPage(t);
    const unknown = await askForCode(config, demo, elsewhere, { prompt: "none" });
    await assert.rejects(redeem(config, await answerAt(elsewhere), unknown), { error: "login_required" });
  });

  test("response_mode=form_post: code and error arrive in a form, never in the URL", async (t) => {
    const config = await discover(demo, demo.webApp, oidc.ClientSecretBasic);
    const page = await newPage(t);
    const asked = await askForCode(config, demo, page, { response_mode: "form_post", prompt: "consent" });
    await signIn(page, demo.user);
    await allow(page);
    const received = await answerAt(page);
    assert.equal(received.method, "POST");
    assert.equal(received.url.search, "");
    assert.equal(page.url(), "http://127.0.0.1:8765/callback");
    await verifyTokens(await redeem(config, received, asked), expectations(config, asked.nonce));

    const refused = await askForCode(config, demo, page, { response_mode: "form_post", prompt: "consent" });
    await page.locator("#consent-deny").click();
    const refusal = await answerAt(page);
    assert.deepEqual([refusal.method, refusal.url.search], ["POST", ""]);
    await assert.rejects(redeem(config, refusal, refused), { error: "access_denied" });
  });

  test("client credentials issue a token without user data", async () => {
    const { clientId, clientSecret } = demo.serviceApp;
    const authentication = oidc.ClientSecretBasic(clientSecret);
    const insecure = { execute: [oidc.allowInsecureRequests] };
    const config = await oidc.discovery(new URL(demo.issuer), clientId, undefined, authentication, insecure);
    const tokens = await oidc.clientCredentialsGrant(config);
    assert.deepEqual([tokens.id_token, tokens.refresh_token], [undefined, undefined]);
    const claims = await verifyAccessToken(tokens.access_token, expectations(config));
    assert.equal(claims.sub, clientId);
    await oidc.tokenRevocation(config, tokens.access_token);
    assert.deepEqual(await oidc.tokenIntrospection(config, tokens.access_token), { active: false });
  });

  test("the server exits with 0 and logs no secret", async () => {
    await server.stop();
    const log = JSON.stringify(server.logLines());
    assert.match(log, /"route":"\/oauth\/:org\/token"/);
    assert.doesNotMatch(log, /sgn_(?:ac|rt|cs|bs)_|eyJ/);
    for (const secret of [demo.user.password, demo.webApp.clientSecret, demo.serviceApp.clientSecret])
      assert.ok(!log.includes(secret));
  });
});

type Asked = { verifier: string; state: string; nonce: string };

async function discover(
  demo: DemoFile,
  { clientId, clientSecret }: { clientId: string; clientSecret: string },
  authentication: (secret: string) => oidc.ClientAuth,
): Promise<oidc.Configuration> {
  const execute = [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks];
  const issuer = new URL(demo.issuer);
  return oidc.discovery(issuer, clientId, undefined, authentication(clientSecret), { execute });
}

/** Sends the browser to the authorization endpoint. */
async function askForCode(
  config: oidc.Configuration,
  demo: DemoFile,
  page: Page,
  more: Record<string, string> = {},
): Promise<Asked> {
  const verifier = oidc.randomPKCECodeVerifier();
  const asked = { verifier, state: oidc.randomState(), nonce: oidc.randomNonce() };
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: String(demo.webApp.redirectUris[0]),
    scope,
    state: asked.state,
    nonce: asked.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...more,
  });
  await page.goto(url.href);
  return asked;
}

/** The answer, once the browser is back at the application. */
async function answerAt(page: Page): Promise<Received> {
  const received = await site.callback();
  await page.waitForURL((url) => url.pathname === "/callback");
  return received;
}

function redeem(config: oidc.Configuration, received: Received, asked: Asked) {
  const { method, url, contentType, body } = received;
  const answer =
    method === "POST"
      ? new Request(url, { method, body, headers: { "content-type": contentType } })
      : received.url;
  return oidc.authorizationCodeGrant(config, answer, {
    pkceCodeVerifier: asked.verifier,
    expectedState: asked.state,
    expectedNonce: asked.nonce,
    idTokenExpected: true,
  });
}

function expectations(config: oidc.Configuration, nonce?: string) {
  const { issuer, jwks_uri: jwksUri } = config.serverMetadata();
  return { issuer, jwksUri: String(jwksUri), clientId: config.clientMetadata().client_id, nonce };
}

/** RP-initiated logout goes back with the state, and the session is gone. */
async function signOutAndSeeIt(config: oidc.Configuration, demo: DemoFile, page: Page, idToken: string) {
  const state = oidc.randomState();
  const url = oidc.buildEndSessionUrl(config, {
    id_token_hint: idToken,
    post_logout_redirect_uri: String(demo.webApp.returnUrls[0]),
    state,
  });
  await page.goto(url.href);
  assert.equal(page.url(), `${demo.webApp.returnUrls[0]}?state=${state}`);
  await askForCode(config, demo, page, { prompt: "none" });
  assert.equal((await answerAt(page)).url.searchParams.get("error"), "login_required");
}

async function newPage(t: { after(work: () => Promise<void>): void }): Promise<Page> {
  const context = await browser.newContext();
  site.forget();
  t.after(() => context.close());
  return context.newPage();
}
