/** What an administrator does with applications, in real Chromium (issue 8, point 2). */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import type { Application } from "../../packages/server/src/core/applications/application.ts";
import { findApplication } from "../../packages/server/src/core/applications/applications.store.ts";
import { acrValues } from "../../packages/server/src/core/sessions/session.ts";
import { authorizationRequest } from "../../packages/server/src/testing/fakes/browser.ts";
import { defineScopes } from "../../packages/server/src/testing/fixtures/scopes.ts";
import { signIn, signInByKeyboard } from "../journeys/sign-in-steps.ts";
import { choose, enter, hasScripts, isReady, pick, press, pressEnter, tick, type } from "../support/hand.ts";
import { doneText, journeys, type Visitor } from "./console-journey.ts";

const { fixture, service, visitor, assertAllSent } = journeys();

const db = () => service().database.query;
const recordOf = (id: string): Promise<Application | undefined> => findApplication(db(), fixture().orgId, id);

const idInAddress = (page: Page): string =>
  new URL(page.url()).pathname.split("/applications/")[1]?.split("/")[0] ?? "";

/** What the token endpoint says to who has this secret. */
async function tokenStatus(clientId: string, secret: string): Promise<number> {
  const body = new URLSearchParams({ grant_type: "client_credentials", scope: "jobs:run" });
  body.append("client_id", clientId);
  body.append("client_secret", secret);
  const url = `${fixture().baseUrl}/oauth/${fixture().orgId}/token`;
  return (await fetch(url, { method: "POST", body })).status;
}

/** From the page that shows a new secret, which Enter on its button copies, to the record. */
async function keepSecret({ context, page }: Visitor): Promise<{ clientId: string; secret: string }> {
  const clientId = await page.locator("#client-id").innerText();
  const secret = await page.locator("#client-secret").innerText();
  if (hasScripts) {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await press(page, "button[data-copy=client-secret]");
    await page.locator("#copy-status", { hasText: "Copied" }).waitFor({ state: "attached" });
    assert.equal(await page.evaluate("navigator.clipboard.readText()"), secret);
  }
  await enter(page, "once-done");
  assert.ok(!(await page.content()).includes(secret), "shown once");
  return { clientId, secret };
}

test("creates a web application after a validation error, and shows its secret once", async (t) => {
  const visit = await visitor(t);
  const { page } = visit;
  await visit.open("/applications");
  await signInByKeyboard(page, fixture().admin);
  await page.locator("#application-new").waitFor();
  await enter(page, "application-new");
  await enter(page, "kind-web");
  await type(page, "name", "Time sheets");
  await type(page, "redirectUris", "ftp://time.northwind.example/callback");
  if (hasScripts) await page.locator("#redirectUris-check.bad", { hasText: /must/i }).waitFor();
  await enter(page, "application-create");
  await isReady(page, "redirectUris");
  await visit.at("Web application");
  assert.equal(await page.locator("#name").inputValue(), "Time sheets", "what was typed is kept");
  assert.match(await page.locator("#redirectUris-fault").innerText(), /must/i);
  await type(page, "redirectUris", "https://time.northwind.example/callback");
  await enter(page, "application-create");
  await visit.look(/Time sheets/);
  const { clientId } = await keepSecret(visit);
  await visit.at("Time sheets");
  assert.ok(page.url().endsWith(`/quickstart/${clientId}`), "it goes on where the application is put to use");
  await enter(page, "quickstart-record");
  assert.equal(idInAddress(page), clientId);
  const made = await recordOf(clientId);
  assert.equal(made?.name, "Time sheets");
  assert.deepEqual(made?.settings.redirectUris, ["https://time.northwind.example/callback"]);
  assert.match(await page.locator("#last-change").innerText(), /ada@northwind\.example/);
  await type(page, "name", "Time and sheets");
  await enter(page, "settings-save");
  assert.equal(await doneText(page), "Settings saved.");
  assert.equal((await recordOf(clientId))?.name, "Time and sheets");
  await enter(page, "undo");
  assert.equal(await doneText(page), "Change undone");
  assert.equal(await page.locator("#undo").count(), 0);
  assert.equal((await recordOf(clientId))?.name, "Time sheets");
});

test("a machine-to-machine application: rotates its secret, is disabled and deleted", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  await defineScopes(service(), fixture().orgId, "jobs:run");
  await visit.open("/applications/new");
  await enter(page, "kind-service");
  await type(page, "name", "Night run");
  await type(page, "otherScopes", "jobs:run");
  await enter(page, "application-create");
  const first = await keepSecret(visit);
  const { clientId } = first;
  assert.equal(await tokenStatus(clientId, first.secret), 200);

  await enter(page, "quickstart-record");
  await enter(page, "tab-credentials");
  await enter(page, "secret-new");
  await type(page, "label", "second");
  await pick(page, "lifetime", "90");
  await enter(page, "secret-create");
  const second = await keepSecret(visit);
  const [older] = (await recordOf(clientId))?.secrets ?? [];
  await enter(page, `secret-end-${older?.id}`);
  await enter(page, "secret-end");
  assert.equal(await doneText(page), "Client secret revoked.");
  assert.equal(await tokenStatus(clientId, first.secret), 401);
  assert.equal(await tokenStatus(clientId, second.secret), 200);

  await enter(page, "tab-advanced");
  await enter(page, "application-disable");
  await enter(page, "application-disable");
  assert.equal(await doneText(page), "Application disabled.");
  assert.notEqual(await tokenStatus(clientId, second.secret), 200);
  await enter(page, "undo");
  assert.equal(await tokenStatus(clientId, second.secret), 200, "enabled again, from the notice");
  await visit.open(`/applications/${clientId}/advanced`);
  await enter(page, "application-disable");
  await enter(page, "application-disable");
  assert.notEqual(await tokenStatus(clientId, second.secret), 200);
  await enter(page, "application-enable");
  await enter(page, "application-enable");
  assert.equal(await tokenStatus(clientId, second.secret), 200);

  await enter(page, "application-delete");
  await isReady(page, "name");
  if (hasScripts) {
    assert.equal(await page.locator("#application-delete").count(), 1, "the id is the question's");
    await page.keyboard.press("Escape");
    await page.locator("a#application-delete").waitFor();
    await enter(page, "application-delete");
    await isReady(page, "name");
  }
  await type(page, "name", "Day run");
  await enter(page, "application-delete");
  await isReady(page, "name");
  await visit.look("Delete Night run?");
  assert.ok(await recordOf(clientId), "nothing is deleted by a wrong name");
  await type(page, "name", "Night run");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.pathname.endsWith("/applications"));
  assert.equal(await doneText(page), "Application deleted.");
  assert.equal(await recordOf(clientId), undefined);
  assert.equal(await tokenStatus(clientId, second.secret), 401);
});

const others = [
  { kind: "spa", name: "Canteen", field: "redirectUris", value: "https://canteen.northwind.example/" },
  { kind: "native", name: "Scanner", field: "redirectUris", value: "http://127.0.0.1/callback" },
  { kind: "device", name: "Lobby screen", field: undefined, value: "" },
  { kind: "legacy", name: "Old intranet", field: "returnUrls", value: "https://intra.northwind.example/" },
] as const;

test("creates applications of the other types without a secret, and finds them by name", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  for (const { kind, name, field, value } of others) {
    await visit.open("/applications/new");
    await enter(page, `kind-${kind}`);
    await type(page, "name", name);
    if (field !== undefined) await type(page, field, value);
    await enter(page, "application-create");
    assert.equal(await doneText(page), "Application created.");
    assert.equal((await recordOf(idInAddress(page)))?.name, name);
  }
  await visit.open("/applications");
  await type(page, "search", "lobby");
  await pressEnter(page);
  assert.deepEqual(await page.locator("tbody .item-name").allInnerTexts(), ["Lobby screen"]);
});

test("an application for assigned users rejects other users until they are assigned", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const { baseUrl, orgId, user } = fixture();
  const id = fixture().ids["application"] ?? "";
  const redirectUri = "https://reports.northwind.example/callback";
  await visit.open(`/applications/${id}/urls`);
  await type(page, "redirectUris", redirectUri);
  await enter(page, "settings-save");
  assert.equal(await doneText(page), "Settings saved.");
  await enter(page, "tab-access");
  await choose(page, "access", "assigned");
  await enter(page, "settings-save");
  assert.equal(await doneText(page), "Settings saved.");
  const { page: theirs } = await visitor(t);
  const { query } = authorizationRequest(id, redirectUri);
  await theirs.goto(`${baseUrl}/oauth/${orgId}/authorize?${query}`);
  await signIn(theirs, user);
  await theirs.locator("#not-assigned-contacts").waitFor();

  await enter(page, "access-users");
  await type(page, "email", "nobody@northwind.example");
  await enter(page, "assign-submit");
  await isReady(page, "email");
  await type(page, "email", user.email);
  await enter(page, "assign-submit");
  assert.equal(await doneText(page), "User assigned.");
  await theirs.reload();
  await theirs.locator("#consent-allow").waitFor();
  await enter(page, `user-take-off-${user.id}`);
  await enter(page, "user-take-off");
  assert.equal(await doneText(page), "User unassigned.");
  await theirs.reload();
  await theirs.locator("#not-assigned-contacts").waitFor();
});

test("settings: a validation error keeps the input and takes the focus; then they are saved", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const id = fixture().ids["applications"] ?? "";
  await visit.open(`/applications/${id}`);
  await enter(page, "tab-tokens");
  await type(page, "audience", "https://api.northwind.example");
  await type(page, "accessTokenLifetimeSeconds", "100");
  await enter(page, "settings-save");
  await isReady(page, "accessTokenLifetimeSeconds");
  assert.equal(await page.locator("#audience").inputValue(), "https://api.northwind.example");
  await visit.look("Payroll");
  assert.equal((await recordOf(id))?.settings.audience, undefined, "nothing is saved");
  // The notice leads to the field.
  await press(page, "#form-notice a");
  await type(page, "accessTokenLifetimeSeconds", "10");
  await pick(page, "accessTokenLifetimeSeconds-unit", "minutes");
  await enter(page, "settings-save");
  assert.equal(await doneText(page), "Settings saved.");
  const saved = (await recordOf(id))?.settings;
  assert.equal(saved?.audience, "https://api.northwind.example");
  assert.equal(saved?.accessTokenLifetimeSeconds, 600);
});

test("the method of authentication decides which fields there are", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const id = fixture().ids["applications"] ?? "";
  await visit.open(`/applications/${id}/credentials`);
  const isThere = (field: string) => page.locator(`#${field}`).isVisible();
  assert.deepEqual([await isThere("jwksUri"), await isThere("tlsClientAuthSanUri")], [false, false]);
  await pick(page, "tokenEndpointAuthMethod", "private_key_jwt");
  assert.deepEqual([await isThere("jwksUri"), await isThere("tlsClientAuthSanUri")], [true, false]);
  await type(page, "jwksUri", "https://payroll.northwind.example/jwks");
  await enter(page, "settings-save");
  assert.equal(await doneText(page), "Settings saved.");
  assert.equal((await recordOf(id))?.settings.tokenEndpointAuthMethod, "private_key_jwt");
  await enter(page, "tab-advanced");
  await tick(page, "requirePkce", false);
  await page.locator("#requireNonceWithoutPkce").waitFor();
  await enter(page, "settings-save");
  assert.equal(await doneText(page), "Settings saved.");
  assert.equal((await recordOf(id))?.settings.requirePkce, false);
});

test("admin consent, chosen and given in one save, and who shares the application", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const id = fixture().ids["applications"] ?? "";
  await visit.open(`/applications/${id}/access`);
  await tick(page, "allowedScopes-payslips");
  await pick(page, "requiredAcr", "multiFactor");
  assert.equal(await page.locator("#consentScopes").isVisible(), false);
  await choose(page, "consentMode", "organisation");
  await page.locator("#consentScopes").waitFor();
  assert.ok(await page.locator("#consentScopes-email").isChecked());
  assert.equal(await page.locator("#sharedWith").isVisible(), false);
  await choose(page, "shared", "named");
  await type(page, "sharedWith", fixture().orgId);
  await enter(page, "settings-save");
  assert.equal(await doneText(page), "Settings saved.");
  const saved = (await recordOf(id))?.settings;
  assert.equal(saved?.consentMode, "organisation");
  assert.equal(saved?.requiredAcr, acrValues.multiFactor);
  assert.deepEqual(saved?.shared, { organisations: [fixture().orgId] });
  assert.ok(saved?.allowedScopes.includes("payslips"));
  assert.match(await page.locator("#consented").innerText(), /email/);
  await visit.look("Payroll");
});

test("concurrent edits: the second administrator sees the conflict and can save", async (t) => {
  const [one, two] = [await visitor(t, fixture().admin), await visitor(t, fixture().admin)];
  const id = fixture().ids["applications"] ?? "";
  for (const { open } of [one, two]) await open(`/applications/${id}`);
  await type(one.page, "description", "By the first");
  await enter(one.page, "settings-save");
  await type(two.page, "description", "By the second");
  await enter(two.page, "settings-save");
  await two.look("Payroll");
  assert.match(await two.page.locator("#form-notice").innerText(), /Changed by ada@northwind\.example on/);
  assert.equal(await two.page.locator("#description").inputValue(), "By the second");
  assert.equal(await two.page.locator("#description-now").innerText(), "Current value: By the first");
  assert.deepEqual(await two.page.locator(".is-now").count(), 1, "only what differs");
  assert.equal((await recordOf(id))?.settings.description, "By the first");
  await enter(two.page, "settings-save");
  assert.equal(await doneText(two.page), "Settings saved.");
  assert.equal((await recordOf(id))?.settings.description, "By the second");
});

test("every form of applications was submitted", () => {
  assertAllSent("applications");
});
