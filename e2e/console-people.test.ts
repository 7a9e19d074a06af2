/** What an administrator does with the people of the organisation, by keyboard alone, in real Chromium (issue 8). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { findFactorSummary } from "../packages/server/src/core/second-factors/store.ts";
import { findUser, findUserByEmail, insertMembership } from "../packages/server/src/core/users/store.ts";
import { giveAuthenticator } from "../packages/server/src/testing/test-factors.ts";
import { newestLink } from "../packages/server/src/testing/test-mailbox.ts";
import type { TestOrganisation } from "../packages/server/src/testing/test-service.ts";
import { doneText, journeys, type Visitor } from "./console-journey.ts";
import { enter, isReady, pick, pressEnter, reach, type } from "./keyboard.ts";
import { signIn, signInByKeyboard } from "./sign-in-steps.ts";

const { scene, service, visitor } = journeys();

const userOf = (id: string) => findUser(service().database.query, scene().orgId, id);
const securityPath = () => `/oauth/${scene().orgId}/account/security`;

async function signedInAt(visit: Visitor, person: { email: string; password: string }): Promise<void> {
  await visit.open(securityPath());
  await signIn(visit.page, person);
  await visit.page.locator("#password-change").waitFor();
}

test("somebody is invited, follows the link of the mail, and signs in", async (t) => {
  const visit = await visitor(t, scene().admin);
  const { page } = visit;
  await visit.open("/users");
  await enter(page, "user-new");
  await isReady(page, "email");
  await type(page, "email", "nobody");
  await type(page, "firstname", "Ines");
  await enter(page, "user-create");
  await isReady(page, "email");
  await visit.at("Add a user");
  assert.equal(await page.locator("#firstname").inputValue(), "Ines", "what was typed is kept");
  const email = "ines@northwind.example";
  await type(page, "email", email);
  await enter(page, "user-create");
  assert.equal(await doneText(page), "The invitation is on its way.");
  assert.match(await page.locator("#user-state").innerText(), /Invitation not accepted/);

  const invited = await visitor(t);
  const password = "four quiet herons";
  await invited.page.goto(await newestLink(service(), email));
  await isReady(invited.page, "password");
  await invited.page.keyboard.type(password);
  await pressEnter(invited.page);
  await signedInAt(invited, { email, password });
  await page.reload();
  assert.match(await page.locator("#user-state").innerText(), /Active/);
  const made = (await findUserByEmail(service().database.query, scene().orgId, email))?.user;
  assert.deepEqual([made?.firstname, made?.role, made?.emailVerified], ["Ines", "Standard", true]);
});

test("a role is given: from then on the console opens", async (t) => {
  const { admin, user } = scene();
  const grace = await visitor(t);
  await signedInAt(grace, user);
  await grace.open("/users");
  assert.equal(await grace.page.locator("#user-new").count(), 0, "for administrators alone");
  const { page, open } = await visitor(t, admin);
  await open(`/users/${user.id}`);
  await enter(page, "user-edit");
  await pick(page, "role", "Administrator");
  await enter(page, "user-save");
  assert.equal(await doneText(page), "The changes are saved.");
  assert.equal((await userOf(user.id))?.role, "Administrator");
  await grace.open("/users");
  assert.equal(await grace.page.locator("#user-new").count(), 1);

  await enter(page, "user-edit");
  await pick(page, "role", "Standard");
  await enter(page, "user-save");
  await grace.page.reload();
  assert.equal(await grace.page.locator("#user-new").count(), 0);
});

test("a session is ended, the second factors are reset, and the user is disabled and enabled", async (t) => {
  const { admin, user, orgId } = scene();
  const grace = await visitor(t);
  await signedInAt(grace, user);
  const of = { organisation: { id: orgId }, user } as unknown as TestOrganisation;
  await giveAuthenticator(service(), of);
  const { page, open } = await visitor(t, admin);
  await open(`/users/${user.id}`);
  await enter(page, "session-end-0");
  await enter(page, "session-end-confirm");
  assert.equal(await doneText(page), "Signed out.");
  await grace.page.reload();
  await grace.page.locator("#login-submit").waitFor();

  await enter(page, "factors-reset");
  await enter(page, "reset-confirm");
  assert.equal(await doneText(page), "The second factors are reset.");
  const factors = await findFactorSummary(service().database.query, { homeOrgId: orgId, userId: user.id });
  assert.deepEqual(factors, { hasTotp: false, passkeys: 0, recoveryCodes: 0 });

  await enter(page, "user-disable");
  await enter(page, "disable-confirm");
  assert.equal(await doneText(page), "The user is disabled.");
  await signIn(grace.page, user);
  await grace.page.locator("#login-notice, [role=alert]").first().waitFor();
  await enter(page, "user-enable");
  await enter(page, "enable-confirm");
  assert.equal((await userOf(user.id))?.disabledAt, null);
  await signedInAt(grace, user);
});

test("the last administrator can neither give up the role nor delete the account", async (t) => {
  const { admin } = scene();
  const visit = await visitor(t, admin);
  const { page } = visit;
  await visit.open(`/users/${admin.id}/edit`);
  assert.equal(await page.locator("#role").count(), 0, "another administrator changes it");
  await visit.open(`/users/${admin.id}/delete`);
  await type(page, "name", admin.email);
  await enter(page, "delete-confirm");
  await page.locator("#form-notice", { hasText: "That is your own account" }).waitFor();
  await visit.look(`Delete ${admin.email}?`);
  await visit.open(`/users/${admin.id}/disable`);
  await enter(page, "disable-confirm");
  await page.locator("#form-notice", { hasText: "That is your own account" }).waitFor();
  await visit.open(`/oauth/${scene().orgId}/account/deletion`);
  await type(page, "name", admin.email);
  await enter(page, "deletion-confirm");
  await page.locator("#form-notice, [role=alert]").first().waitFor();
  const kept = await userOf(admin.id);
  assert.deepEqual([kept?.role, kept?.disabledAt], ["Administrator", null]);
});

test("a user is deleted by typing the address, and is signed out", async (t) => {
  const { admin, orgId } = scene();
  const email = "luc@northwind.example";
  const luc = (await findUserByEmail(service().database.query, orgId, email))?.user;
  const there = await visitor(t);
  await signedInAt(there, { email, password: admin.password });
  const { page, open } = await visitor(t, admin);
  await open("/users");
  await type(page, "search", "luc");
  await pressEnter(page);
  await enter(page, "tbody a.item-name");
  await enter(page, "user-delete");
  await type(page, "name", "luc");
  await enter(page, "delete-confirm");
  await isReady(page, "name");
  assert.ok(await userOf(luc?.id ?? ""), "nothing is deleted by a wrong address");
  await type(page, "name", email);
  await enter(page, "delete-confirm");
  assert.equal(await doneText(page), "The user is deleted.");
  assert.equal(await userOf(luc?.id ?? ""), undefined);
  await there.page.reload();
  await there.page.locator("#login-submit").waitFor();
});

test("an administrator of two organisations goes from one to the other by the switcher", async (t) => {
  const { admin, orgId } = scene();
  const db = service().database.query;
  const { id: other } = await db
    .selectFrom("organisation")
    .select("id")
    .where("name", "=", "Harbour Clinic")
    .executeTakeFirstOrThrow();
  const visit = await visitor(t, admin);
  const { page } = visit;
  await visit.open("/users");
  assert.equal(await page.locator("#switch-open").count(), 0, "there is nowhere else to go");
  const membership = { userId: admin.id, homeOrgId: orgId, role: "Administrator" } as const;
  await insertMembership(db, { ...membership, orgId: other, now: Date.now() });
  await page.reload();
  await reach(page, "switch-open");
  await page.keyboard.press("Enter");
  await enter(page, "#switch a");
  assert.ok(new URL(page.url()).pathname.includes(other));
  if (await page.locator("#login-submit").isVisible()) await signInByKeyboard(page, admin);
  await page.locator("#nav-home", { hasText: "Harbour Clinic" }).waitFor();
  await reach(page, "switch-open");
  await page.keyboard.press("Enter");
  await enter(page, "#switch a");
  await page.locator("#nav-home", { hasText: "Northwind" }).waitFor();
});
