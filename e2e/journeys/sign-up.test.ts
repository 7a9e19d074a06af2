/** Sign-up in real Chromium: from an application to an account and back, with approval, and a new version of the terms. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { launchBrowser } from "../support/browser.ts";
import { assertUsable, keepPictures, type PageWatch, watchPage } from "../support/page-watch.ts";
import { startServerBesideCommands } from "../support/server-here.ts";
import type { RunningServer } from "../support/server-process.ts";
import { commandsApplied, signet } from "../support/signet-command.ts";
import { allowIfAsked, signIn } from "./sign-in-steps.ts";

const PASSWORD = "four quiet herons";

let pictures = 0;
let browser: Browser;
let server: RunningServer;
let demo: DemoFile;
before(async () => {
  browser = await launchBrowser();
  server = await startServerBesideCommands();
  demo = await server.demo();
});
after(async () => {
  await browser.close();
  await server.stop();
});

async function set(...options: string[]): Promise<void> {
  await signet(["sign-up", "set", "--org", demo.org, ...options], server.settings);
  await commandsApplied(demo, server.settings);
}

interface Here {
  readonly page: Page;
  readonly watch: PageWatch;
}

async function newPage(): Promise<Here> {
  const page = await (await browser.newContext()).newPage();
  return { page, watch: await watchPage(page) };
}

async function look({ page, watch }: Here, heading: string | RegExp): Promise<void> {
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
  await assertUsable(page, String(heading));
  await keepPictures(page, `sign-up-${pictures++}`);
  assert.deepEqual(watch.faults, []);
  watch.reset();
}

/** The link in the newest mail of this subject. */
async function linkInMail(page: Page, subject: RegExp): Promise<string> {
  const mailbox = await page.context().newPage();
  await eventually("the mail is there", async () => {
    await mailbox.goto(`${demo.baseUrl}/demo/mailbox`);
    return (await mailbox.getByRole("link", { name: subject }).count()) > 0;
  });
  await mailbox.getByRole("link", { name: subject }).first().click();
  await mailbox.getByRole("heading", { level: 1, name: subject }).waitFor();
  const href = await mailbox.getByRole("link", { name: "Continue" }).first().getAttribute("href");
  await mailbox.close();
  return href ?? "";
}

/** From the application to the page behind the link. */
async function askFor(here: Here, email: string): Promise<void> {
  const { page } = here;
  await page.goto(`${demo.baseUrl}/demo/try`);
  await page.locator("#sign-up").click();
  await look(here, /^Create your account/);
  await page.locator("#email").fill(email);
  await page.locator("#sign-up-submit").click();
  await page.locator("#sign-up-sent").waitFor();
  await look(here, /^Check your email/);
  await page.goto(await linkInMail(page, /^Finish your account/));
  await look(here, /^Create your account/);
  await page.locator("#firstname").fill("Nora");
  await page.locator("#surname").fill("Nye");
  await page.locator("#password").fill(PASSWORD);
}

const arrived = (page: Page): Promise<void> =>
  allowIfAsked(page, page.getByRole("heading", { level: 1, name: /signed in/i }));

test("open: an account is made, and the sign-in goes on to the application", async () => {
  await set("--mode", "open", "--terms-version", "2026-11", "--terms-url", "https://acme.example/terms");
  const here = await newPage();
  const { page } = here;
  await askFor(here, "nora@new.example");
  await page.locator("#password").fill("short");
  await page.locator("#terms-accept").check();
  await page.locator("#sign-up-complete").click();
  await page.locator("#sign-up-notice").waitFor();
  await look(here, /^Create your account/);
  await page.locator("#password").fill(PASSWORD);
  await page.locator("#terms-accept").check();
  await page.locator("#sign-up-complete").click();
  await arrived(page);
});

test("a new version of the terms is asked for before the application gets anything", async () => {
  await set("--terms-version", "2026-12", "--terms-url", "https://acme.example/terms");
  const here = await newPage();
  const { page } = here;
  await page.goto(`${demo.baseUrl}/demo/try`);
  await signIn(page, { email: "nora@new.example", password: PASSWORD });
  await look(here, /^Accept the terms/);
  await page.locator("#terms-decline").click();
  // Back at the application, which was told.
  await page.waitForURL(({ pathname }) => !pathname.endsWith("/terms"));
  assert.equal(await page.locator("#terms-submit").count(), 0);
  await page.goto(`${demo.baseUrl}/demo/try`);
  await page.locator("#terms-submit").click();
  await arrived(page);
});

test("approval: the page says what is waited for, and afterwards the account signs in", async () => {
  await set("--mode", "approval", "--no-terms");
  const here = await newPage();
  const { page } = here;
  await askFor(here, "otto@new.example");
  await page.locator("#sign-up-complete").click();
  await page.locator("#sign-up-waiting").waitFor();
  await look(here, /^Waiting for approval/);
  const list = await signet(["sign-up", "list", "--org", demo.org], server.settings);
  const items = list["items"] as Array<{ id: string }>;
  await signet(["sign-up", "approve", items[0]?.id ?? "", "--org", demo.org], server.settings);
  await page.reload();
  await look(here, /^Your account is created/);
  await page.goto(`${demo.baseUrl}/demo/try`);
  await signIn(page, { email: "otto@new.example", password: PASSWORD });
  await arrived(page);
});
