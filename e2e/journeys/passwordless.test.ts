/** Without a password, in real Chromium: the address first, then a code, a link, a passkey that is offered. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { launchBrowser } from "../support/browser.ts";
import { assertUsable, keepPictures, type PageWatch, watchPage } from "../support/page-watch.ts";
import { startServerBesideCommands } from "../support/server-here.ts";
import type { RunningServer } from "../support/server-process.ts";
import { commandsApplied, signet } from "../support/signet-command.ts";
import { allowIfAsked } from "./sign-in-steps.ts";
import { addVirtualAuthenticator } from "./virtual-authenticator.ts";

let pictures = 0;
let browser: Browser;
let server: RunningServer;
let demo: DemoFile;
before(async () => {
  browser = await launchBrowser();
  server = await startServerBesideCommands();
  demo = await server.demo();
  const methods = ["--sign-in-methods", "emailCode,magicLink,password,passkey"];
  await set(...methods);
});
after(async () => {
  await browser.close();
  await server.stop();
});

async function set(...options: string[]): Promise<void> {
  await signet(["org", "set", "--org", demo.org, ...options], server.settings);
  await commandsApplied(demo, server.settings);
}

async function newPage(options: BrowserContextOptions = {}): Promise<{ page: Page; watch: PageWatch }> {
  const page = await (await browser.newContext(options)).newPage();
  return { page, watch: await watchPage(page) };
}

async function look({ page, watch }: { page: Page; watch: PageWatch }, heading: string | RegExp) {
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
  await assertUsable(page, String(heading));
  await keepPictures(page, `passwordless-${pictures++}`);
  assert.deepEqual(watch.faults, []);
  watch.reset();
}

/** To the second page of the sign-in. */
async function identify(page: Page): Promise<void> {
  await page.goto(`${demo.baseUrl}/demo/try`);
  await page.locator("#email").fill(demo.user.email);
  await page.locator("#login-submit").click();
  await page.locator("#email-code-send").waitFor();
}

/** Opens the newest mail of this subject in a page of its own. */
async function openMail(page: Page, subject: RegExp): Promise<Page> {
  const mailbox = await page.context().newPage();
  await eventually("the mail is there", async () => {
    await mailbox.goto(`${demo.baseUrl}/demo/mailbox`);
    return (await mailbox.getByRole("link", { name: subject }).count()) > 0;
  });
  await mailbox.getByRole("link", { name: subject }).first().click();
  await mailbox.getByRole("heading", { level: 1, name: subject }).waitFor();
  return mailbox;
}

const arrived = (page: Page): Promise<void> =>
  allowIfAsked(page, page.getByRole("heading", { level: 1, name: /signed in/i }));

test("signs in by a code, and meets a wrong one", async () => {
  const here = await newPage();
  const { page } = here;
  await page.goto(`${demo.baseUrl}/demo/try`);
  await look(here, /^Sign in to/);
  assert.equal(await page.locator("#password").count(), 0);
  await identify(page);
  await look(here, /^Sign in to/);
  await page.locator("#email-code-send").click();
  await look(here, /^Check your email/);
  await page.locator("#email-code").fill("000000");
  await page.locator("#email-code-submit").click();
  await page.locator("#email-code-notice").waitFor();
  await look(here, /^Check your email/);
  const mail = await openMail(page, /^Your code for/);
  const code = /\b\d{6}\b/.exec(await mail.locator("body").innerText())?.[0] ?? "";
  await page.locator("#email-code").fill(code);
  await page.locator("#email-code-submit").click();
  await arrived(page);
});

test("without JavaScript, a code signs in too", async () => {
  const { page } = await newPage({ javaScriptEnabled: false });
  await identify(page);
  await page.locator("#email-code-send").click();
  const mail = await openMail(page, /^Your code for/);
  const code = /\b\d{6}\b/.exec(await mail.locator("body").innerText())?.[0] ?? "";
  await page.locator("#email-code").fill(code);
  await page.locator("#email-code-submit").click();
  await arrived(page);
});

test("signs in by a link where it was asked for; elsewhere the link shows the code", async () => {
  const here = await newPage();
  const { page } = here;
  await identify(page);
  await page.locator("#magic-link-send").click();
  await look(here, /^Check your email/);
  const mail = await openMail(page, /^Sign in to/);
  const link = (await mail.locator("#mail-action").getAttribute("href")) ?? "";
  const elsewhere = await newPage();
  await elsewhere.page.goto(link);
  await look(elsewhere, "Your sign-in code");
  assert.match(await elsewhere.page.locator("#magic-link-code").innerText(), /^\d{6}$/);
  await page.goto(link);
  await look(here, /^Sign in to/);
  await page.locator("#magic-link-continue").click();
  await arrived(page);
});

test("a passkey is offered after the code, put off once, and added", async () => {
  await set("--passkey-enrolment", "offer");
  const withCode = async (page: Page) => {
    await identify(page);
    await page.locator("#email-code-send").click();
    await page.locator("#email-code").waitFor();
    const mail = await openMail(page, /^Your code for/);
    const code = /\b\d{6}\b/.exec(await mail.locator("body").innerText())?.[0] ?? "";
    await mail.close();
    await page.locator("#email-code").fill(code);
    await page.locator("#email-code-submit").click();
    await page.locator("#passkey-offer-later").waitFor();
  };
  const first = await newPage();
  await withCode(first.page);
  await look(first, /^Add a passkey/);
  await first.page.locator("#passkey-offer-later").click();
  await arrived(first.page);
  const { page } = await newPage();
  const authenticator = await addVirtualAuthenticator(page);
  await withCode(page);
  await page.locator("#passkey-offer-add").click();
  await page.locator("#codes-kept").click();
  await arrived(page);
  assert.equal((await authenticator.credentials()).length, 1);
});
