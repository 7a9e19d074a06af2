/** What everybody does with the own account, by keyboard alone, in real Chromium (issue 8, point 4). */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { generateSync } from "otplib";
import type { Page } from "playwright-core";
import { findApplication } from "../packages/server/src/core/applications/store.ts";
import { grantByAdministrator } from "../packages/server/src/core/consents/consents.ts";
import { listUserConsents } from "../packages/server/src/core/consents/store.ts";
import {
  insertRememberedDevice,
  listRememberedDevices,
} from "../packages/server/src/core/second-factors/remembered-devices/store.ts";
import { findFactorSummary } from "../packages/server/src/core/second-factors/store.ts";
import { findUser, findUserByEmail } from "../packages/server/src/core/users/store.ts";
import { mailsTo } from "../packages/server/src/testing/test-mailbox.ts";
import { PASSWORD } from "../packages/server/src/testing/test-service.ts";
import { type Cleanup, journeys, type Visitor } from "./console-journey.ts";
import { enter, isReady, pick, reach, type } from "./keyboard.ts";
import { type Person, signIn, signInByKeyboard } from "./sign-in-steps.ts";
import { addVirtualAuthenticator } from "./virtual-authenticator.ts";

const { scene, service, visitor } = journeys();
const db = () => service().database.query;

async function person(name: string): Promise<Person & { id: string }> {
  const email = `${name}@northwind.example`;
  const found = await findUserByEmail(db(), scene().orgId, email);
  assert.ok(found);
  return { email, password: PASSWORD, id: found.user.id };
}

const account = (rest = "") => `/oauth/${scene().orgId}/account${rest}`;

async function signedIn(t: Cleanup, who: Person, rest = "/security"): Promise<Visitor> {
  const visit = await visitor(t);
  await visit.open(account(rest));
  await signInByKeyboard(visit.page, who);
  await visit.page.locator("#content").waitFor();
  return visit;
}

/** Whether the browser is signed in: the page, loaded again, is there or asks for it. */
async function isSignedIn({ page, open }: Visitor): Promise<boolean> {
  await open(account("/security"));
  await page.locator("#login-submit, #password-change").first().waitFor();
  return page.locator("#password-change").isVisible();
}

test("profile and language: the next page and the next mail speak it; a new password leaves this browser alone signed in", async (t) => {
  const marta = await person("marta");
  const visit = await signedIn(t, marta, "");
  const { page } = visit;
  const other = await signedIn(t, marta);
  await type(page, "surname", "Sousa");
  await type(page, "phone", "one two three");
  await enter(page, "profile-save");
  await isReady(page, "phone");
  await visit.look("Profile");
  assert.equal(await page.locator("#surname").inputValue(), "Sousa", "what was typed is kept");
  await type(page, "phone", "+351 21 000 000");
  await pick(page, "locale", "de");
  await enter(page, "profile-save");
  await visit.at("Profil");
  assert.equal(await page.locator("html").getAttribute("lang"), "de");
  const saved = await findUser(db(), scene().orgId, marta.id);
  assert.deepEqual([saved?.surname, saved?.phone, saved?.locale], ["Sousa", "+351 21 000 000", "de"]);

  await enter(page, "nav-security");
  await enter(page, "password-change");
  await type(page, "present", "not this one");
  await type(page, "password", "seven loud geese");
  await enter(page, "password-save");
  await isReady(page, "present");
  assert.equal(await page.locator("#password").inputValue(), "", "passwords are never given back");
  await type(page, "present", marta.password);
  await type(page, "password", "seven loud geese");
  await enter(page, "password-save");
  await page.locator("#password-change").waitFor();
  assert.equal(await isSignedIn(visit), true);
  assert.equal(await isSignedIn(other), false);
  const mails = await mailsTo(service(), marta.email);
  const mail = mails.find(({ mail: { template } }) => template === "PasswordChanged");
  assert.equal(mail?.locale, "de");
  await signIn(other.page, marta);
  await other.page.getByRole("alert").first().waitFor();
  await signIn(other.page, { ...marta, password: "seven loud geese" });
  await other.page.locator("#password-change").waitFor();
});

test("an authenticator app, a passkey, and recovery codes that are new", async (t) => {
  const jonas = await person("jonas");
  const visit = await signedIn(t, jonas);
  const { page } = visit;
  await addVirtualAuthenticator(page);
  const factors = () => findFactorSummary(db(), { homeOrgId: scene().orgId, userId: jonas.id });
  await enter(page, "totp-setup");
  await type(page, "code", "000000");
  await enter(page, "totp-confirm");
  await isReady(page, "code");
  await visit.look(/^Set up an authenticator app/);
  await reach(page, "details summary");
  await page.keyboard.press("Enter");
  const secret = (await page.locator("#totp-key").innerText()).replaceAll(/\s/g, "");
  await type(page, "code", generateSync({ secret }));
  await enter(page, "totp-confirm");
  const first = await page.locator("#recovery-codes, .codes").first().innerText();
  await visit.look(/recovery codes/);
  await enter(page, "codes-kept");
  assert.deepEqual(await factors(), { hasTotp: true, passkeys: 0, recoveryCodes: 10 });

  await enter(page, "passkey-add");
  await type(page, "name", "Left pocket");
  await enter(page, "passkey-create");
  await page.getByText("The passkey is added.").waitFor();
  await page.locator("#passkeys", { hasText: "Left pocket" }).waitFor();
  assert.equal((await factors()).passkeys, 1);

  await enter(page, "recovery-renew");
  await enter(page, "change-confirm");
  const second = await page.locator("#recovery-codes, .codes").first().innerText();
  assert.notEqual(second, first);
  await enter(page, "codes-kept");
  await visit.at("Password and security");

  // Who is asked for a second factor may have had a browser remembered: it is forgotten.
  const now = Date.now();
  const device = {
    id: randomUUID(),
    orgId: scene().orgId,
    userId: jonas.id,
    tokenHash: "of-another-browser",
  };
  const seen = { userAgent: "Firefox", address: "192.0.2.9", createdAt: now, lastUsedAt: now };
  await insertRememberedDevice(db(), { ...device, ...seen, expiresAt: now + 60_000 });
  await page.reload();
  await enter(page, "#devices li a");
  await enter(page, "change-confirm");
  const user = await findUser(db(), scene().orgId, jonas.id);
  assert.ok(user);
  assert.deepEqual(await listRememberedDevices(db(), user, now), []);
});

async function downloaded(page: Page, target: string): Promise<string> {
  await reach(page, target);
  const [file] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
  return readFile(await file.path(), "utf8");
}

test("another browser is signed out, a consent taken back, both are in the activity, and all of it in the file", async (t) => {
  const aiko = await person("aiko");
  const { orgId, ids } = scene();
  const application = await findApplication(db(), orgId, ids["applications"] ?? "");
  assert.ok(application);
  const consent = { application, userId: aiko.id, scopes: ["openid", "email"], actor: `user:${aiko.id}` };
  await grantByAdministrator(service(), { ...consent, address: "127.0.0.1" });
  const visit = await signedIn(t, aiko);
  const { page } = visit;
  const other = await signedIn(t, aiko);
  await enter(page, "nav-sessions");
  await enter(page, "#sessions li:not(:has(.tag)) > a");
  await enter(page, "change-confirm");
  await page.locator("#sessions-done").waitFor();
  assert.equal(await isSignedIn(other), false);
  await enter(page, "nav-consents");
  await enter(page, "#consents li > a");
  await enter(page, "consent-revoke");
  await page.locator("#consents-done").waitFor();
  assert.deepEqual(await listUserConsents(db(), { orgId, userId: aiko.id }), []);
  await enter(page, "nav-activity");
  const shown = await page.locator("#content").innerText();
  assert.match(shown, /Session ended/);
  assert.match(shown, /Consent (taken back|revoked)/);

  await enter(page, "nav-data");
  const text = await downloaded(page, "data-export");
  const data = JSON.parse(text) as Record<string, unknown>;
  assert.ok(JSON.stringify(data).includes(aiko.email));
  const kept = await findUserByEmail(db(), orgId, aiko.email);
  assert.ok(kept?.passwordHash && !text.includes(kept.passwordHash));
  assert.doesNotMatch(text, /sgn_|argon2|"\w*(?:hash|secret|token|publicKey)": "/i);
  assert.doesNotMatch(text, /grace@|jonas@/, "nobody else is in it");
});

test("an account is deleted by typing the address, and is gone", async (t) => {
  const luc = await person("luc");
  const visit = await signedIn(t, luc, "/data");
  const { page } = visit;
  await enter(page, "account-delete");
  await isReady(page, "name");
  await type(page, "name", "luc@elsewhere.example");
  await enter(page, "deletion-confirm");
  await isReady(page, "name");
  await visit.at("Delete your account?");
  assert.ok(await findUser(db(), scene().orgId, luc.id), "nothing is deleted by another address");
  await type(page, "name", luc.email);
  await enter(page, "deletion-confirm");
  await page.locator("#gone").waitFor();
  assert.equal(await findUser(db(), scene().orgId, luc.id), undefined);
  const mails = await mailsTo(service(), luc.email);
  assert.equal(mails.at(-1)?.mail.template, "AccountDeleted");
  await visit.open(account("/data"));
  await signIn(page, luc);
  await page.getByRole("alert").first().waitFor();
});
