/**
 * A client that has no secret, from the operator's command to its last message: it proves itself with `openid-client`'s
 * private_key_jwt at every endpoint, and hears of the sign-out although its own server and then ours were down.
 */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { createRemoteJWKSet, exportJWK, generateKeyPair, jwtVerify } from "jose";
import * as oidc from "openid-client";
import { openDatabase } from "../../packages/server/src/db/open.ts";
import { runForJson } from "../../packages/server/src/testing/command-line.ts";
import { forJourneyDatabases } from "../../packages/server/src/testing/databases.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { authorize, testBrowser } from "../../packages/server/src/testing/fakes/browser.ts";
import {
  type LogoutReceiver,
  startLogoutReceiver,
} from "../../packages/server/src/testing/fakes/logout-receiver.ts";
import { follow } from "../../packages/server/src/testing/fixtures/visit.ts";
import { startServerInProcess } from "../support/server-here.ts";
import { type RunningServer, startServer } from "../support/server-process.ts";

const redirectUri = "https://bank.example/callback";
const goodbyeUri = "https://bank.example/bye";
const email = "uma@acme.example";
const password = "plum tractor ninety";

forJourneyDatabases(({ name, fresh }) => {
  let dataDir: string;
  let databaseUrl: string | undefined;
  let server: RunningServer;
  let receiver: LogoutReceiver;
  let start: (port?: number) => Promise<RunningServer>;
  let issuer: string;
  let config: oidc.Configuration;

  before(async () => {
    dataDir = await mkdtemp(path.join(os.tmpdir(), "signet-e2e-"));
    receiver = await startLogoutReceiver();
    databaseUrl = name === "postgres" ? await fresh() : undefined;
    start = (port) =>
      // The program is the same with either database: once is enough.
      (name === "sqlite" ? startServer : startServerInProcess)({
        databaseUrl,
        dataDir,
        isDemo: false,
        settings: { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" },
        ...(port === undefined ? {} : { port }),
      });
    server = await start();
    const environment = {
      SIGNET_DATA_DIR: dataDir,
      PORT: String(server.port),
      ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    };
    const run = <T>(args: string[], typed = "") => runForJson<T>(args, environment, typed);
    const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
    const jwks = path.join(dataDir, "bank.jwks.json");
    await writeFile(jwks, JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: "bank-1" }] }));
    const org = await run<{ id: string; issuer: string }>(["org", "create", "--name", "Acme"]);
    await run(["user", "create", "--org", org.id, "--email", email, "--verified"], password);
    const application = await run<{ clientId: string; issuer: string; clientSecret?: string }>([
      ...["app", "create", "--org", org.id, "--name", "Bank", "--type", "confidential"],
      ...["--auth-method", "private_key_jwt", "--jwks", jwks, "--redirect-uri", redirectUri],
      ...["--post-logout-redirect-uri", goodbyeUri, "--backchannel-logout-uri", receiver.uri("/logout")],
      ...["authorization_code", "refresh_token", "device_code"].flatMap((grant) => ["--grant", grant]),
    ]);
    assert.equal(application.clientSecret, undefined);
    issuer = application.issuer;
    const proof = oidc.PrivateKeyJwt({ key: privateKey, kid: "bank-1" });
    config = await oidc.discovery(new URL(issuer), application.clientId, undefined, proof, {
      execute: [oidc.allowInsecureRequests],
    });
  });
  after(async () => {
    await server.stop();
    await receiver.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  async function hasFailedOnce(): Promise<boolean> {
    const database = openDatabase(databaseUrl ?? `sqlite:${path.join(dataDir, "signet.db")}`, 1);
    const rows = await database.query.selectFrom("logout_delivery").select("last_error").execute();
    await database.close();
    return rows.some(({ last_error }) => last_error !== null);
  }

  test("token, introspection, refresh and revocation with client assertions; back-channel logout arrives after an outage", async () => {
    const verifier = oidc.randomPKCECodeVerifier();
    const state = oidc.randomState();
    const address = oidc.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: "openid offline_access",
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      state,
    });
    const browser = testBrowser();
    const query = address.searchParams.toString();
    const answer = await authorize(browser, { issuer, query, email, password });
    const tokens = await oidc.authorizationCodeGrant(config, new URL(`${redirectUri}?${answer}`), {
      pkceCodeVerifier: verifier,
      expectedState: state,
    });
    const introspected = await oidc.tokenIntrospection(config, tokens.access_token);
    assert.equal(introspected.active, true);
    const refreshed = await oidc.refreshTokenGrant(config, String(tokens.refresh_token));
    await oidc.tokenRevocation(config, String(refreshed.refresh_token));
    assert.equal((await oidc.tokenIntrospection(config, refreshed.access_token)).active, false);

    receiver.answer("/logout", 503);
    const goodbye = oidc.buildEndSessionUrl(config, {
      id_token_hint: String(tokens.id_token),
      post_logout_redirect_uri: goodbyeUri,
      state,
    });
    const page = await browser.get(goodbye.href);
    assert.equal(page.location, `${goodbyeUri}?state=${state}`);
    await eventually("a first try", () => receiver.received.length === 1, 30_000);
    // Killed before that, the message comes again too, but only when the try under way must be over.
    await eventually("its failure on record", hasFailedOnce, 30_000);
    await (server.kill ?? server.stop)();
    receiver.answer("/logout", 200);
    server = await start(server.port);
    await eventually("a second try", () => receiver.received.length === 2, 60_000);

    const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`));
    const { payload } = await jwtVerify(receiver.received[1]?.token ?? "", keys, {
      issuer,
      audience: config.clientMetadata().client_id,
      typ: "logout+jwt",
    });
    assert.equal(payload["sid"], tokens.claims()?.["sid"]);
    assert.equal(payload.sub, tokens.claims()?.sub);
    assert.deepEqual(payload["events"], { "http://schemas.openid.net/event/backchannel-logout": {} });
    assert.equal(payload["nonce"], undefined);
  });

  test("device grant with client assertions: pending, then tokens for the user who approved", async () => {
    const device = await oidc.initiateDeviceAuthorization(config, { scope: "openid email" });
    assert.deepEqual([device.expires_in, device.interval], [900, 5]);
    const grant = "urn:ietf:params:oauth:grant-type:device_code";
    const early = oidc.genericGrantRequest(config, grant, { device_code: device.device_code });
    await assert.rejects(early, { error: "authorization_pending" });

    const browser = testBrowser();
    const verify = async (form: Record<string, string>) => browser.post(device.verification_uri, form);
    const signIn = await follow(browser, await browser.get(String(device.verification_uri_complete)));
    const entered = await browser.post(`${issuer}/login`, { ...signIn.hidden, email, password });
    const page = await follow(browser, entered);
    const question = await verify({ ...page.hidden, user_code: device.user_code });
    await verify({ ...question.hidden, decision: "allow" });
    const tokens = await oidc.pollDeviceAuthorizationGrant(config, device, undefined, {
      signal: AbortSignal.timeout(60_000),
    });
    const person = await oidc.fetchUserInfo(config, tokens.access_token, String(tokens.claims()?.sub));
    assert.equal(person.email, email);
    assert.ok(tokens.refresh_token);
  });
});
