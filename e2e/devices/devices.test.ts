/** Devices in real Chromium, by keyboard: registered, enrolled with the code that was shown once, revoked, refused. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { newEcKey } from "../../packages/protocol/src/testing/test-certificate.ts";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import {
  csrOf,
  enrol,
  enrolmentOf,
  renew,
  type TestEnrolment,
} from "../../packages/server/src/testing/fixtures/enrolments.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { listRoutes } from "../../packages/server/src/testing/list-routes.ts";
import { type SentForms, sentForms } from "../console/sent-forms.ts";
import { signIn, signInByKeyboard } from "../journeys/sign-in-steps.ts";
import { launchBrowser } from "../support/browser.ts";
import {
  browserOptions,
  choose,
  enter,
  handName,
  hasScripts,
  pick,
  press,
  pressEnter,
  type,
} from "../support/hand.ts";
import { assertUsable, keepPictures, watchPage } from "../support/page-watch.ts";
import { startServerInProcess } from "../support/server-here.ts";
import type { RunningServer } from "../support/server-process.ts";

let browser: Browser;
let server: RunningServer;
let demo: DemoFile;
let manage: string;
let proxyUrl: string;
let forms: SentForms;
before(async () => {
  forms = sentForms(await listRoutes());
  browser = await launchBrowser();
  const proxyPort = await freePort();
  proxyUrl = `http://127.0.0.1:${proxyPort}`;
  server = await startServerInProcess({ settings: { SIGNET_PROXY_PORT: String(proxyPort) } });
  demo = await server.demo();
  manage = `${demo.baseUrl}/devices/manage/${demo.org}`;
});
after(async () => {
  await browser.close();
  await server.stop();
});

test("the start log names the URL of the device pages", () => {
  assert.ok(server.output().includes(manage));
});

/** What the device is told when it asks for its next certificate: 400 while it is too early, 401 when it is nobody. */
async function renewalOf(device: TestEnrolment): Promise<number> {
  const body = { csr: await csrOf(device.key) };
  return (await renew(`${proxyUrl}/oauth/${demo.org}/devices`, device.der, body)).status;
}

type Cleanup = { after(work: () => Promise<void>): void };

async function newPage(t: Cleanup, options: BrowserContextOptions) {
  const context = await browser.newContext(options);
  t.after(() => context.close());
  forms.hear(context);
  const page = await context.newPage();
  return { context, page, watch: await watchPage(page) };
}

test("creates an enrolment code, enrols and revokes a device, and requires a TPM", async (t) => {
  const { context, page, watch } = await newPage(t, browserOptions);
  const look = async (name: string, heading: string, level = 1) => {
    await page.getByRole("heading", { level, name: heading, exact: true }).waitFor();
    if (handName !== "keyboard") return;
    await assertUsable(page, name);
    assert.deepEqual(watch.faults, [], name);
    await keepPictures(page, `devices-${name}`);
    watch.reset();
  };
  await page.goto(manage);
  await signInByKeyboard(page, demo.admin);
  await look("empty", "Devices");

  // Leads to the form below.
  await press(page, "device-add");
  const name = "Till in light";
  await type(page, "name", name);
  await type(page, "replaces", "nonsense");
  await pressEnter(page);
  await page.locator("#replaces:focus").waitFor();
  await look("refused", "Devices");
  assert.equal(await page.locator("#name").inputValue(), name, "what was typed is kept");
  await type(page, "replaces", "");
  await enter(page, "device-register-submit");

  await look("code", `Enrolment code for ${name}`);
  const code = await page.locator("#enrollment-code").innerText();
  if (hasScripts) {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await press(page, "[data-copy=enrollment-code]");
    await page.locator("#copy-status").filter({ hasText: "Copied" }).waitFor();
    assert.equal(await page.evaluate("navigator.clipboard.readText()"), code);
  }
  assert.match(
    await page.locator("#enroll-command").innerText(),
    new RegExp(`${code} signet-device enroll `),
  );
  await enter(page, "once-done");
  await look("waiting", "Devices");
  assert.ok(!(await page.content()).includes(code), "shown once");

  const key = newEcKey();
  const answer = await enrol(demo.issuer, code, key);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  const device = enrolmentOf(answer, key);
  assert.equal((await enrol(demo.issuer, code)).body["error"], "invalid_code", "it enrols once");
  assert.equal(await renewalOf(device), 400, "too early, but known");

  await page.goto(manage);
  await type(page, "search", "LIGHT");
  await pressEnter(page);
  await page.locator("#search-all").waitFor();
  await look("listed", "Devices");
  assert.match(await page.locator(`#device-${device.deviceId}`).innerText(), /Active/);
  await enter(page, `device-revoke-${device.deviceId}`);
  // With scripts the question is a dialog over the list, else a page.
  await look("revoke", `Revoke ${name}?`, hasScripts ? 2 : 1);
  assert.equal(await page.locator("dialog #device-revoke-confirm").count(), hasScripts ? 1 : 0);
  await pick(page, "reason", "keyCompromise");
  await enter(page, "device-revoke-confirm");
  await page.getByText("Device revoked.").waitFor();
  await look("revoked", "Devices");
  assert.match(await page.locator(`#device-${device.deviceId}`).innerText(), /Revoked/);
  assert.equal(await page.locator(`#device-revoke-${device.deviceId}`).count(), 0);
  assert.equal(await renewalOf(device), 401, "refused at its next request");

  await enter(page, 'a[href$="/policy"]');
  await look("policy", "Attestation policy");
  await choose(page, "attestation", "required");
  await enter(page, "policy-save");
  await page.locator("#done-notice").waitFor();
  assert.ok(await page.locator("#attestation-required").isChecked());
  await page.goto(manage);
  await type(page, "name", "Till without a TPM");
  await enter(page, "device-register-submit");
  const next = await page.locator("#enrollment-code").innerText();
  assert.equal((await enrol(demo.issuer, next)).body["error"], "attestation_required");
});

test("without JavaScript: creates, shows and withdraws an enrolment code, without dead buttons", async (t) => {
  const { page } = await newPage(t, { ...browserOptions, javaScriptEnabled: false });
  await page.goto(manage);
  await signInByKeyboard(page, demo.admin);
  await type(page, "name", "Plain");
  await enter(page, "device-register-submit");
  const code = await page.locator("#enrollment-code").innerText();
  const copying = await page.locator("[data-copy]").all();
  assert.notEqual(copying.length, 0);
  for (const button of copying) assert.equal(await button.isVisible(), false);
  await enter(page, "once-done");
  await enter(page, '[aria-label="Withdraw the code for Plain"]');
  await enter(page, "code-withdraw-confirm");
  await page.getByText("Code withdrawn.").waitFor();
  assert.equal((await enrol(demo.issuer, code)).body["error"], "invalid_code");
});

if (hasScripts)
  test("an enrolment code is withdrawn where it is listed; who cancels keeps it", async (t) => {
    const { page } = await newPage(t, browserOptions);
    await page.goto(manage);
    await signInByKeyboard(page, demo.admin);
    await type(page, "name", "In place");
    await enter(page, "device-register-submit");
    const code = await page.locator("#enrollment-code").innerText();
    await enter(page, "once-done");
    const opener = '[aria-label="Withdraw the code for In place"]';
    await enter(page, opener);
    await page.locator("dialog #code-withdraw-confirm").waitFor();
    await press(page, "act-cancel");
    await page.locator("dialog").waitFor({ state: "detached" });
    await enter(page, opener);
    await enter(page, "dialog #code-withdraw-confirm");
    await page.getByText("Code withdrawn.").waitFor();
    assert.equal((await enrol(demo.issuer, code)).body["error"], "invalid_code");
  });

test("denies a standard user on an accessible page", async (t) => {
  const { page, watch } = await newPage(t, {});
  await page.goto(manage);
  await signIn(page, demo.user);
  await page.getByText("Only administrators of the organisation can open this page.").waitFor();
  await assertUsable(page, "not an administrator");
  assert.deepEqual(watch.faults, []);
});

test("every form of the device pages was submitted", () => {
  assert.deepEqual(forms.notSent("devices", hasScripts), []);
});
