/** A forgotten password, in real Chromium: from the sign-in page over the mailbox to the application. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { startMailServer, type TestMailServer } from "../../packages/server/src/testing/fakes/mail-server.ts";
import { launchBrowser } from "../support/browser.ts";
import { assertUsable, type PageWatch, watchPage } from "../support/page-watch.ts";
import { startServerBesideCommands, startServerInProcess } from "../support/server-here.ts";
import type { RunningServer } from "../support/server-process.ts";
import { commandsApplied, signet } from "../support/signet-command.ts";
import { allow, allowIfAsked, signIn } from "./sign-in-steps.ts";

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

async function newPage(options: BrowserContextOptions = {}): Promise<{ page: Page; watch: PageWatch }> {
  const page = await (await browser.newContext(options)).newPage();
  return { page, watch: await watchPage(page) };
}

/** What everyone needs of every page: usable, nothing foreign asked for, no policy broken. */
function looker({ page, watch }: { page: Page; watch: PageWatch }) {
  return async (heading: string | RegExp) => {
    await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    const foreign = watch.requests
      .map((request) => request.url())
      .filter((url) => !url.startsWith(demo.baseUrl));
    assert.deepEqual(
      foreign.filter((url) => !url.startsWith("data:")),
      [],
    );
    await assertUsable(page, String(heading));
    assert.deepEqual(watch.faults, []);
    watch.reset();
  };
}

/** Looked at anew until these mails are there: they are sent a moment after what they tell of. */
async function openMailbox(page: Page, ...subjects: string[]): Promise<void> {
  await eventually("the mail is there", async () => {
    await page.goto(`${demo.baseUrl}/demo/mailbox`);
    const counts = subjects.map((name) => page.getByRole("link", { name }).count());
    return (await Promise.all(counts)).every((count) => count > 0);
  });
}

test("resets a forgotten password by email, signs in, and sends the notices", async () => {
  const { page, watch } = await newPage();
  const look = looker({ page, watch });
  const password = "a quiet harbour at night";
  await page.goto(`${demo.baseUrl}/demo/try`);
  await page.locator("#forgot-password").click();
  await look(/^Forgot your password\?/);
  await page.locator("#email").fill("nobody");
  await page.evaluate("document.querySelector('form').noValidate = true");
  await page.locator("#recovery-submit").click();
  await page.locator("#recovery-notice").waitFor();
  await look(/^Forgot your password\?/);
  await page.locator("#email").fill(demo.user.email);
  await page.locator("#recovery-submit").click();
  await look("Check your email");

  await openMailbox(page, "Reset your password for Demo");
  await look("Mailbox");
  await page.getByRole("link", { name: "Reset your password for Demo" }).first().click();
  await look("Reset your password for Demo");
  await page.locator("#mail-action").click();
  await look(/^Set a new password/);
  await page.locator("#password").fill("short");
  await page.locator("#new-password-submit").click();
  await page.locator("#new-password-notice").waitFor();
  await look(/^Set a new password/);
  assert.equal(await page.locator("#password").inputValue(), "");
  await page.locator("#password").fill(password);
  await page.locator("#new-password-submit").click();
  await look("Password changed");

  await page.locator("#recovery-continue").click();
  await signIn(page, { email: demo.user.email, password });
  await allowIfAsked(page, page.getByRole("heading", { name: "You’re signed in" }));

  await openMailbox(page, "Your password for Demo was changed", "New sign-in to Demo");
  await page.getByRole("link", { name: "New sign-in to Demo" }).first().click();
  await look("New sign-in to Demo");
  assert.match(await page.locator("#mail").innerText(), /Chrome, Linux/);
  watch.reset();
  await page.goBack();
  await page.getByRole("link", { name: "Reset your password for Demo" }).first().click();
  await page.locator("#mail-action").click();
  await look("This link no longer works");
  await page.locator("#recovery-again").click();
  await look(/^Forgot your password\?/);
  await page.context().close();
});

test("confirms an unverified email address and continues to the application", async () => {
  const { settings } = server;
  const policy = (value: string) =>
    signet(["org", "set", "--org", demo.org, "--verified-email", value], settings);
  const email = "new@demo.example";
  await policy("required");
  await commandsApplied(demo, settings);
  const made = await signet(["user", "create", "--org", demo.org, "--email", email, "--generate"], settings);
  const password = String(made["password"]);
  const { page, watch } = await newPage();
  const look = looker({ page, watch });
  await page.goto(`${demo.baseUrl}/demo/try`);
  await signIn(page, { email, password });
  await look(/^Confirm your email address/);
  await page.locator("#verify-email-send").click();
  await look("Check your email");
  await openMailbox(page, "Confirm your email address for Demo");
  await page.getByRole("link", { name: "Confirm your email address for Demo" }).click();
  await page.locator("#mail-action").click();
  await look(/^Confirm your email address/);
  await page.locator("#verify-email-confirm").click();
  await look("Email address confirmed");
  await page.locator("#recovery-continue").click();
  await allow(page);
  await page.getByRole("heading", { name: "You’re signed in" }).waitFor();
  await page.context().close();
  await policy("optional");
});

test("logs every email by its template, and no link", () => {
  const lines = server.logLines();
  assert.doesNotMatch(JSON.stringify(lines), /sgn_ua_|@demo\.example|harbour/);
  const mails = lines.filter(({ msg }) => msg === "mail");
  assert.ok(mails.some(({ template }) => template === "ResetPassword"));
  for (const { outcome } of mails) assert.equal(outcome, "in the mailbox");
});

test("sends email by SMTP", async (t) => {
  const smtp: TestMailServer = await startMailServer();
  const settings = { SMTP_URL: `smtp://127.0.0.1:${smtp.port}`, SIGNET_MAIL_FROM: "no-reply@id.example" };
  const sending = await startServerInProcess({ settings });
  t.after(async () => {
    await sending.stop();
    await smtp.close();
  });
  const { org, user } = await sending.demo();
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${sending.baseUrl}/oauth/${org}/recovery`);
  await page.locator("#email").fill(user.email);
  await page.locator("#recovery-submit").click();
  const mail = await smtp.next();
  assert.deepEqual(mail.recipients, [user.email]);
  const link = /^(http\S+\/reset\/\S+)$/m.exec(mail.text)?.[1] ?? "";
  await page.goto(link);
  await page.locator("#new-password-submit").waitFor();
  // The mail itself, as a mail program shows it.
  await page.goto("about:blank");
  await page.setContent(mail.html);
  // A mail leaves the ground to the reader's program, and axe takes what has none for white.
  await page.addStyleTag({ content: "html { background: Canvas }" });
  await assertUsable(page, "the mail");
  await page.context().close();
});
