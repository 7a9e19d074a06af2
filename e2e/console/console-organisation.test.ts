/** What an administrator sets for the organisation, and looks up in it, by keyboard alone, in real Chromium (issue 8). */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { generateSync } from "otplib";
import type { Page } from "playwright-core";
import { findOrganisation } from "../../packages/server/src/core/organisations/organisations.store.ts";
import { listCustomScopes } from "../../packages/server/src/core/scopes/scopes.store.ts";
import { createUser } from "../../packages/server/src/core/users/users.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { mailsTo } from "../../packages/server/src/testing/fakes/mailbox.ts";
import { PASSWORD } from "../../packages/server/src/testing/test-service.ts";
import { signInByKeyboard } from "../journeys/sign-in-steps.ts";
import { choose, enter, handName, hasScripts, isReady, pick, press, tick, type } from "../support/hand.ts";
import { confirmByName, doneText, journeys } from "./console-journey.ts";

const MINUTE_MS = 60_000;
let ahead = 0;
const { fixture, service, visitor, assertAllSent } = journeys({ clock: () => Date.now() + ahead });

const organisation = () => findOrganisation(service().database.query, fixture().orgId);

const buttonColour = (page: Page): Promise<unknown> =>
  page.evaluate("getComputedStyle(document.getElementById('login-submit')).backgroundColor");

test("the accent colour: rejected, previewed, then used on the sign-in page", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const { page: stranger } = await visitor(t);
  const signInPage = `${fixture().baseUrl}/oauth/manage/${fixture().orgId}/users`;
  await stranger.goto(signInPage);
  const before = await buttonColour(stranger);

  await visit.open("/settings");
  await enter(page, "branding-edit");
  await type(page, "name", "Northwind");
  await type(page, "accentColor", "green");
  await enter(page, "branding-save");
  await isReady(page, "accentColor");
  await visit.at("Sign-in page");
  assert.equal(await page.locator("#name").inputValue(), "Northwind", "what was typed is kept");
  await type(page, "accentColor", "#7a1f5c");
  if (hasScripts) {
    const live = page.frameLocator("#sign-in-preview");
    await eventually("the preview has the colour", async () =>
      Boolean((await live.locator("style").textContent())?.includes("#7a1f5c")),
    );
    assert.equal(await live.locator(".brand-name").innerText(), "Northwind");
    const background = () =>
      page.frame("sign-in-preview")?.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await background();
    await choose(page, "preview-scheme", "dark");
    await eventually("the preview is dark", async () => (await background()) !== light);
    await choose(page, "preview-size", "phone");
    const width = await page.evaluate("document.getElementById('sign-in-preview').clientWidth");
    assert.ok(Number(width) <= 390);
  }
  await type(page, "heading-en", "Welcome, crew");
  await type(page, "helpUri", "https://help.northwind.example/");
  await enter(page, "branding-preview");
  await visit.look("Sign-in page");
  assert.match(await page.locator(".preview-light").innerText(), /^N\s+Northwind\s+Sign in/);
  assert.equal(await page.locator("#heading-en").inputValue(), "Welcome, crew");
  assert.equal((await organisation())?.settings.branding.accentColor, undefined, "a preview saves nothing");
  await stranger.reload();
  assert.equal(await buttonColour(stranger), before);
  await enter(page, "branding-save");
  assert.equal(await doneText(page), "Sign-in page saved.");
  await stranger.reload();
  assert.notEqual(await buttonColour(stranger), before);
  assert.equal(await stranger.locator(".brand-name").first().innerText(), "Northwind");
  await stranger.getByRole("heading", { level: 1, name: "Welcome, crew", exact: true }).waitFor();
  assert.equal(await stranger.locator("#foot-help").getAttribute("href"), "https://help.northwind.example/");
  assert.equal((await organisation())?.settings.branding.accentColor, "#7a1f5c");
});

test("images: uploaded, shown on the sign-in page by scheme and width, and removed", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  await visit.open("/settings");
  await enter(page, "logo-edit");
  await enter(page, "logo-save");
  await isReady(page, "logo");
  await visit.look("Images");
  const upload = async (kind: string, side: number) => {
    const [choice] = await Promise.all([page.waitForEvent("filechooser"), press(page, kind)]);
    const buffer = await page.screenshot({ clip: { x: 0, y: 0, width: side, height: side } });
    await choice.setFiles({ name: `${kind}.png`, mimeType: "image/png", buffer });
  };
  await upload("logo", 48);
  await upload("darkLogo", 40);
  await upload("panel", 320);
  await enter(page, "logo-save");
  assert.equal(await doneText(page), "Images saved.");
  const { page: stranger, watch } = await visitor(t);
  await stranger.setViewportSize({ width: 390, height: 844 });
  await stranger.goto(`${fixture().baseUrl}/oauth/manage/${fixture().orgId}/users`);
  const width = () => stranger.evaluate("document.querySelector('.brand img').naturalWidth");
  const asked = () => watch.requests.filter((request) => request.url().includes("/images/")).length;
  assert.deepEqual([await width(), asked()], [48, 1], "a phone does not ask for the picture");
  await stranger.emulateMedia({ colorScheme: "dark" });
  await eventually("the dark logo is there", async () => (await width()) === 40);
  await stranger.setViewportSize({ width: 1280, height: 800 });
  await eventually("and the picture, where there is room", async () => asked() === 3);
  await enter(page, "branding-logo");
  for (const kind of ["logo", "darkLogo", "panel"]) await tick(page, `remove-${kind}`);
  await enter(page, "logo-save");
  assert.equal(await doneText(page), "Images saved.");
  await stranger.reload();
  assert.equal(await stranger.locator(".brand img, .side-image").count(), 0);
});

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

test("the overview for another period, and its charts as tables", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  await visit.open("");
  await enter(page, "range-30d");
  assert.equal(await page.locator("#range-30d").getAttribute("aria-current"), "true");
  const charts = await page.locator("figure.chart").all();
  assert.equal(charts.length, 3, "sign-ins, tokens, agents");
  for (const chart of charts) {
    const id = await chart.getAttribute("id");
    const numbers = page.locator(`#${id} .chart-numbers table`);
    assert.equal(await numbers.isVisible(), false);
    await press(page, `#${id} .chart-numbers summary`);
    await numbers.waitFor();
  }
});

test("previews an email template in another language, and sends a test email", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  await visit.open("/mail-templates");
  await enter(page, "#mail-ResetPassword a");
  const subject = await page.locator("#mail-subject").innerText();
  await pick(page, "language", "de");
  await enter(page, "language-show");
  await visit.at("Reset password");
  assert.notEqual(await page.locator("#mail-subject").innerText(), subject);
  assert.equal(await page.locator("#mail-text").getAttribute("lang"), "de");
  await enter(page, "test-send");
  await page.locator("#done-notice").waitFor();
  const mail = (await mailsTo(service(), fixture().admin.email)).at(-1);
  assert.deepEqual([mail?.mail.template, mail?.locale], ["ResetPassword", "de"]);
});

test("words an email: the preview follows what is typed, then it is saved, and reset", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const heading = page.frameLocator("#mail-html").locator("h1");
  await visit.open("/mail-templates");
  await enter(page, "#mail-NewSignIn a");
  await visit.at("New sign-in");
  await type(page, "subject", "Hello from {organisation}");
  if (hasScripts) await heading.getByText(/^Hello from Northwind/).waitFor();
  await type(page, "heading", "<b>Was that you?</b>");
  // With scripts, as it is typed.
  if (!hasScripts) await press(page, "draft-html");
  await heading.getByText("<b>Was that you?</b>", { exact: true }).waitFor();
  await press(page, "draft-text");
  await page
    .frameLocator("#mail-html")
    .locator("pre")
    .getByText(/^Northwind.* · /)
    .waitFor();
  await press(page, "draft-html");
  const frameBox = await page.locator("#mail-html").boundingBox();
  const isNarrow = handName === "touch";
  assert.ok(isNarrow || (frameBox && frameBox.y < 800 && frameBox.x > 600), "beside the form");
  await visit.look("New sign-in");
  await type(page, "body", "Visit evil.example");
  await enter(page, "mail-text-save");
  await page.locator("#body-fault").waitFor();
  assert.equal(await page.locator("#heading").inputValue(), "<b>Was that you?</b>");
  await visit.look("New sign-in");
  await type(page, "body", "You signed in at {time}.");
  await enter(page, "mail-text-save");
  await page.locator("#mail-text-reset").waitFor();
  assert.match(await page.locator("#mail-subject").innerText(), /^Hello from Northwind/);
  await enter(page, "mail-text-reset");
  await page.locator("#mail-text-reset").waitFor({ state: "detached" });
  assert.match(await page.locator("#mail-subject").innerText(), /^New sign-in to/);
});

test("words an email without scripts, on a phone", async (t) => {
  const viewport = { width: 390, height: 844 };
  const { page, open } = await visitor(t, fixture().admin, { javaScriptEnabled: false, viewport });
  await open("/mail-templates/NewSignIn?language=en");
  await page.fill("#subject", "Plain");
  await page.click("#draft-html");
  await page.frameLocator("#mail-html").locator("h1").getByText("Plain", { exact: true }).waitFor();
  await page.click("#mail-text-save");
  await page.locator("#mail-text-reset").waitFor();
  await page.click("#mail-text-reset");
  await page.locator("#mail-text-reset").waitFor({ state: "detached" });
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

  await enter(page, ".audit-events tbody a");
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
