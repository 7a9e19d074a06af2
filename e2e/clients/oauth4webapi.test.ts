/**
 * The journeys of public clients with `oauth4webapi`: a native application on a port that it learns when it runs, and a
 * single-page application in a page of its own, from another origin.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as oauth from "oauth4webapi";
import type { Browser, Page } from "playwright-core";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { forEachDatabase } from "../../packages/server/src/testing/databases.ts";
import { allow, signIn } from "../journeys/sign-in-steps.ts";
import { launchBrowser } from "../support/browser.ts";
import { startServerInProcess } from "../support/server-here.ts";
import type { RunningServer } from "../support/server-process.ts";
import { type ApplicationSite, openApplicationSite } from "./application-site.ts";
import { verifyAccessToken, verifyTokens } from "./verified-tokens.ts";

const insecure = { [oauth.allowInsecureRequests]: true };

const singlePage =
  '<!doctype html><html lang="en"><title>App</title><script type="module" src="/single-page-app.js"></script>';

let site: ApplicationSite;
let browser: Browser;
before(async () => {
  const script = async (url: URL) => ({
    contentType: "text/javascript",
    text: await readFile(fileURLToPath(url), "utf8"),
  });
  const page = { contentType: "text/html", text: singlePage };
  site = await openApplicationSite({
    "/": page,
    "/callback": page,
    "/single-page-app.js": await script(new URL("single-page-app.js", import.meta.url)),
    "/oauth4webapi.js": await script(new URL(import.meta.resolve("oauth4webapi"))),
  });
  browser = await launchBrowser(site.flagsToServe(["127.0.0.1:8766", "127.0.0.1:8799"]));
});
after(async () => {
  await browser.close();
  await site.close();
});

forEachDatabase(({ name, fresh }) => {
  let server: RunningServer;
  let demo: DemoFile;
  let provider: oauth.AuthorizationServer;
  before(async () => {
    server = await startServerInProcess({ databaseUrl: name === "postgres" ? await fresh() : undefined });
    demo = await server.demo();
    const issuer = new URL(demo.issuer);
    const answer = await oauth.discoveryRequest(issuer, insecure);
    provider = await oauth.processDiscoveryResponse(issuer, answer);
  });
  after(() => server.stop());

  const expectations = (clientId: string, nonce?: string) => ({
    issuer: demo.issuer,
    jwksUri: String(provider.jwks_uri),
    clientId,
    nonce,
  });

  test("publishes the same metadata at the RFC 8414 location", async () => {
    const issuer = new URL(demo.issuer);
    const answer = await oauth.discoveryRequest(issuer, { ...insecure, algorithm: "oauth2" });
    assert.deepEqual(await oauth.processDiscoveryResponse(issuer, answer), provider);
  });

  test("a native application on a random loopback port: code, userinfo, refresh, revocation", async (t) => {
    const application = await openApplicationSite();
    t.after(() => application.close());
    const client: oauth.Client = { client_id: demo.nativeApp.clientId };
    const redirectUri = `${application.origin}/callback`;
    const page = await newPage(t);
    const asked = await askForCode(provider, client, redirectUri, page);
    await signIn(page, demo.user);
    await allow(page);
    const { url } = await application.callback();
    const parameters = oauth.validateAuthResponse(provider, client, url, asked.state);

    const requestTokens = () =>
      oauth.authorizationCodeGrantRequest(
        provider,
        client,
        oauth.None(),
        parameters,
        redirectUri,
        asked.verifier,
        insecure,
      );
    const tokens = await oauth.processAuthorizationCodeResponse(provider, client, await requestTokens(), {
      expectedNonce: asked.nonce,
      requireIdToken: true,
    });
    const { idToken } = await verifyTokens(tokens, expectations(client.client_id, asked.nonce));
    const userinfo = async (token: string) => oauth.userInfoRequest(provider, client, token, insecure);
    const person = await oauth.processUserInfoResponse(
      provider,
      client,
      String(idToken.sub),
      await userinfo(tokens.access_token),
    );
    assert.equal(person.email, demo.user.email);

    const refresh = async (token: unknown) =>
      oauth.processRefreshTokenResponse(
        provider,
        client,
        await oauth.refreshTokenGrantRequest(provider, client, oauth.None(), String(token), insecure),
      );
    const refreshed = await refresh(tokens.refresh_token);
    await verifyTokens(refreshed, expectations(client.client_id));
    const revoking = oauth.revocationRequest(
      provider,
      client,
      oauth.None(),
      String(refreshed.refresh_token),
      insecure,
    );
    await oauth.processRevocationResponse(await revoking);
    await assert.rejects(refresh(refreshed.refresh_token), { error: "invalid_grant" });
    assert.equal((await userinfo(refreshed.access_token)).status, 401);
  });

  test("rejects a replayed code and revokes its tokens", async (t) => {
    const application = await openApplicationSite();
    t.after(() => application.close());
    const client: oauth.Client = { client_id: demo.nativeApp.clientId };
    const redirectUri = `${application.origin}/callback`;
    const page = await newPage(t);
    const asked = await askForCode(provider, client, redirectUri, page, { prompt: "consent" });
    await signIn(page, demo.user);
    await allow(page);
    const { url } = await application.callback();
    const redeem = async () =>
      oauth.processAuthorizationCodeResponse(
        provider,
        client,
        await oauth.authorizationCodeGrantRequest(
          provider,
          client,
          oauth.None(),
          oauth.validateAuthResponse(provider, client, url, asked.state),
          redirectUri,
          asked.verifier,
          insecure,
        ),
        { expectedNonce: asked.nonce },
      );
    const tokens = await redeem();
    await assert.rejects(redeem(), { error: "invalid_grant" });
    const userinfo = await oauth.userInfoRequest(provider, client, tokens.access_token, insecure);
    assert.equal(userinfo.status, 401);
  });

  test("a single-page application runs the whole flow by fetch from its own origin", async (t) => {
    const { clientId } = demo.spaApp;
    const page = await newPage(t);
    const settings = JSON.stringify({ issuer: demo.issuer, clientId });
    await page.goto(`http://127.0.0.1:8766/#${encodeURIComponent(settings)}`);
    await signIn(page, demo.user);
    await allow(page);
    const outcome = await outcomeOf(page);
    const { idToken } = await verifyTokens(outcome.tokens, expectations(clientId, outcome.nonce));
    assert.deepEqual(outcome.person, { sub: idToken.sub, email: demo.user.email, email_verified: true });
    await verifyTokens(outcome.refreshed, expectations(clientId));
    assert.equal(outcome.statusAfterRevocation, 401);
    assert.equal(outcome.introspection, "refused");
  });

  test("an unregistered origin may read discovery and nothing else", async (t) => {
    const page = await newPage(t);
    await page.goto("http://127.0.0.1:8799/empty");
    const read = (url: string) =>
      page.evaluate(`fetch("${url}", { method: "POST" }).then(() => "read", () => "refused")`);
    const document = `${demo.issuer}/.well-known/openid-configuration`;
    assert.equal(await page.evaluate(`fetch("${document}").then((answer) => answer.status)`), 200);
    for (const endpoint of ["token", "userinfo", "revoke", "introspect"])
      assert.equal(await read(`${demo.issuer}/${endpoint}`), "refused", endpoint);
  });

  test("client credentials with the secret in the header and in the body", async () => {
    const { clientId, clientSecret } = demo.serviceApp;
    const client: oauth.Client = { client_id: clientId };
    for (const authentication of [
      oauth.ClientSecretBasic(clientSecret),
      oauth.ClientSecretPost(clientSecret),
    ]) {
      const answer = await oauth.clientCredentialsGrantRequest(
        provider,
        client,
        authentication,
        {},
        insecure,
      );
      const tokens = await oauth.processClientCredentialsResponse(provider, client, answer);
      assert.equal((await verifyAccessToken(tokens.access_token, expectations(clientId))).sub, clientId);
      const asking = oauth.introspectionRequest(
        provider,
        client,
        authentication,
        tokens.access_token,
        insecure,
      );
      const introspected = await oauth.processIntrospectionResponse(provider, client, await asking);
      assert.equal(introspected.active, true);
    }
  });
});

type Asked = { verifier: string; state: string; nonce: string };

async function askForCode(
  provider: oauth.AuthorizationServer,
  client: oauth.Client,
  redirectUri: string,
  page: Page,
  more: Record<string, string> = {},
): Promise<Asked> {
  const verifier = oauth.generateRandomCodeVerifier();
  const asked = { verifier, state: oauth.generateRandomState(), nonce: oauth.generateRandomNonce() };
  const parameters = {
    response_type: "code",
    client_id: client.client_id,
    redirect_uri: redirectUri,
    scope: "openid profile email",
    state: asked.state,
    nonce: asked.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...more,
  };
  await page.goto(`${provider.authorization_endpoint}?${new URLSearchParams(parameters)}`);
  return asked;
}

type Outcome = {
  nonce: string;
  person: object;
  tokens: oauth.TokenEndpointResponse;
  refreshed: oauth.TokenEndpointResponse;
  statusAfterRevocation: number;
  introspection: string;
};

async function outcomeOf(page: Page): Promise<Outcome> {
  await page.waitForURL((url) => url.pathname === "/callback");
  await page.waitForFunction("globalThis.outcome");
  const outcome = (await page.evaluate("globalThis.outcome")) as Outcome & { error?: string };
  assert.equal(outcome.error, undefined, JSON.stringify(outcome));
  return outcome;
}

async function newPage(t: { after(work: () => Promise<void>): void }): Promise<Page> {
  const context = await browser.newContext();
  t.after(() => context.close());
  return context.newPage();
}
