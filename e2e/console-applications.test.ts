/** What an administrator does with applications, by keyboard alone, in real Chromium (issue 8, points 2 and 6). */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { Application } from "../packages/server/src/core/applications/application.ts";
import { findApplication } from "../packages/server/src/core/applications/store.ts";
import { acrValues } from "../packages/server/src/core/sessions/session.ts";
import { doneText, journeys, type Visitor } from "./console-journey.ts";
import { choose, enter, isReady, pick, pressEnter, reach, tick, type } from "./keyboard.ts";
import { signInByKeyboard } from "./sign-in-steps.ts";

const { scene, service, visitor } = journeys();

const recordOf = (id: string): Promise<Application | undefined> =>
  findApplication(service().database.query, scene().orgId, id);

const idInAddress = (page: Page): string =>
  new URL(page.url()).pathname.split("/applications/")[1]?.split("/")[0] ?? "";

/** What the token endpoint says to who has this secret. */
async function tokenStatus(clientId: string, secret: string): Promise<number> {
  const body = new URLSearchParams({ grant_type: "client_credentials", scope: "jobs:run" });
  body.append("client_id", clientId);
  body.append("client_secret", secret);
  const url = `${scene().baseUrl}/oauth/${scene().orgId}/token`;
  return (await fetch(url, { method: "POST", body })).status;
}

/** From the page that shows a new secret, which Enter on its button copies, to the record. */
async function keepSecret({ context, page }: Visitor): Promise<{ clientId: string; secret: string }> {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const clientId = await page.locator("#client-id").innerText();
  const secret = await page.locator("#client-secret").innerText();
  await reach(page, "button[data-copy=client-secret]");
  await page.keyboard.press("Enter");
  await page.locator("#copy-status", { hasText: "Copied" }).waitFor({ state: "attached" });
  assert.equal(await page.evaluate("navigator.clipboard.readText()"), secret);
  await enter(page, "once-done");
  assert.ok(!(await page.content()).includes(secret), "shown once");
  return { clientId, secret };
}

test("a web application: made with a fault first, its secret read once and copied", async (t) => {
  const visit = await visitor(t);
  const { page } = visit;
  await visit.open("/applications");
  await signInByKeyboard(page, scene().admin);
  await page.locator("#application-new").waitFor();
  await enter(page, "application-new");
  await enter(page, "kind-web");
  await type(page, "name", "Time sheets");
  await type(page, "redirectUris", "https://time.northwind.example/callback\nftp://nowhere");
  await page.locator("#redirectUris-check.bad", { hasText: /line 2/i }).waitFor();
  await choose(page, "consentMode", "organisation");
  await enter(page, "application-create");
  await isReady(page, "redirectUris");
  await visit.at("Web application");
  assert.equal(await page.locator("#name").inputValue(), "Time sheets", "what was typed is kept");
  assert.match(await page.locator("#redirectUris-fault").innerText(), /line 2/i);
  assert.ok(await page.locator("#consentMode-organisation").isChecked());
  await type(page, "redirectUris", "https://time.northwind.example/callback");
  await enter(page, "application-create");
  await visit.look(/Time sheets/);
  const { clientId } = await keepSecret(visit);
  assert.equal(idInAddress(page), clientId);
  const made = await recordOf(clientId);
  assert.equal(made?.name, "Time sheets");
  assert.deepEqual(made?.settings.redirectUris, ["https://time.northwind.example/callback"]);
  assert.equal(made?.settings.consentMode, "organisation");
  assert.match(await page.locator("#last-change").innerText(), /ada@northwind\.example/);
});

test("a service: its secret gets tokens, another one is added and the first ended, and it is disabled and deleted", async (t) => {
  const visit = await visitor(t, scene().admin);
  const { page } = visit;
  await visit.open("/applications/new");
  await enter(page, "kind-service");
  await type(page, "name", "Night run");
  await type(page, "otherScopes", "jobs:run");
  await enter(page, "application-create");
  const first = await keepSecret(visit);
  const { clientId } = first;
  assert.equal(await tokenStatus(clientId, first.secret), 200);

  await enter(page, "secret-new");
  await type(page, "label", "second");
  await pick(page, "lifetime", "90");
  await enter(page, "secret-create");
  const second = await keepSecret(visit);
  const [older] = (await recordOf(clientId))?.secrets ?? [];
  await enter(page, `secret-end-${older?.id}`);
  await enter(page, "secret-end");
  assert.equal(await doneText(page), "The secret is revoked.");
  assert.equal(await tokenStatus(clientId, first.secret), 401);
  assert.equal(await tokenStatus(clientId, second.secret), 200);

  await enter(page, "application-disable");
  await enter(page, "application-disable");
  assert.equal(await doneText(page), "The application is disabled.");
  assert.notEqual(await tokenStatus(clientId, second.secret), 200);
  await enter(page, "application-enable");
  await enter(page, "application-enable");
  assert.equal(await tokenStatus(clientId, second.secret), 200);

  await enter(page, "application-delete");
  await isReady(page, "name");
  await type(page, "name", "Day run");
  await enter(page, "application-delete");
  await isReady(page, "name");
  await visit.look("Delete Night run?");
  assert.ok(await recordOf(clientId), "nothing is deleted by a wrong name");
  await type(page, "name", "Night run");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.pathname.endsWith("/applications"));
  assert.equal(await doneText(page), "The application is deleted.");
  assert.equal(await recordOf(clientId), undefined);
  assert.equal(await tokenStatus(clientId, second.secret), 401);
});

const others = [
  { kind: "spa", name: "Canteen", field: "redirectUris", value: "https://canteen.northwind.example/" },
  { kind: "native", name: "Scanner", field: "redirectUris", value: "http://127.0.0.1/callback" },
  { kind: "device", name: "Lobby screen", field: undefined, value: "" },
  { kind: "legacy", name: "Old intranet", field: "returnUrls", value: "https://intra.northwind.example/" },
] as const;

test("an application of each other kind is made without a secret, and found again by its name", async (t) => {
  const visit = await visitor(t, scene().admin);
  const { page } = visit;
  for (const { kind, name, field, value } of others) {
    await visit.open("/applications/new");
    await enter(page, `kind-${kind}`);
    await type(page, "name", name);
    if (field !== undefined) await type(page, field, value);
    await enter(page, "application-create");
    assert.equal(await doneText(page), "The application is ready.");
    assert.equal((await recordOf(idInAddress(page)))?.name, name);
  }
  await visit.open("/applications");
  await type(page, "search", "lobby");
  await pressEnter(page);
  assert.deepEqual(await page.locator("tbody .item-name").allInnerTexts(), ["Lobby screen"]);
});

test("settings: a fault keeps what was typed and has the focus, and then they are saved", async (t) => {
  const visit = await visitor(t, scene().admin);
  const { page } = visit;
  const id = scene().ids["applications"] ?? "";
  await visit.open(`/applications/${id}`);
  await enter(page, "application-settings");
  await type(page, "description", "What we are paid");
  await tick(page, "allowedScopes-payslips");
  await pick(page, "requiredAcr", "multiFactor");
  await choose(page, "consentMode", "organisation");
  await type(page, "accessTokenLifetimeSeconds", "1");
  await enter(page, "settings-save");
  await isReady(page, "accessTokenLifetimeSeconds");
  assert.equal(await page.locator("#description").inputValue(), "What we are paid");
  assert.ok(await page.locator("#allowedScopes-payslips").isChecked());
  await visit.look("Settings");
  assert.equal((await recordOf(id))?.settings.description, "Payroll of the house", "nothing is saved");
  // The notice leads to the field.
  await reach(page, "#form-notice a");
  await page.keyboard.press("Enter");
  await type(page, "accessTokenLifetimeSeconds", "600");
  await enter(page, "settings-save");
  assert.equal(await doneText(page), "The settings are saved.");
  const saved = (await recordOf(id))?.settings;
  assert.equal(saved?.description, "What we are paid");
  assert.equal(saved?.accessTokenLifetimeSeconds, 600);
  assert.equal(saved?.consentMode, "organisation");
  assert.equal(saved?.requiredAcr, acrValues.multiFactor);
  assert.ok(saved?.allowedScopes.includes("payslips"));
});

test("two administrators at once: the second is told, sees what it is now, and can save", async (t) => {
  const [one, two] = [await visitor(t, scene().admin), await visitor(t, scene().admin)];
  const id = scene().ids["applications"] ?? "";
  for (const { open } of [one, two]) await open(`/applications/${id}/settings`);
  await type(one.page, "description", "By the first");
  await enter(one.page, "settings-save");
  await type(two.page, "description", "By the second");
  await enter(two.page, "settings-save");
  await two.look("Settings");
  assert.match(await two.page.locator("#form-notice").innerText(), /Changed by ada@northwind\.example on/);
  assert.equal(await two.page.locator("#description").inputValue(), "By the second");
  assert.equal(await two.page.locator("#description-now").innerText(), "Current value: By the first");
  assert.deepEqual(await two.page.locator(".is-now").count(), 1, "only what differs");
  assert.equal((await recordOf(id))?.settings.description, "By the first");
  await enter(two.page, "settings-save");
  assert.equal(await doneText(two.page), "The settings are saved.");
  assert.equal((await recordOf(id))?.settings.description, "By the second");
});
