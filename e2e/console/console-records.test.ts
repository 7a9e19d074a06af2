/** System accounts, scopes, consents and the quickstart, by keyboard alone, in real Chromium (issue 8). */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Page } from "playwright-core";
import {
  listConsents,
  listPreauthorizations,
} from "../../packages/server/src/core/consents/consents.store.ts";
import { findCustomScope } from "../../packages/server/src/core/scopes/scopes.store.ts";
import { findShared } from "../../packages/server/src/core/shared-applications/shared-applications.ts";
import {
  findSystemAccount,
  listKeys,
  listPermittedApplications,
} from "../../packages/server/src/core/system-accounts/system-accounts.store.ts";
import { createSystemAccount } from "../../packages/server/src/core/system-accounts/system-accounts.ts";
import { authorizationRequest } from "../../packages/server/src/testing/fakes/browser.ts";
import { callApi } from "../../packages/server/src/testing/fixtures/system-account.ts";
import { type ApplicationSite, openApplicationSite } from "../clients/application-site.ts";
import { allow, signIn } from "../journeys/sign-in-steps.ts";
import {
  choose,
  enter,
  hasScripts,
  isByKeyboard,
  isReady,
  pick,
  press,
  pressEnter,
  tick,
  type,
} from "../support/hand.ts";
import { reach } from "../support/keyboard.ts";
import { confirmByName, doneText, journeys, type Visitor } from "./console-journey.ts";

const { fixture, service, visitor, assertAllSent } = journeys();
let site: ApplicationSite;
before(async () => {
  site = await openApplicationSite();
});
after(() => site.close());

const db = () => service().database.query;
const lastPart = (page: Page): string => new URL(page.url()).pathname.split("/").at(-1) ?? "";

/** What the legacy API answers to who signs with this key pair. */
async function callStatus(keys: { publicKey: string; secret: string }): Promise<number> {
  const url = `${fixture().baseUrl}/legacy/api/Organisation/Application/List`;
  return (await callApi(url, keys, { strictAt: Date.now() })).status;
}

test("creates a system account with a key pair shown once, adds a second key, and deletes the account", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const { orgId } = fixture();
  await visit.open("/system-accounts");
  await enter(page, "account-new");
  await enter(page, `choose-${fixture().ids["applications"]}`);
  await isReady(page, "name");
  await type(page, "name", "Archive");
  await choose(page, "kind", "plain");
  await enter(page, "account-create");
  const shown = await page.locator("#keys").innerText();
  const [secret = ""] = /(?<=SECRET\w*=).+/.exec(shown) ?? [];
  const [publicKey = ""] = /(?<=PUBLIC\w*=).+/.exec(shown) ?? [];
  assert.notEqual(secret, "");
  assert.equal(await callStatus({ publicKey, secret }), 200);
  await enter(page, "once-done");
  assert.ok(!(await page.content()).includes(secret), "shown once");
  const id = new URL(page.url()).pathname.split("/").at(-2) ?? "";
  assert.equal((await findSystemAccount(db(), orgId, id))?.name, "Archive");

  await enter(page, "key-add");
  await type(page, "label", "second");
  await enter(page, "key-create");
  await enter(page, "once-done");
  const keys = await listKeys(db(), orgId, id);
  assert.equal(keys.length, 2);
  const first = keys.find(({ label }) => label !== "second");
  await enter(page, `[id="key-end-${first?.publicKey}"]`);
  await enter(page, "key-end-confirm");
  assert.equal(await doneText(page), "Key pair revoked.");
  assert.equal(await callStatus({ publicKey, secret }), 401);
  const living = (await listKeys(db(), orgId, id)).filter(({ revokedAt }) => revokedAt === null);
  assert.deepEqual(
    living.map(({ label }) => label),
    ["second"],
  );

  const may = async () =>
    (await listPermittedApplications(db(), { orgId, id })).map((application) => application.id);
  const before = await may();
  await enter(page, "tab-general");
  await enter(page, "permission-add");
  const choice = page.locator("input[name=application]").nth(1);
  const another = (await choice.getAttribute("value")) ?? "";
  await choose(page, "application", another);
  await enter(page, "permission-create");
  await page.locator("#done-notice").waitFor();
  assert.deepEqual((await may()).toSorted(), [...before, another].toSorted());
  await enter(page, `permission-remove-${another}`);
  await enter(page, "permission-remove-confirm");
  await page.locator("#done-notice").waitFor();
  assert.deepEqual(await may(), before);

  await enter(page, "tab-settings");
  await enter(page, "account-delete");
  const confirmation = { button: "delete-confirm", name: "Archive" };
  await confirmByName(page, confirmation, () => findSystemAccount(db(), orgId, id));
  assert.equal(await doneText(page), "Service account deleted.");
  assert.equal(await findSystemAccount(db(), orgId, id), undefined);
});

test("renames a system account, and rejects its calls while it is disabled", async (t) => {
  const { page, open } = await visitor(t, fixture().admin);
  const { orgId, ids } = fixture();
  const applicationId = ids["applications"] ?? "";
  const made = { orgId, applicationId, name: "Door log", isAdministrator: false, actor: "operator" };
  const { account, key, secret } = await createSystemAccount(service(), {
    ...made,
    requiresStrictSignature: false,
  });
  const call = () => callStatus({ ...key, secret });
  await open(`/system-accounts/${account.id}`);
  await enter(page, "tab-settings");
  await type(page, "name", "");
  await enter(page, "account-save");
  await isReady(page, "name");
  await type(page, "name", "Gate log");
  await tick(page, "strict");
  await enter(page, "account-save");
  assert.equal(await doneText(page), "Changes saved.");
  const saved = await findSystemAccount(db(), orgId, account.id);
  assert.deepEqual([saved?.name, saved?.requiresStrictSignature], ["Gate log", true]);
  assert.equal(await call(), 200);
  await enter(page, "account-disable");
  await enter(page, "disable-confirm");
  assert.equal(await doneText(page), "Service account disabled.");
  assert.equal(await call(), 401);
  await enter(page, "account-enable");
  await enter(page, "enable-confirm");
  assert.equal(await doneText(page), "Service account enabled.");
  assert.equal(await call(), 200);
});

test("creates a scope after a validation error, adds a claim, and deletes it by name", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  await visit.open("/scopes");
  await enter(page, "scope-new");
  await type(page, "name", "shifts of mine");
  await type(page, "displayName", "Your shifts");
  await enter(page, "scope-save");
  await isReady(page, "name");
  await visit.look("New scope");
  await type(page, "name", "shifts");
  await tick(page, "sensitive");
  await type(page, "claim-0-name", "team");
  await pick(page, "claim-0-from", "user.attribute");
  await type(page, "claim-0-what", "team");
  await enter(page, "claim-add");
  assert.equal(await page.locator("#claim-0-name").inputValue(), "team");
  await type(page, "claim-1-name", "mail");
  await pick(page, "claim-1-from", "user.email");
  await enter(page, "scope-save");
  const id = lastPart(page);
  const made = await findCustomScope(db(), fixture().orgId, id);
  assert.deepEqual(
    made?.claims.map(({ name }) => name),
    ["team", "mail"],
  );
  assert.equal(made?.sensitive, true);

  await enter(page, "scope-edit");
  await type(page, "displayName", "Your shifts of this month");
  await page.keyboard.press("Enter");
  await page.locator("#done-notice").waitFor();
  assert.equal((await findCustomScope(db(), fixture().orgId, id))?.displayName, "Your shifts of this month");
  await press(page, "more-open");
  await enter(page, "scope-delete");
  const confirmation = { button: "scope-delete-confirm", name: "shifts" };
  await confirmByName(page, confirmation, () => findCustomScope(db(), fixture().orgId, id));
  assert.equal(await doneText(page), "Scope deleted.");
  assert.equal(await findCustomScope(db(), fixture().orgId, id), undefined);
});

test("grants a user's consent after a validation error, finds and revokes it", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const { orgId, user } = fixture();
  const living = () => listConsents(db(), orgId, { userId: user.id, limit: 10 });
  await visit.open("/consents");
  await enter(page, "consent-new");
  await enter(page, `choose-${fixture().ids["applications"]}`);
  await choose(page, "forWhom", "user");
  await type(page, "email", user.email);
  await enter(page, "grant-submit");
  await page.locator("#scopes :focus").waitFor();
  assert.equal(await page.locator("#email").inputValue(), user.email, "what was typed is kept");
  await visit.at(/Payroll/);
  await tick(page, "scopes-openid");
  await tick(page, "scopes-email");
  await enter(page, "grant-submit");
  assert.equal(await doneText(page), "Consent granted.");
  const [given] = await living();
  assert.deepEqual(given?.scopes, ["openid", "email"]);
  await enter(page, `consent-revoke-${given?.id}`);
  await enter(page, "consent-revoke-confirm");
  assert.equal(await doneText(page), "Consent revoked.");
  assert.deepEqual(await living(), []);
});

test("creates and deletes a pre-authorization", async (t) => {
  const { page, open } = await visitor(t, fixture().admin);
  const all = () => listPreauthorizations(db(), fixture().orgId, { limit: 10 });
  const before = await all();
  await open("/preauthorizations");
  await enter(page, "consent-new");
  await type(page, "search", "wareh");
  await pressEnter(page);
  await enter(page, "main tbody a[id^=choose-]");
  await tick(page, "scopes-openid");
  await enter(page, "grant-submit");
  await page.locator("#done-notice").waitFor();
  const made = (await all()).find(({ id }) => !before.some((one) => one.id === id));
  await enter(page, `consent-revoke-${made?.id}`);
  await enter(page, "preauthorization-delete-confirm");
  assert.equal(await doneText(page), "Pre-authorization deleted.");
  assert.equal((await all()).length, before.length);
});

test("allows an application of another organisation, and withdraws it", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const id = fixture().ids["shared-applications/allow"] ?? "";
  await visit.open(`/shared-applications/${id}/allow`);
  await visit.at(/Allow .* for Northwind Cooperative/);
  await enter(page, "shared-application-allow");
  assert.equal(await doneText(page), "Application allowed.");
  const { orgId } = fixture();
  assert.ok((await findShared(db(), { orgId, id }))?.copy);
  await enter(page, `shared-application-withdraw-${id}`);
  await enter(page, "shared-application-withdraw");
  assert.equal(await doneText(page), "Application withdrawn.");
  assert.equal((await findShared(db(), { orgId, id }))?.copy, undefined);
});

/** Registers a single-page application for the test's own site. */
async function begin({ page, open }: Visitor, name: string): Promise<string> {
  await open("/quickstart");
  await enter(page, "for-javascript");
  await type(page, "name", name);
  await type(page, "address", `${site.origin}/app`);
  await enter(page, "quickstart-create");
  await isReady(page, "address");
  assert.equal(await page.locator("#name").inputValue(), name, "what was typed is kept");
  await type(page, "address", site.origin);
  await enter(page, "quickstart-create");
  return lastPart(page);
}

/** Grace signs in to it in a browser of her own. @returns her access token */
async function signInToIt(visit: Visitor, clientId: string): Promise<string> {
  const { page } = visit;
  const issuer = `${fixture().baseUrl}/oauth/${fixture().orgId}`;
  const redirectUri = `${site.origin}/`;
  const { query, verifier } = authorizationRequest(clientId, redirectUri);
  await page.goto(`${issuer}/authorize?${query}`);
  await signIn(page, fixture().user);
  await allow(page);
  await page.waitForURL((url) => url.origin === site.origin);
  const code = new URL(page.url()).searchParams.get("code") ?? "";
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    client_id: clientId,
    redirect_uri: redirectUri,
    code,
    code_verifier: verifier,
  });
  const response = await fetch(`${issuer}/token`, { method: "POST", body });
  return ((await response.json()) as { access_token: string }).access_token;
}

test("quickstart: from a new application to the first sign-in, detected by the page, and its token inspected", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const clientId = await begin(visit, "Parking");
  const code = await page.locator("#browser-code").innerText();
  for (const known of [clientId, site.origin, `${fixture().baseUrl}/oauth/${fixture().orgId}`])
    assert.ok(code.includes(known), `the code has ${known}`);
  const env = await page.locator("#env-file").innerText();
  const curl = await page.locator("#curl-authorize").innerText();
  const issuer = `${fixture().baseUrl}/oauth/${fixture().orgId}`;
  assert.ok(env.includes(clientId) && env.includes(fixture().orgId), env);
  assert.ok(curl.includes(clientId) && curl.includes(`${issuer}/token`), curl);
  if (hasScripts) {
    await visit.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await press(page, "button[data-copy=env-file]");
    await page.locator("#copy-status", { hasText: "Copied" }).waitFor({ state: "attached" });
    assert.equal(await page.evaluate("navigator.clipboard.readText()"), env);
  }
  await page.getByRole("heading", { name: "Waiting for the first sign-in" }).waitFor();
  const token = await signInToIt(await visitor(t), clientId);
  if (!hasScripts) await enter(page, "waiting-again");
  await page.getByRole("heading", { name: "Your application works" }).waitFor();
  if (hasScripts)
    assert.equal(
      await page.locator("#live-status").textContent(),
      "Your application works",
      "said to screen readers",
    );
  assert.match(await page.locator("#first-use").innerText(), /grace@northwind\.example/);
  await visit.look("Parking");

  await enter(page, "waiting-inspect");
  await isReady(page, "token");
  await type(page, "token", token);
  await enter(page, "inspector-submit");
  assert.equal(await page.locator("#verdict .state").innerText(), "Valid");
  assert.match(await page.locator("#verdict").innerText(), /Parking[\s\S]*grace@northwind\.example/);
  await visit.look("Token inspector");
  const [head, , signature] = token.split(".");
  const forged = Buffer.from(JSON.stringify({ sub: "root", iss: "https://evil.example" })).toString(
    "base64url",
  );
  for (const text of [`${head}.${forged}.${signature}`, "nonsense"]) {
    await type(page, "token", text);
    await enter(page, "inspector-submit");
    assert.equal(await page.locator("#verdict .state").innerText(), "Invalid");
  }
  await enter(page, "inspector-submit");
  await isReady(page, "token");
});

test("quickstart without JavaScript: the page shows the sign-in after a reload", async (t) => {
  const visit = await visitor(t, fixture().admin, { javaScriptEnabled: false });
  const { page } = visit;
  const clientId = await begin(visit, "Canteen");
  await signInToIt(await visitor(t), clientId);
  assert.equal(await page.getByRole("heading", { name: "Your application works" }).count(), 0);
  await enter(page, "waiting-again");
  await page.getByRole("heading", { name: "Your application works" }).waitFor();
});

// `reach` is what every step above is made of; that it fails for what the Tab key does not come to is seen here.
if (isByKeyboard)
  test("reach() fails for an element that Tab can't focus", async (t) => {
    const { page, open } = await visitor(t, fixture().admin);
    await open("/scopes");
    await page.evaluate("document.getElementById('scope-new').tabIndex = -1");
    await assert.rejects(reach(page, "scope-new"), /is not reached/);
  });

test("every form of system accounts, scopes, consents, shared applications and the quickstart was submitted", () => {
  assertAllSent("records");
});
