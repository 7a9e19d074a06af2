/** Applications with access, in real Chromium: the consent page with custom scopes, who is asked, and taking it back. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { authorizationRequest } from "../../packages/server/src/testing/fakes/browser.ts";
import { type ApplicationSite, openApplicationSite } from "../clients/application-site.ts";
import { launchBrowser } from "../support/browser.ts";
import { assertUsable, keepPictures, watchPage } from "../support/page-watch.ts";
import { startServerBesideCommands } from "../support/server-here.ts";
import type { RunningServer } from "../support/server-process.ts";
import { signet } from "../support/signet-command.ts";
import { allow, signIn } from "./sign-in-steps.ts";

let site: ApplicationSite;
let browser: Browser;
let server: RunningServer;
let demo: DemoFile;
let userApp: string;
let administratorApp: string;
before(async () => {
  site = await openApplicationSite();
  browser = await launchBrowser();
  server = await startServerBesideCommands();
  demo = await server.demo();
  await scope("teams", "Your teams", "See which teams you are in, and what you do there");
  await scope("payroll", "Your pay", "See what you are paid, and change where it is sent", "--sensitive");
  userApp = await application("Payroll", "user");
  administratorApp = await application("Wiki", "organisation");
});
after(async () => {
  await browser.close();
  await server.stop();
  await site.close();
});

const command = (...args: string[]) => signet([...args, "--org", demo.org], server.settings);
const scope = (name: string, displayName: string, description: string, ...more: string[]) =>
  command(
    "scope",
    "create",
    "--name",
    name,
    "--display-name",
    displayName,
    "--description",
    description,
    ...more,
  );
const application = async (name: string, mode: string): Promise<string> => {
  const scopes = ["openid", "email", "teams", "payroll"].flatMap((one) => ["--scope", one]);
  const settings = [
    "--type",
    "native",
    "--redirect-uri",
    "http://127.0.0.1/callback",
    "--consent-mode",
    mode,
  ];
  return String((await command("app", "create", "--name", name, ...settings, ...scopes))["clientId"]);
};
const authorizeUrl = (clientId: string) =>
  `${demo.issuer}/authorize?${authorizationRequest(clientId, `${site.origin}/callback`, { scope: "openid email teams payroll" }).query}`;

test("shows custom scopes, asks for administrator approval, and revokes a consent", async (t) => {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const watch = await watchPage(page);
  const look = async (name: string, heading: RegExp) => {
    await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    await assertUsable(page, name);
    assert.deepEqual(watch.faults, [], name);
    await keepPictures(page, name);
    watch.reset();
  };
  await page.goto(authorizeUrl(userApp));
  await signIn(page, demo.user);
  await look("consent", /^Allow Payroll to access your account\?$/);
  await allow(page);
  assert.match((await site.callback()).url.searchParams.get("code") ?? "", /^sgn_ac_/);
  await page.waitForURL((url) => url.origin === site.origin);
  watch.reset();
  await page.goto(authorizeUrl(administratorApp));
  await look("administrator", /^Wiki needs administrator approval$/);

  await page.goto(`${demo.issuer}/user/consents`);
  await look("consents", /^Agents and applications that act for you$/);
  await page.getByRole("link", { name: "Revoke access for Payroll" }).click();
  await look("revoke", /^Revoke access for Payroll\?$/);
  await page.locator("#consent-revoke").click();
  await page.getByText("Access revoked.").waitFor();
  await look("none", /^Agents and applications that act for you$/);
  await page.goto(authorizeUrl(userApp));
  await page.locator("#consent-allow").waitFor();
});
