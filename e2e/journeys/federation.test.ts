/** The legacy federation in real Chromium: sign-in, the way back with a key, single sign-on, and who is kept out. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { callApi } from "../../packages/server/src/testing/fixtures/system-account.ts";
import { type ApplicationSite, openApplicationSite } from "../clients/application-site.ts";
import { launchBrowser } from "../support/browser.ts";
import { assertUsable, keepPictures, watchPage } from "../support/page-watch.ts";
import { startServerBesideCommands } from "../support/server-here.ts";
import type { RunningServer } from "../support/server-process.ts";
import { signet } from "../support/signet-command.ts";
import { signIn, signInByKeyboard } from "./sign-in-steps.ts";

let site: ApplicationSite;
let browser: Browser;
let server: RunningServer;
let demo: DemoFile;
let portal: string;
let desk: string;
before(async () => {
  site = await openApplicationSite();
  browser = await launchBrowser();
  server = await startServerBesideCommands();
  demo = await server.demo();
  portal = await application("Portal");
  desk = await application("Service desk", "--access", "assigned", "--contact", "desk@acme.example");
});
after(async () => {
  await browser.close();
  await server.stop();
  await site.close();
});

const command = (...args: string[]) => signet([...args, "--org", demo.org], server.settings);
const application = async (name: string, ...more: string[]): Promise<string> => {
  const settings = ["--type", "confidential", "--return-url", `${site.origin}/callback`];
  return String((await command("app", "create", "--name", name, ...settings, ...more))["clientId"]);
};
const loginUrl = (appId: string, more: Record<string, string> = {}) => {
  const query = new URLSearchParams({ appId, returnUrl: `${site.origin}/callback?tab=2`, ...more });
  return `${server.baseUrl}/federation/Login?${query}`;
};
const validate = (key: string) => callApi(`${server.baseUrl}/legacy/api/auth/validate?key=${key}`, undefined);

/** What the application got; the browser shows the application's page then. */
async function arrived(page: Page): Promise<string> {
  const { method, url } = await site.callback();
  assert.deepEqual([method, url.searchParams.get("tab")], ["GET", "2"]);
  await page.waitForURL((here) => here.origin === site.origin);
  return url.searchParams.get("service_key") ?? "";
}

test("a sign-in by keyboard returns a session key, and the next application gets one silently", async (t) => {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  await page.goto(loginUrl(portal));
  await page.getByRole("button", { name: "Continue to Portal" }).waitFor();
  await assertUsable(page, "federation login");
  await signInByKeyboard(page, demo.user);
  const key = await arrived(page);
  const { status, body } = await validate(key);
  assert.deepEqual(
    [status, body["Valid"], body["Kind"], body["ApplicationId"]],
    [200, true, "Service", portal],
  );
  assert.equal((body["User"] as { Email: string }).Email, demo.user.email);

  await page.goto(loginUrl(portal));
  const second = await arrived(page);
  assert.notEqual(second, key, "a key for each visit");
  await page.goto(loginUrl(portal, { prompt: "login" }));
  await signIn(page, demo.user);
  assert.match(await arrived(page), /^sgn_sk_/);

  await page.goto(`${demo.issuer}/end_session`);
  await page.locator("#logout-confirm").click();
  await page.getByRole("heading", { name: "You’re signed out" }).waitFor();
  for (const ended of [key, second]) assert.equal((await validate(ended)).status, 401);
});

test("an unassigned user sees whom to contact, and signs in once assigned", async (t) => {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const watch = await watchPage(page);
  await page.goto(loginUrl(desk));
  await signIn(page, demo.user);
  await page.getByRole("heading", { level: 1, name: "You don’t have access to Service desk" }).waitFor();
  await page.getByText("desk@acme.example").waitFor();
  await assertUsable(page, "not assigned");
  // The answer's own status is in the browser's console: 403 is what it says.
  const faults = watch.faults.filter((fault) => !/403/.test(JSON.stringify(fault)));
  assert.deepEqual(faults, []);
  await keepPictures(page, "not-assigned");
  await command("app", "assign", desk, "--email", demo.user.email);
  await page.goto(loginUrl(desk));
  const key = await arrived(page);
  assert.equal((await validate(key)).status, 200);
  await command("app", "unassign", desk, "--email", demo.user.email);
  assert.equal((await validate(key)).status, 401);
});

test("never redirects to an unregistered return URL", async (t) => {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const opened: string[] = [];
  page.on("request", (request) => opened.push(new URL(request.url()).host));
  for (const returnUrl of [
    "https://evil.example/callback",
    `${site.origin}@evil.example/callback`,
    `${site.origin}/callback/..;/admin`,
    `${site.origin}/callback\\@evil.example`,
  ]) {
    const answer = await page.goto(loginUrl(portal, { returnUrl }));
    assert.equal(answer?.status(), 400, returnUrl);
    await page.getByRole("heading", { name: "This request can’t be completed" }).waitFor();
  }
  assert.deepEqual([...new Set(opened)], [new URL(server.baseUrl).host]);
});
