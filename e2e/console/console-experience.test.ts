/** What users see: the sign-in page, its methods and emails, set by keyboard alone in real Chromium. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { findOrganisation } from "../../packages/server/src/core/organisations/organisations.store.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { mailsTo } from "../../packages/server/src/testing/fakes/mailbox.ts";
import { choose, enter, handName, hasScripts, isReady, pick, press, tick, type } from "../support/hand.ts";
import { doneText, journeys } from "./console-journey.ts";

const { fixture, service, visitor, assertAllSent } = journeys();

const organisation = () => findOrganisation(service().database.query, fixture().orgId);

const buttonColour = (page: Page): Promise<unknown> =>
  page.evaluate("getComputedStyle(document.getElementById('login-submit')).backgroundColor");

/** The head of every tab of the editor. */
const EDITOR = "Sign-in experience";

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
  await visit.at(EDITOR);
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
  await visit.look(EDITOR);
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
  await visit.look(EDITOR);
  const upload = async (kind: string, side: number) => {
    const [choice] = await Promise.all([page.waitForEvent("filechooser"), press(page, kind)]);
    const buffer = await page.screenshot({ clip: { x: 0, y: 0, width: side, height: side } });
    await choice.setFiles({ name: `${kind}.png`, mimeType: "image/png", buffer });
  };
  await upload("logo", 48);
  // With scripts, as it is chosen.
  if (!hasScripts) await press(page, "sign-in-live");
  await page.frameLocator("#sign-in-preview").locator(".brand img[src^='data:image/png']").waitFor();
  if (hasScripts) assert.match((await page.locator(".logo-now img").getAttribute("src")) ?? "", /^data:/);
  assert.equal((await organisation())?.settings.images.logo, undefined, "a preview saves nothing");
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

test("sign-in methods: the order previewed, saved and met at the sign-in; refused where it would turn the administrator away", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  await visit.open("/settings/branding");
  await enter(page, "editor-methods");
  await visit.look(EDITOR);
  const order = (first: string, second: string) =>
    pick(page, "method1", first).then(() => pick(page, "method2", second));
  await order("passkey", "");
  if (hasScripts)
    await page.frameLocator("#sign-in-preview").locator("#without-passkey").waitFor({ state: "attached" });
  await enter(page, "methods-save");
  await visit.at(EDITOR);
  assert.match(await page.locator(".field:has(#method1)").innerText(), /Add one first/);
  await order("passkey", "password");
  await enter(page, "methods-save");
  assert.equal(await doneText(page), "Sign-in methods saved.");
  assert.deepEqual((await organisation())?.settings.signInMethods, ["passkey", "password"]);
  const { page: stranger } = await visitor(t);
  await stranger.goto(`${fixture().baseUrl}/oauth/manage/${fixture().orgId}/users`);
  const shown = await stranger
    .locator("#passkey-submit, #login-submit")
    .evaluateAll((buttons) => buttons.map(({ id }) => id));
  assert.deepEqual(shown, ["passkey-submit", "login-submit"]);
  await order("password", "passkey");
  await enter(page, "methods-save");
  assert.equal(await doneText(page), "Sign-in methods saved.");
});

test("previews an email template in another language, and sends a test email", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  await visit.open("/settings/branding");
  await enter(page, "editor-emails");
  await enter(page, "#mail-PasswordChanged a");
  await pick(page, "mail", "ResetPassword");
  await enter(page, "language-show");
  const subject = await page.locator("#mail-subject").innerText();
  await pick(page, "language", "de");
  await enter(page, "language-show");
  await visit.at(EDITOR);
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
  await visit.at(EDITOR);
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
  await visit.look(EDITOR);
  await type(page, "body", "Visit evil.example");
  await enter(page, "mail-text-save");
  await page.locator("#body-fault").waitFor();
  assert.equal(await page.locator("#heading").inputValue(), "<b>Was that you?</b>");
  await visit.look(EDITOR);
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

test("every form of what users see was submitted", () => {
  assertAllSent("experience");
});
