/** What an administrator sets for the organisation, and looks up in it, by keyboard alone, in real Chromium (issue 8). */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { generateSync } from "otplib";
import type { Page } from "playwright-core";
import { findOrganisation } from "../../packages/server/src/core/organisations/organisations.store.ts";
import { listCustomScopes } from "../../packages/server/src/core/scopes/scopes.store.ts";
import { createUser } from "../../packages/server/src/core/users/users.ts";
import { PASSWORD } from "../../packages/server/src/testing/test-service.ts";
import { signInByKeyboard } from "../journeys/sign-in-steps.ts";
import { choose, enter, hasScripts, isReady, pick, press, type } from "../support/hand.ts";
import { confirmByName, doneText, journeys } from "./console-journey.ts";

const MINUTE_MS = 60_000;
let ahead = 0;
const { fixture, service, visitor, assertAllSent } = journeys({ clock: () => Date.now() + ahead });

const organisation = () => findOrganisation(service().database.query, fixture().orgId);

test("requiring a second factor makes the administrator and the next user enrol one", async (t) => {
  const strict = { email: "odile@northwind.example", password: PASSWORD };
  const name = { firstname: "Odile", surname: "Strict", role: "Administrator", emailVerified: true } as const;
  const found = await organisation();
  assert.ok(found);
  await createUser(service(), { organisation: found, ...strict, ...name, actor: "operator" });
  const visit = await visitor(t);
  const { page } = visit;
  await visit.open("/settings/policies");
  await signInByKeyboard(page, strict);
  await choose(page, "secondFactor", "required");
  await enter(page, "policies-save");
  await visit.at(/^Set up an authenticator app/);
  await press(page, "details summary");
  const secret = (await page.locator("#totp-key").innerText()).replaceAll(/\s/g, "");
  await type(page, "code", generateSync({ secret }));
  await enter(page, "twofactor-submit");
  await enter(page, "codes-kept");
  assert.equal(await doneText(page), "Policies saved.");
  assert.equal((await organisation())?.settings.secondFactor, "required");
  const next = await visitor(t);
  await next.open(`/oauth/${fixture().orgId}/account/profile`);
  await signInByKeyboard(next.page, fixture().user);
  await next.at(/^Set up an authenticator app/);

  await enter(page, "policies-edit");
  await choose(page, "secondFactor", "optional");
  await enter(page, "policies-save");
  assert.equal(await doneText(page), "Policies saved.");
  assert.equal((await organisation())?.settings.secondFactor, "optional");
});

test("password policy: a validation error, then enforced for the next password", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  await visit.open("/settings/policies");
  await type(page, "passwordMinLength", "3");
  await pick(page, "defaultLocale", "da");
  await enter(page, "policies-save");
  await isReady(page, "passwordMinLength");
  assert.equal(await page.locator("#defaultLocale").inputValue(), "da", "what was chosen is kept");
  await type(page, "passwordMinLength", "21");
  await pick(page, "defaultLocale", "en");
  await enter(page, "policies-save");
  assert.equal(await doneText(page), "Policies saved.");
  assert.equal((await organisation())?.settings.passwordMinLength, 21);
  await visit.open(`/oauth/${fixture().orgId}/account/password`);
  assert.match(await page.locator("#content").innerText(), /21/);
});

test("sign-up and terms: a fault at its field, then saved", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  await visit.open("/settings");
  await enter(page, "sign-up-edit");
  await visit.look("Sign-up and terms");
  await choose(page, "mode", "approval");
  await type(page, "version", "2026-11");
  await enter(page, "sign-up-save");
  await isReady(page, "url");
  await type(page, "url", "https://acme.example/terms");
  await enter(page, "sign-up-save");
  assert.equal(await doneText(page), "Sign-up and terms saved.");
  const signUp = (await organisation())?.settings.signUp;
  assert.deepEqual([signUp?.mode, signUp?.terms?.version], ["approval", "2026-11"]);
  await enter(page, "sign-up-edit");
  await choose(page, "mode", "off");
  await type(page, "version", "");
  await type(page, "url", "");
  await enter(page, "sign-up-save");
  assert.equal(await doneText(page), "Sign-up and terms saved.");
});

test("the overview for another period, and its charts as tables", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  await visit.open("");
  await enter(page, "range-30d");
  assert.equal(await page.locator("#range-30d").getAttribute("aria-current"), "true");
  const charts = await page.locator("figure.chart").all();
  assert.equal(charts.length, 4, "sign-ins, tokens, tokens by application, agents");
  for (const chart of charts) {
    const id = await chart.getAttribute("id");
    const numbers = page.locator(`#${id} .chart-numbers table`);
    assert.equal(await numbers.isVisible(), false);
    await press(page, `#${id} .chart-numbers summary`);
    await numbers.waitFor();
  }
  assert.equal(
    await page.evaluate("document.documentElement.scrollWidth - innerWidth"),
    0,
    "no wider than the screen",
  );
});

/** The ids of the organisation's ES256 keys. */
async function published(): Promise<string[]> {
  const response = await fetch(`${fixture().baseUrl}/oauth/${fixture().orgId}/.well-known/jwks.json`);
  const { keys } = (await response.json()) as { keys: Array<{ kid: string; alg: string }> };
  return keys.filter(({ alg }) => alg === "ES256").map(({ kid }) => kid);
}

test("rotates a signing key, then revokes both keys", async (t) => {
  const before = await published();
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  await visit.open("/signing-keys");
  await enter(page, "rotate-ES256");
  await enter(page, "key-rotate");
  await page.locator("#done-notice").waitFor();
  const after = await published();
  assert.notEqual(before.length, 0);
  assert.equal(after.length, before.length + 1);
  assert.ok(
    before.every((kid) => after.includes(kid)),
    "the one before goes on",
  );
  const added = after.find((kid) => !before.includes(kid));
  assert.equal(await page.locator(`#key-${added}`).count(), 1);

  await enter(page, "revoke-ES256");
  const name = (await organisation())?.name ?? "";
  const isThere = async () => (await published()).length === after.length;
  await confirmByName(page, { button: "key-revoke", name }, isThere);
  await page.locator("#done-notice").waitFor();
  const [successor, ...others] = await published();
  assert.deepEqual(others, []);
  assert.ok(successor && !after.includes(successor));
  await visit.at("Signing keys");
});

test("rotates the device CA: the new one issues, and both are trusted", async (t) => {
  const certificates = async () => {
    const answer = await fetch(`${fixture().baseUrl}/oauth/${fixture().orgId}/devices/ca.pem`);
    return (await answer.text()).split("-----BEGIN CERTIFICATE-----").slice(1);
  };
  const before = await certificates();
  const { page, open } = await visitor(t, fixture().admin);
  await open("/signing-keys");
  await enter(page, "ca-rotate");
  await enter(page, "device-ca-rotate");
  await page.locator("#done-notice").waitFor();
  const after = await certificates();
  assert.equal(after.length, before.length + 1);
  assert.ok(before.every((certificate) => after.includes(certificate)));
  assert.equal(await page.locator("[id^=generation-]").count(), after.length);
});

/** What the browser gets for Enter on a link to a file. */
async function download(page: Page, target: string): Promise<{ name: string; text: string }> {
  const [file] = await Promise.all([page.waitForEvent("download"), press(page, target)]);
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), "utf8") };
}

test("the audit log: filtered, one event, exported as CSV and JSON Lines", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  await visit.open("/audit-log");
  await type(page, "search", fixture().admin.email);
  await pick(page, "category", "signIn");
  await enter(page, "search-submit");
  await pick(page, "event", "session.started");
  await enter(page, "search-submit");
  const rows = page.locator(".audit-events tbody tr");
  assert.ok((await rows.count()) > 0);
  for (const row of await rows.all()) assert.match(await row.innerText(), /Signed in[\s\S]*ada@northwind/);

  await enter(page, "filter-save");
  await type(page, "name", "Ada's sign-ins");
  await enter(page, "filter-submit");
  assert.match(await page.locator("#done-notice").innerText(), /Filter saved/);
  assert.equal(await page.locator(".chip[aria-current]").innerText(), "Ada's sign-ins");

  const csv = await download(page, "export-csv");
  assert.match(csv.name, /^audit-\d{4}-\d\d-\d\d\.csv$/);
  const [head = "", ...lines] = csv.text.trim().split(/\r?\n/);
  assert.match(head, /actor/);
  assert.equal(lines.length, await rows.count());
  const jsonl = await download(page, "export-jsonl");
  const events = jsonl.text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.equal(events.length, lines.length);
  for (const { actor, action } of events)
    assert.deepEqual([actor, action], [`user:${fixture().admin.id}`, "session.started"]);

  if (hasScripts) {
    await press(page, ".audit-events tbody a");
    await page.locator("#event-drawer-event-action").waitFor();
    assert.equal(await page.locator("#event-drawer-title").innerText(), "Signed in");
    assert.equal(await rows.count(), events.length, "the list is still there");
    await page.keyboard.press("Escape");
    await page.locator("#event-drawer").waitFor({ state: "hidden" });
    await press(page, ".audit-events tbody a");
    await page.locator("#event-drawer-open").waitFor();
    await enter(page, "event-drawer-open");
  } else await enter(page, ".audit-events tbody a");
  await visit.at("Signed in");
  assert.equal(await page.locator("#event-action").innerText(), "session.started");
  await enter(page, "same-who");
  const exported = rows.filter({ hasText: "Audit log exported" });
  assert.equal(await exported.count(), 2);

  await enter(page, ".chips li:first-child .chip");
  await enter(page, "filter-delete");
  await enter(page, "filter-delete");
  assert.match(await page.locator("#done-notice").innerText(), /Filter deleted/);
});

test("reauthentication keeps the form's input and continues", async (t) => {
  const visit = await visitor(t);
  const { context, page } = visit;
  await visit.open("/scopes/new");
  await signInByKeyboard(page, fixture().admin);
  await type(page, "name", "rota");
  await type(page, "displayName", "Your rota");
  await type(page, "description", "When you work,\nand with whom");
  ahead += 11 * MINUTE_MS;
  await enter(page, "scope-save");
  await visit.look("Confirm it’s you");
  const names = async () =>
    (await listCustomScopes(service().database.query, fixture().orgId)).map(({ name }) => name);
  assert.ok(!(await names()).includes("rota"));
  const [beside] = await Promise.all([context.waitForEvent("page"), press(page, "prove-sign-in")]);
  await signInByKeyboard(beside, fixture().admin);
  await beside.locator("#identity-confirmed").waitFor();
  await beside.close();
  await enter(page, "prove-go-on");
  await visit.at("rota");
  const made = (await listCustomScopes(service().database.query, fixture().orgId)).find(
    ({ name }) => name === "rota",
  );
  assert.equal(made?.description, "When you work, and with whom");
});

test("on a phone the menu opens with its button, closes with Escape, and its links work", async (t) => {
  const narrow = { viewport: { width: 390, height: 844 } };
  const visit = await visitor(t, fixture().admin, narrow);
  const { page } = visit;
  await visit.open("/scopes");
  const menu = page.locator("#menu");
  assert.equal(await menu.isVisible(), false);
  await press(page, "menu-open");
  await menu.waitFor();
  await page.keyboard.press("Tab");
  assert.ok(await menu.locator(":focus").count(), "the menu is next to its button");
  await page.keyboard.press("Escape");
  await menu.waitFor({ state: "hidden" });
  await page.locator("#menu-open:focus").waitFor();
  await page.keyboard.press("Enter");
  await menu.waitFor();
  await enter(page, "nav-users");
  await visit.at("Users");
});

test("every form of the organisation's settings was submitted", () => {
  assertAllSent("organisation");
});
