/** Second factors in real Chromium: added, shown, remembered, and a passkey in place of the password (issue 3, point 2). */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { generateSync } from "otplib";
import type { Browser, Page } from "playwright-core";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { doubleClick } from "../console/double-click.ts";
import { launchBrowser } from "../support/browser.ts";
import { assertUsable, type PageWatch, watchPage } from "../support/page-watch.ts";
import { startServerBesideCommands } from "../support/server-here.ts";
import type { RunningServer } from "../support/server-process.ts";
import { commandsApplied, signet } from "../support/signet-command.ts";
import { allowIfAsked, type Person, signIn } from "./sign-in-steps.ts";
import { addVirtualAuthenticator } from "./virtual-authenticator.ts";

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

const command = (...args: string[]) => signet(args, server.settings);
const securityUrl = () => `${demo.issuer}/account/security`;

async function newPerson(name: string): Promise<Person> {
  const email = `${name}@demo.example`;
  const args = ["--org", demo.org, "--email", email, "--verified", "--generate"];
  const { password } = await command("user", "create", ...args);
  return { email, password: String(password) };
}

async function newPage(t: {
  after(work: () => Promise<void>): void;
}): Promise<{ page: Page; watch: PageWatch }> {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  return { page, watch: await watchPage(page) };
}

const heading = (page: Page, name: RegExp) => page.getByRole("heading", { level: 1, name }).waitFor();

async function signOut(page: Page): Promise<void> {
  await page.goto(`${demo.issuer}/end_session`);
  await page.locator("#logout-confirm").click();
  await heading(page, /^You’re signed out$/);
}

/** The claims that the demo application gets for who is signed in, or signs in on the way. */
async function claimsOf(page: Page): Promise<{ acr: unknown; amr: unknown; email: unknown; sub: unknown }> {
  const shown = page.locator("section:has(#id-token-title) pre").nth(1);
  await allowIfAsked(page, shown);
  const { acr, amr, email, sub } = JSON.parse(await shown.innerText()) as Record<string, unknown>;
  return { acr, amr, email, sub };
}

/** @param steps from now; the one used first is the earlier, whichever half minute ends between them */
const codeOf = (secret: string, steps = 0): string =>
  generateSync({ secret, epoch: Math.floor(Date.now() / 1000) + steps * 30 });

test("an authenticator app: enrolled, required, single use, trusted browser", async (t) => {
  const { page, watch } = await newPage(t);
  const person = await newPerson("app");
  await page.goto(securityUrl());
  await signIn(page, person);
  await assertUsable(page, "security, empty");
  await page.locator("#totp-setup").click();
  await page.locator("svg.qr").waitFor();
  await assertUsable(page, "authenticator");
  const key = String(await page.locator("#totp-key").textContent()).replaceAll(" ", "");
  assert.match(key, /^[A-Z2-7]{32}$/);
  await page.locator("#code").fill(codeOf(key));
  // As some people press everything: a code is good once, and they are not told that theirs is not.
  await doubleClick(page, "#totp-confirm");
  await heading(page, /^Save your recovery codes$/);
  await assertUsable(page, "recovery codes");
  const recovery = (await page.locator("#recovery-codes").innerText()).trim().split("\n");
  assert.equal(recovery.length, 10);
  await page.locator("#codes-kept").click();
  await page.getByText("Authenticator app set up.").waitFor();
  await page.getByText("10 of 10 codes left.").waitFor();
  assert.deepEqual(watch.faults, []);

  await signOut(page);
  await page.goto(`${demo.baseUrl}/demo/try`);
  await signIn(page, person);
  await heading(page, /^Enter the code from your app/);
  await assertUsable(page, "two factors");
  await page.locator("#code").fill("000000");
  await page.locator("#twofactor-submit").click();
  await page.getByText("That code is wrong, expired or already used.").waitFor();
  await page.locator("#choose-recovery").click();
  await page.locator("#code").fill(String(recovery[0]));
  await page.locator("#remember").check();
  await page.locator("#twofactor-submit").click();
  const claims = await claimsOf(page);
  assert.deepEqual([claims.acr, claims.amr], ["urn:signet:acr:mfa", ["pwd", "mfa"]]);

  await signOut(page);
  await page.goto(securityUrl());
  await signIn(page, person);
  // To look, and to change anything, a remembered browser is not enough.
  await heading(page, /^Enter the code from your app/);
  await page.locator("#code").fill(codeOf(key, 1));
  await doubleClick(page, "#twofactor-submit");
  await page.getByText("9 of 10 codes left.").waitFor();
  await page.getByText("This browser").waitFor();
  await assertUsable(page, "security");

  await signOut(page);
  await page.goto(`${demo.baseUrl}/demo/try`);
  await signIn(page, person);
  const remembered = await claimsOf(page);
  assert.deepEqual([remembered.acr, remembered.amr], ["urn:signet:acr:pwd", ["pwd"]]);
  assert.deepEqual(watch.faults, []);
});

test("a double click on the password form changes the password once, without an error", async (t) => {
  const { page } = await newPage(t);
  const person = await newPerson("twice");
  await page.goto(securityUrl().replace(/security$/, "password"));
  await signIn(page, person);
  await page.locator("#present").fill(person.password);
  await page.locator("#password").fill("seven loud geese");
  await doubleClick(page, "#password-save");
  await page.locator("#password-change").waitFor();
});

test("a passkey: added, used as a second factor, and used alone", async (t) => {
  const { page, watch } = await newPage(t);
  const authenticator = await addVirtualAuthenticator(page);
  const person = await newPerson("key");
  await authenticator.attend(false);
  await page.goto(securityUrl());
  await signIn(page, person);
  await page.locator("#passkey-add").click();
  await assertUsable(page, "new passkey");
  await authenticator.attend(true);
  await page.locator("#name").fill("Work laptop");
  await page.locator("#passkey-create").click();
  await heading(page, /^Save your recovery codes$/);
  await page.locator("#codes-kept").click();
  await page.getByText("Work laptop").waitFor();
  assert.equal((await authenticator.credentials()).length, 1);

  await signOut(page);
  await authenticator.attend(false);
  await page.goto(`${demo.baseUrl}/demo/try`);
  await signIn(page, person);
  await heading(page, /^Use your passkey/);
  await assertUsable(page, "two factors, passkey");
  await authenticator.attend(true);
  await page.locator("#twofactor-submit").click();
  const second = await claimsOf(page);
  assert.deepEqual([second.acr, second.amr], ["phr", ["pwd", "hwk", "user", "mfa"]]);

  await signOut(page);
  await authenticator.attend(false);
  await page.goto(`${demo.baseUrl}/demo/try`);
  await page.locator("#passkey-submit").waitFor();
  await assertUsable(page, "sign-in with passkeys");
  await authenticator.attend(true);
  // The list under the email field: the virtual authenticator chooses from it, or else the button does.
  const clicked = page.locator("#passkey-submit").click();
  clicked.catch(() => {});
  const alone = await claimsOf(page);
  assert.deepEqual([alone.acr, alone.amr, alone.sub], ["phr", ["hwk", "user", "mfa"], second.sub]);
  assert.deepEqual(watch.faults, []);
});

test("conditional UI offers the passkey without a click", async (t) => {
  const { page, watch } = await newPage(t);
  const authenticator = await addVirtualAuthenticator(page);
  const person = await newPerson("offered");
  await page.goto(`${securityUrl()}/passkeys`);
  await authenticator.attend(false);
  await signIn(page, person);
  await page.locator("#passkey-create").waitFor();
  await authenticator.attend(true);
  await page.locator("#passkey-create").click();
  await page.locator("#codes-kept").click();
  await page.locator("#passkey-add").waitFor();
  await signOut(page);
  assert.equal(await page.evaluate("PublicKeyCredential.isConditionalMediationAvailable()"), true);
  await page.goto(`${demo.baseUrl}/demo/try`);
  const { acr } = await claimsOf(page);
  assert.equal(acr, "phr");
  assert.deepEqual(watch.faults, []);
});

test("a declined passkey keeps the page and shows the reason", async (t) => {
  const { page } = await newPage(t);
  const person = await newPerson("declined");
  await page.goto(`${demo.baseUrl}/demo/try`);
  // No authenticator at all: what the browser answers is that there is none.
  await page.evaluate(
    "navigator.credentials.get = () => Promise.reject(new DOMException('no', 'NotAllowedError'))",
  );
  await page.locator("#passkey-submit").click();
  await page.getByRole("alert").getByText("No passkey was used.").waitFor();
  await assertUsable(page, "no passkey");
  await signIn(page, person);
  assert.equal((await claimsOf(page)).acr, "urn:signet:acr:pwd");
});

test("without JavaScript: an authenticator app is enrolled and required, and no passkey is offered", async (t) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  t.after(() => context.close());
  const page = await context.newPage();
  const person = await newPerson("plain");
  await page.goto(`${securityUrl()}/authenticator`);
  assert.equal(await page.locator("#passkey-submit").isVisible(), false);
  await signIn(page, person);
  const key = String(await page.locator("#totp-key").textContent()).replaceAll(" ", "");
  await page.locator("#code").fill(codeOf(key));
  await page.locator("#totp-confirm").click();
  await page.locator("#codes-kept").click();
  await page.getByText("10 of 10 codes left.").waitFor();
  await signOut(page);
  await page.goto(securityUrl());
  await signIn(page, person);
  await page.locator("#code").fill(codeOf(key, 1));
  await page.locator("#twofactor-submit").click();
  await page.getByText("10 of 10 codes left.").waitFor();
});

test("a required second factor is enrolled between password and application", async (t) => {
  const { page, watch } = await newPage(t);
  const person = await newPerson("new");
  await command("org", "set", "--org", demo.org, "--second-factor", "required");
  await commandsApplied(demo, server.settings);
  t.after(async () => {
    await command("org", "set", "--org", demo.org, "--second-factor", "optional");
  });
  const authenticator = await addVirtualAuthenticator(page);
  await authenticator.attend(false);
  await page.goto(`${demo.baseUrl}/demo/try`);
  await signIn(page, person);
  await heading(page, /^Set up an authenticator app/);
  await assertUsable(page, "enrolment");
  await page.locator("#choose-passkey").click();
  await heading(page, /^Add a passkey/);
  await assertUsable(page, "enrolment, passkey");
  await authenticator.attend(true);
  await page.locator("#twofactor-submit").click();
  await heading(page, /^Save your recovery codes$/);
  await page.locator("#codes-kept").click();
  assert.equal((await claimsOf(page)).acr, "phr");
  assert.deepEqual(watch.faults, []);

  // The last one has to stay, and an operator can take it away.
  await page.goto(securityUrl());
  await page.getByRole("link", { name: /^Edit the passkey/ }).click();
  await page.locator("#passkey-remove").click();
  await page.getByText("You can’t remove your only second factor").waitFor();
  await assertUsable(page, "passkey that has to stay");
  await command("user", "reset-factors", "--org", demo.org, "--email", person.email);
  await page.goto(securityUrl());
  await page.getByText("You get ten recovery codes with your first second factor.").waitFor();
});

test("a lost second factor: the codes are downloaded, the administrators are asked and reset, the user starts anew", async (t) => {
  const { page, watch } = await newPage(t);
  const person = await newPerson("lost");
  await page.goto(`${securityUrl()}/authenticator`);
  await signIn(page, person);
  const key = String(await page.locator("#totp-key").textContent()).replaceAll(" ", "");
  await page.locator("#code").fill(codeOf(key));
  await page.locator("#totp-confirm").click();
  await heading(page, /^Save your recovery codes$/);
  const shown = (await page.locator("#recovery-codes").innerText()).trim();
  const downloading = page.waitForEvent("download");
  await page.locator("#codes-download").click();
  const download = await downloading;
  assert.equal(download.suggestedFilename(), "recovery-codes.txt");
  assert.equal((await readFile(await download.path(), "utf8")).trim(), shown);
  assert.ok(await page.locator("#codes-print").isVisible());
  await page.emulateMedia({ media: "print" });
  assert.ok(await page.locator("#recovery-codes").isVisible());
  assert.ok(!(await page.locator("#codes-print").isVisible()), "nothing to press on paper");
  await page.emulateMedia({ media: "screen" });
  await page.locator("#codes-kept").click();

  await signOut(page);
  await page.goto(`${demo.issuer}/account`);
  await signIn(page, person);
  await page.locator("#factors-lost").click();
  await heading(page, /^Ask for a reset$/);
  await assertUsable(page, "lost factors");
  await page.locator("#lost-request").click();
  await heading(page, /^Request sent$/);
  await assertUsable(page, "reset requested");
  assert.deepEqual(watch.faults, []);

  const { page: desk } = await newPage(t);
  await desk.goto(`${demo.baseUrl}/oauth/manage/${demo.org}`);
  await signIn(desk, demo.admin);
  await desk.getByRole("link", { name: `${person.email} lost their second factors` }).click();
  await desk.locator("#reset-requested").waitFor();
  await desk.locator("#factors-reset").click();
  await desk.locator("#reset-confirm").click();
  await desk.getByText("Second factors reset").first().waitFor();
  assert.equal(await desk.locator("#reset-requested").count(), 0);

  await page.locator("#lost-sign-in").click();
  await signIn(page, person);
  await page.locator("#my-factor", { hasText: "Off" }).waitFor();
  await assertUsable(page, "home");
  await page.locator("#who-open").click();
  await page.locator("#nav-sign-out").click();
  await heading(page, /^You’re signed out$/);
  await assertUsable(page, "signed out");
  await page.locator("#to-account").click();
  await page.locator("#login-submit").waitFor();
});
