/** The device grant as devices and people meet it: `openid-client`, and real Chromium as a phone. examples.test.ts has the SDK's. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as oidc from "openid-client";
import type { Browser, Page } from "playwright-core";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { forJourneyDatabases } from "../../packages/server/src/testing/databases.ts";
import { verifyTokens } from "../clients/verified-tokens.ts";
import { launchBrowser } from "../support/browser.ts";
import { assertUsable, keepPictures, type PageWatch, watchPage } from "../support/page-watch.ts";
import { startServerInProcess } from "../support/server-here.ts";
import type { RunningServer } from "../support/server-process.ts";
import { signIn } from "./sign-in-steps.ts";

const seen = new Set<string>();
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

let browser: Browser;
before(async () => {
  browser = await launchBrowser();
});
after(() => browser.close());

forJourneyDatabases(({ name, fresh }) => {
  let server: RunningServer;
  let demo: DemoFile;
  before(async () => {
    server = await startServerInProcess({ databaseUrl: name === "postgres" ? await fresh() : undefined });
    demo = await server.demo();
  });
  after(() => server.stop());

  test("openid-client: approves a device on a phone by verification_uri_complete, then denies a second one", async (t) => {
    const config = await discover(demo);
    const { page, watch } = await onPhone(t);
    const scope = "openid profile email offline_access";
    const device = await oidc.initiateDeviceAuthorization(config, { scope });
    const polled = oidc.pollDeviceAuthorizationGrant(config, device);
    // Awaited below; a fault before that is told by itself.
    polled.catch(() => {});

    await page.goto(String(device.verification_uri_complete));
    await look(page, watch, "device sign-in", /^Sign in to your device at Demo$/);
    await signIn(page, demo.user);
    await look(page, watch, "device code", /^Connect a device$/);
    assert.equal(await page.locator("#user_code").inputValue(), device.user_code);
    await page.locator("#verify-submit").click();
    await look(
      page,
      watch,
      "device question",
      /^Allow Demo native app on a device to access your account\?$/,
    );
    await page.getByText(/^(?:openid-client|oauth4webapi)\/v/).waitFor();
    await page.locator("#device-allow").click();
    await look(page, watch, "device connected", /^Your device is connected$/);

    const tokens = await polled;
    assert.equal(tokens.scope, scope);
    const { jwks_uri, issuer } = config.serverMetadata();
    const clientId = demo.nativeApp.clientId;
    const { idToken } = await verifyTokens(tokens, {
      issuer,
      jwksUri: String(jwks_uri),
      clientId,
      nonce: undefined,
    });
    const person = await oidc.fetchUserInfo(config, tokens.access_token, String(idToken.sub));
    assert.equal(person.email, demo.user.email);
    const refreshed = await oidc.refreshTokenGrant(config, String(tokens.refresh_token));
    assert.notEqual(refreshed.refresh_token, tokens.refresh_token);

    const second = await oidc.initiateDeviceAuthorization(config, { scope });
    await page.goto(second.verification_uri);
    await enterCode(page, "BBBB-BBBB");
    await page.getByText(/That code is wrong or has expired/).waitFor();
    await look(page, watch, "device wrong code", /^Connect a device$/);
    await enterCode(page, second.user_code.replace("-", "").toLowerCase());
    await page.locator("#device-deny").click();
    await look(page, watch, "device denied", /^Access denied$/);
    await assert.rejects(oidc.pollDeviceAuthorizationGrant(config, second), { error: "access_denied" });
  });
});

function discover(demo: DemoFile): Promise<oidc.Configuration> {
  const insecure = { execute: [oidc.allowInsecureRequests] };
  return oidc.discovery(new URL(demo.issuer), demo.nativeApp.clientId, undefined, oidc.None(), insecure);
}

async function enterCode(page: Page, userCode: string): Promise<void> {
  await page.locator("#user_code").fill(userCode);
  await page.locator("#verify-submit").click();
}

async function look(page: Page, watch: PageWatch, name: string, heading: RegExp): Promise<void> {
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
  assert.deepEqual(watch.faults, [], name);
  // The same pages with either database.
  if (seen.has(name)) return;
  seen.add(name);
  await assertUsable(page, name);
  await keepPictures(page, name);
  assert.deepEqual(watch.faults, [], name);
}

async function onPhone(t: { after(work: () => Promise<void>): void }) {
  const context = await browser.newContext(phone);
  t.after(() => context.close());
  const page = await context.newPage();
  return { page, watch: await watchPage(page) };
}
