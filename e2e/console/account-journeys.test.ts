/** What everybody does with the own account, by keyboard alone, in real Chromium (issue 8, point 4). */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { generateSync } from "otplib";
import type { Page } from "playwright-core";
import { cibaGrantType } from "../../packages/server/src/core/applications/application.ts";
import { findApplication } from "../../packages/server/src/core/applications/applications.store.ts";
import {
  insertIdentity,
  listIdentities,
} from "../../packages/server/src/core/connections/sign-in/linked-identities.store.ts";
import { listUserConsents } from "../../packages/server/src/core/consents/consents.store.ts";
import { grantByAdministrator } from "../../packages/server/src/core/consents/consents.ts";
import { issuerOf } from "../../packages/server/src/core/organisations/organisation.ts";
import { findOrganisation } from "../../packages/server/src/core/organisations/organisations.store.ts";
import { findFactorSummary } from "../../packages/server/src/core/second-factors/second-factors.store.ts";
import {
  insertTrustedBrowser,
  listTrustedBrowsers,
} from "../../packages/server/src/core/second-factors/trusted-browsers/trusted-browsers.store.ts";
import { findUser, findUserByEmail } from "../../packages/server/src/core/users/users.store.ts";
import { mailsTo, newestLink } from "../../packages/server/src/testing/fakes/mailbox.ts";
import { credentials, postForm } from "../../packages/server/src/testing/fixtures/client.ts";
import { newSignInConnection } from "../../packages/server/src/testing/fixtures/sign-in-connection.ts";
import { makeClient, PASSWORD } from "../../packages/server/src/testing/test-service.ts";
import { type Person, signIn, signInByKeyboard } from "../journeys/sign-in-steps.ts";
import { addVirtualAuthenticator } from "../journeys/virtual-authenticator.ts";
import { enter, hasScripts, isReady, pick, press, type } from "../support/hand.ts";
import { type Cleanup, confirmByName, journeys, type Visitor } from "./console-journey.ts";

const { fixture, service, visitor, assertAllSent } = journeys();
const db = () => service().database.query;

async function person(name: string): Promise<Person & { id: string }> {
  const email = `${name}@northwind.example`;
  const found = await findUserByEmail(db(), fixture().orgId, email);
  assert.ok(found);
  return { email, password: PASSWORD, id: found.user.id };
}

const account = (rest = "") => `/oauth/${fixture().orgId}/account${rest}`;

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

test("a new language applies to the next page and email; a new password ends all other sessions", async (t) => {
  const marta = await person("marta");
  const visit = await signedIn(t, marta, "/profile");
  const { page } = visit;
  const other = await signedIn(t, marta);
  await type(page, "surname", "Sousa");
  await type(page, "phone", "one two three");
  await enter(page, "profile-save");
  await isReady(page, "phone");
  await visit.look("Profile");
  assert.equal(await page.locator("#surname").inputValue(), "Sousa", "what was typed is kept");
  const profileNow = async () => {
    const user = await findUser(db(), fixture().orgId, marta.id);
    return [user?.surname, user?.phone, user?.locale];
  };
  const before = await profileNow();
  const save = async () => {
    await type(page, "surname", "Sousa");
    await type(page, "phone", "+351 21 000 000");
    await pick(page, "locale", "de");
    await enter(page, "profile-save");
    await visit.at("Profil");
    assert.equal(await page.locator("html").getAttribute("lang"), "de");
    assert.deepEqual(await profileNow(), ["Sousa", "+351 21 000 000", "de"]);
  };
  await save();
  await enter(page, "undo");
  await visit.at("Profile");
  assert.deepEqual(await profileNow(), before);
  await save();

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

test("changes the email address by a confirmation link, and signs out everywhere", async (t) => {
  const { user: grace, orgId } = fixture();
  const visit = await signedIn(t, grace, "/profile");
  const { page } = visit;
  const other = await signedIn(t, grace);
  const next = "grace.okafor@northwind.example";
  await enter(page, "email-change");
  await isReady(page, "newEmail");
  await type(page, "newEmail", grace.email);
  await enter(page, "address-send");
  await isReady(page, "newEmail");
  await type(page, "newEmail", next);
  await enter(page, "address-send");
  await page.locator("#address-sent", { hasText: next }).waitFor();
  assert.equal((await findUser(db(), orgId, grace.id))?.email, grace.email, "until the link is used");
  await page.goto(await newestLink(service(), next));
  await enter(page, "action-confirm");
  assert.equal((await findUser(db(), orgId, grace.id))?.email, next);
  await visit.open(account("/profile"));
  assert.equal(await page.locator("#email-shown").innerText(), next);

  await enter(page, "nav-sessions");
  await enter(page, "sessions-end-all");
  await enter(page, "change-confirm");
  assert.equal(await isSignedIn(visit), false);
  assert.equal(await isSignedIn(other), false);
  await signInByKeyboard(page, { ...grace, email: next });
  await page.locator("#password-change").waitFor();
});

test("adds and removes an authenticator app and a passkey, and replaces the recovery codes", async (t) => {
  const jonas = await person("jonas");
  const visit = await signedIn(t, jonas);
  const { page } = visit;
  await addVirtualAuthenticator(page);
  const factors = () => findFactorSummary(db(), { homeOrgId: fixture().orgId, userId: jonas.id });
  await enter(page, "totp-setup");
  await type(page, "code", "000000");
  await enter(page, "totp-confirm");
  await isReady(page, "code");
  await visit.look(/^Set up an authenticator app/);
  await press(page, "details summary");
  const secret = (await page.locator("#totp-key").innerText()).replaceAll(/\s/g, "");
  await type(page, "code", generateSync({ secret }));
  await enter(page, "totp-confirm");
  const first = await page.locator("#recovery-codes, .codes").first().innerText();
  await visit.look(/recovery codes/);
  await enter(page, "codes-kept");
  assert.deepEqual(await factors(), { hasTotp: true, passkeys: 0, recoveryCodes: 10 });

  // Only a script can ask an authenticator for a passkey.
  if (hasScripts) {
    await enter(page, "passkey-add");
    await type(page, "name", "Left pocket");
    await enter(page, "passkey-create");
    await page.getByText("Passkey added.").waitFor();
    await page.locator("#passkeys", { hasText: "Left pocket" }).waitFor();
    assert.equal((await factors()).passkeys, 1);
  }

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
    orgId: fixture().orgId,
    userId: jonas.id,
    tokenHash: "of-another-browser",
  };
  const seen = { userAgent: "Firefox", address: "192.0.2.9", createdAt: now, lastUsedAt: now };
  await insertTrustedBrowser(db(), { ...device, ...seen, expiresAt: now + 60_000 });
  await page.reload();
  await enter(page, "#devices li a");
  await enter(page, "change-confirm");
  const user = await findUser(db(), fixture().orgId, jonas.id);
  assert.ok(user);
  assert.deepEqual(await listTrustedBrowsers(db(), user, now), []);
  await unlinkConnection(visit, jonas.id);
  await takeAway(visit);
  assert.deepEqual(await factors(), { hasTotp: false, passkeys: 0, recoveryCodes: 0 });
});

/** Of an identity provider that the account is linked with. */
async function unlinkConnection({ page, look }: Visitor, userId: string): Promise<void> {
  const { orgId } = fixture();
  const connectionId = await newSignInConnection(service(), orgId);
  const times = { createdAt: Date.now(), lastSignInAt: Date.now() };
  await insertIdentity(db(), { orgId, connectionId, subject: "jonas", userId, ...times });
  await page.reload();
  await look("Password and security");
  await enter(page, `connection-unlink-${connectionId}`);
  await enter(page, "change-confirm");
  await page.locator("#security-done").waitFor();
  assert.deepEqual(await listIdentities(db(), { orgId, userIds: [userId] }), []);
}

/** The passkey gets another name first. */
async function takeAway({ page }: Visitor): Promise<void> {
  if (hasScripts) {
    await enter(page, "#passkeys li a");
    await type(page, "name", "Right pocket");
    await enter(page, "passkey-rename");
    await page.locator("#passkeys", { hasText: "Right pocket" }).waitFor();
    await enter(page, "#passkeys li a");
    await enter(page, "passkey-remove");
    await page.getByText("Passkey removed.").waitFor();
  }
  await enter(page, "totp-remove");
  await enter(page, "change-confirm");
  await page.getByText("Authenticator app removed.").waitFor();
}

async function downloaded(page: Page, target: string): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent("download"), press(page, target)]);
  return readFile(await file.path(), "utf8");
}

test("ends another session and revokes a consent; both are in the activity log and in the data export", async (t) => {
  const aiko = await person("aiko");
  const { orgId, ids } = fixture();
  const application = await findApplication(db(), orgId, ids["applications"] ?? "");
  assert.ok(application);
  const consent = { application, userId: aiko.id, scopes: ["openid", "email"], actor: `user:${aiko.id}` };
  await grantByAdministrator(service(), { ...consent, address: "127.0.0.1" });
  const visit = await signedIn(t, aiko);
  const { page } = visit;
  const other = await signedIn(t, aiko);
  await enter(page, "nav-sessions");
  await enter(page, "#sessions li:not(:has(.state.good)) > a");
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

/** An application that asks from behind (CIBA); the person finds the request on the home of the account. */
test("approves one request of an application and denies another", async (t) => {
  const aiko = await person("aiko");
  const organisation = await findOrganisation(db(), fixture().orgId);
  assert.ok(organisation);
  const settings = { grantTypes: [cibaGrantType], allowedScopes: ["openid", "profile"] } as const;
  const client = await makeClient(service(), organisation, settings);
  const issuer = issuerOf(fixture().baseUrl, organisation.id);
  const ask = async (binding_message: string) => {
    const form = { ...credentials(client), scope: "openid profile", login_hint: aiko.email, binding_message };
    const { status, body } = await postForm(`${issuer}/bc-authorize`, form);
    assert.equal(status, 200);
    return { auth_req_id: String(body["auth_req_id"]) };
  };
  const poll = (request: { auth_req_id: string }) =>
    postForm(`${issuer}/token`, { ...credentials(client), grant_type: cibaGrantType, ...request });
  const visit = await signedIn(t, aiko, "");
  const { page, look } = visit;
  for (const decision of ["allow", "deny"] as const) {
    const request = await ask(`till ${decision}`);
    await visit.open(account());
    await enter(page, 'main a[href*="/account/requests/"]');
    await page.locator("#binding-message", { hasText: `till ${decision}` }).waitFor();
    await look(/./);
    await enter(page, `request-${decision}`);
    await page.locator("#request-done").waitFor();
    const { status, body } = await poll(request);
    if (decision === "allow") assert.equal(body["token_type"], "Bearer");
    else assert.deepEqual([status, body["error"]], [400, "access_denied"]);
  }
});

test("deletes an account after its email address is typed", async (t) => {
  const luc = await person("luc");
  const visit = await signedIn(t, luc, "/data");
  const { page } = visit;
  await enter(page, "account-delete");
  await visit.at("Delete your account?");
  const confirmation = { button: "deletion-confirm", name: luc.email };
  await confirmByName(page, confirmation, () => findUser(db(), fixture().orgId, luc.id));
  await page.locator("#gone").waitFor();
  assert.equal(await findUser(db(), fixture().orgId, luc.id), undefined);
  const mails = await mailsTo(service(), luc.email);
  assert.equal(mails.at(-1)?.mail.template, "AccountDeleted");
  await visit.open(account("/data"));
  await signIn(page, luc);
  await page.getByRole("alert").first().waitFor();
});

test("a guest leaves the organisation and keeps the account at the home organisation", async (t) => {
  const { orgId, ids } = fixture();
  const id = ids["users/remove"] ?? "";
  const guest = await findUser(db(), orgId, id);
  assert.ok(guest);
  const who = { email: guest.email, password: PASSWORD, id };
  const visit = await signedIn(t, who, "/data");
  const { page } = visit;
  await enter(page, "organisation-leave");
  await enter(page, "leave-confirm");
  await page.locator("#gone").waitFor();
  assert.equal(await findUser(db(), orgId, id), undefined);
  assert.ok(await findUser(db(), guest.homeOrgId, id));
  await visit.open(account("/data"));
  await signInByKeyboard(page, who);
  await page.getByRole("alert").first().waitFor();
});

test("every form of the account pages was submitted", () => {
  assertAllSent("account");
});
