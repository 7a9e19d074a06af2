/** `examples/saas.ts` as the people of two tenants use it: in real browsers, against the demo. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { runProgram } from "../../packages/server/src/testing/command-line.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { allowIfAsked, signIn } from "../journeys/sign-in-steps.ts";
import { launchBrowser } from "../support/browser.ts";
import { assertUsable, keepPictures, watchPage } from "../support/page-watch.ts";
import { startServerBesideCommands } from "../support/server-here.ts";
import type { RunningServer } from "../support/server-process.ts";
import { type Example, moveExamples, startExample } from "./example-process.ts";

let browser: Browser;
let server: RunningServer;
let demo: DemoFile;
let example: Example;
before(async () => {
  browser = await launchBrowser();
  server = await startServerBesideCommands();
  const moved = await moveExamples(await server.demo(), server.dataDir);
  demo = moved.demo;
  example = startExample("saas", moved.file);
  await example.said(/^Open {2}(\S+)\/$/m);
});
after(async () => {
  await browser?.close();
  await example?.stop();
  await server?.stop();
});

async function command(...words: string[]): Promise<Record<string, unknown>> {
  const { code, out, err } = await runProgram([...words, "--json"], server.settings);
  assert.equal(code, 0, err);
  return JSON.parse(out) as Record<string, unknown>;
}

const heading = (page: Page, name: string) => page.getByRole("heading", { level: 1, name, exact: true });
const addressOf = (tenant: string) => `${demo.examples.saas.address}/signet/login?organisation=${tenant}`;
const people = async (page: Page) => (await page.locator("#people li").allInnerTexts()).sort();

test("two tenants share it: each enables it, has its own people and roles, and sets up its own sign-in", async () => {
  const { otherOrg, examples } = demo;
  const { address, clientId } = examples.saas;
  const page = await browser.newPage();
  const watch = await watchPage(page);
  await page.goto(address);
  await heading(page, "Plan together").waitFor();
  await assertUsable(page, "saas-front");

  // The common entry, for who comes without a link.
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.waitForURL(`${demo.baseUrl}/oauth/common/authorize?**`);

  // An administrator of the tenant allows it, with what it asks of the API.
  await page.goto(`${demo.baseUrl}/oauth/manage/${otherOrg.org}/shared-applications/${clientId}/allow`);
  await signIn(page, otherOrg.admin);
  await page.locator("#shared-application-allow").click();
  await page.waitForURL(`${demo.baseUrl}/oauth/manage/${otherOrg.org}/shared-applications**`);
  await page.goto(addressOf(otherOrg.org));
  await page.locator("dt:text-is('Organisation') + dd").filter({ hasText: otherOrg.org }).waitFor();
  assert.deepEqual(await people(page), [otherOrg.admin.email]);
  await page.locator("dt:text-is('Roles') + dd:text-is('none')").waitFor();
  assert.equal(await page.getByRole("button", { name: "SSO settings" }).count(), 0);
  await assertUsable(page, "saas-tenant");

  // A webhook tells of a new user.
  const added = "new@other.example";
  await command(
    "user",
    "create",
    "--org",
    otherOrg.org,
    "--email",
    added,
    "--generate",
    "--firstname",
    "N",
    "--surname",
    "U",
  );
  await eventually("the user table is true", async () => {
    await page.reload();
    return (await people(page)).includes(added);
  });
  const forged = await fetch(`${address}/webhooks/${otherOrg.org}`, {
    method: "POST",
    headers: { "webhook-id": "1", "webhook-timestamp": "1", "webhook-signature": "v1,AAAA" },
    body: "{}",
  });
  assert.equal(forged.status, 401);

  // A role that the tenant gives opens its connections.
  const role = await command("role", "create", "--org", otherOrg.org, "--app", clientId, "--key", "owner");
  await command("role", "assign", String(role["id"]), "--org", otherOrg.org, "--email", otherOrg.admin.email);
  await page.getByRole("button", { name: "Sign out" }).click();
  await heading(page, "Plan together").waitFor();
  await page.goto(addressOf(otherOrg.org));
  await signIn(page, otherOrg.admin);
  await page.locator("dt:text-is('Roles') + dd:text-is('owner')").waitFor();
  await keepPictures(page, "saas-tenant");
  await page.getByLabel("Email address").fill("invited@other.example");
  await page.getByRole("button", { name: "Invite" }).click();
  await eventually("who is invited is in the user table", async () => {
    await page.reload();
    return (await people(page)).includes("invited@other.example");
  });
  await page.getByRole("button", { name: "SSO settings" }).click();
  await page.locator("#portal-open").click();
  await page.waitForURL(`${demo.baseUrl}/oauth/manage/${otherOrg.org}/connections**`);

  // The other tenant sees none of it.
  await page.goto(addressOf(demo.org));
  await signIn(page, demo.user);
  await allowIfAsked(page, heading(page, "Demo"));
  const here = await people(page);
  assert.ok(here.includes(demo.user.email) && !here.includes(added) && !here.includes(otherOrg.admin.email));
  assert.deepEqual(watch.faults, []);
});
