/** What an administrator does with the people of the organisation, by keyboard alone, in real Chromium (issue 8). */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { listUserConsents } from "../../packages/server/src/core/consents/consents.store.ts";
import { findFactorSummary } from "../../packages/server/src/core/second-factors/second-factors.store.ts";
import {
  findUser,
  findUserByEmail,
  insertMembership,
} from "../../packages/server/src/core/users/users.store.ts";
import { mailsTo, newestLink } from "../../packages/server/src/testing/fakes/mailbox.ts";
import { groupRef, makeDirectory, userRef } from "../../packages/server/src/testing/fixtures/directory.ts";
import { giveAuthenticator } from "../../packages/server/src/testing/fixtures/factors.ts";
import { PASSWORD, type TestOrganisation } from "../../packages/server/src/testing/test-service.ts";
import { signIn, signInByKeyboard } from "../journeys/sign-in-steps.ts";
import { enter, isReady, pick, press, pressEnter, tick, type } from "../support/hand.ts";
import { keepPictures } from "../support/page-watch.ts";
import { confirmByName, doneText, journeys, type Visitor } from "./console-journey.ts";

const { fixture, service, visitor, assertAllSent } = journeys();

const userOf = (id: string) => findUser(service().database.query, fixture().orgId, id);
const securityPath = () => `/oauth/${fixture().orgId}/account/security`;

async function signedInAt(visit: Visitor, person: { email: string; password: string }): Promise<void> {
  await visit.open(securityPath());
  await signIn(visit.page, person);
  // Those of others have their passwords at home.
  await visit.page.locator("#password-change, #security-elsewhere").waitFor();
}

/** Asked on a page of its own. @returns what the notice says afterwards */
async function confirmed(page: Page, act: string, button: string): Promise<string> {
  await enter(page, act);
  await enter(page, button);
  return doneText(page);
}

/** Of a browser that was signed in. */
async function isSignedOut({ page }: Visitor): Promise<void> {
  await page.reload();
  await page.locator("#login-submit").waitFor();
}

test("a user invited twice accepts the newer invitation and signs in", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  await visit.open("/users");
  await enter(page, "user-new");
  await isReady(page, "email");
  await type(page, "email", "nobody");
  await type(page, "firstname", "Ines");
  await enter(page, "user-create");
  await isReady(page, "email");
  await visit.at("Add user");
  assert.equal(await page.locator("#firstname").inputValue(), "Ines", "what was typed is kept");
  const email = "ines@northwind.example";
  await type(page, "email", email);
  await enter(page, "user-create");
  assert.equal(await doneText(page), "Invitation on its way.");
  assert.match(await page.locator("#user-state").innerText(), /Invited/);
  const older = await newestLink(service(), email);
  const again = await confirmed(page, "invite-again", "invite-again-confirm");
  assert.equal(again, "Invitation on its way.");

  const invited = await visitor(t);
  const password = "four quiet herons";
  await invited.page.goto(older);
  await invited.page.locator("h1").waitFor();
  assert.equal(await invited.page.locator("#invitation-accept").count(), 0, "the older link opens nothing");
  await invited.page.goto(await newestLink(service(), email));
  await isReady(invited.page, "password");
  await invited.page.keyboard.type(password);
  await pressEnter(invited.page);
  await invited.page.locator("#my-apps").waitFor();
  assert.match(await invited.page.locator("#who-open").innerText(), new RegExp(email), "signed in");
  await press(invited.page, "who-open");
  await enter(invited.page, "nav-sign-out");
  await invited.page.locator("h1", { hasText: "You’re signed out" }).waitFor();
  await signedInAt(invited, { email, password });
  await page.reload();
  assert.match(await page.locator("#user-state").innerText(), /Active/);
  const made = (await findUserByEmail(service().database.query, fixture().orgId, email))?.user;
  assert.deepEqual([made?.firstname, made?.role, made?.emailVerified], ["Ines", "Standard", true]);
});

test("a withdrawn invitation's link is invalid", async (t) => {
  const id = fixture().ids["users/invitation"] ?? "";
  const link = await newestLink(service(), (await userOf(id))?.email ?? "");
  const invited = await visitor(t);
  await invited.page.goto(link);
  await invited.page.locator("#invitation-accept").waitFor();
  const { page, open } = await visitor(t, fixture().admin);
  await open(`/users/${id}`);
  const done = await confirmed(page, "invite-withdraw", "invite-withdraw-confirm");
  assert.equal(done, "Invitation withdrawn.");
  await invited.page.reload();
  await invited.page.locator("h1").waitFor();
  assert.equal(await invited.page.locator("#invitation-accept").count(), 0);
});

test("a user who becomes an administrator can open the console", async (t) => {
  const { admin, user } = fixture();
  const grace = await visitor(t);
  await signedInAt(grace, user);
  await grace.open("/users");
  assert.equal(await grace.page.locator("#user-new").count(), 0, "for administrators alone");
  const { page, open } = await visitor(t, admin);
  await open(`/users/${user.id}`);
  await enter(page, "user-edit");
  await pick(page, "role", "Administrator");
  await enter(page, "user-save");
  assert.equal(await doneText(page), "Changes saved.");
  assert.equal((await userOf(user.id))?.role, "Administrator");
  await grace.open("/users");
  assert.equal(await grace.page.locator("#user-new").count(), 1);

  await enter(page, "user-edit");
  await pick(page, "role", "Standard");
  await enter(page, "user-save");
  await grace.page.reload();
  assert.equal(await grace.page.locator("#user-new").count(), 0);
});

test("revokes access, ends a session, resets second factors, disables and enables the user", async (t) => {
  const { admin, user, orgId } = fixture();
  const db = service().database.query;
  const grace = await visitor(t);
  await signedInAt(grace, user);
  const of = { organisation: { id: orgId }, user } as unknown as TestOrganisation;
  await giveAuthenticator(service(), of);
  const { page, open } = await visitor(t, admin);
  await open(`/users/${user.id}`);
  await enter(page, "tab-access");
  assert.equal(await confirmed(page, "consent-revoke-0", "consent-revoke-confirm"), "Access revoked.");
  assert.deepEqual(await listUserConsents(db, { orgId, userId: user.id }), []);

  await enter(page, "tab-security");
  // The one that was used last.
  assert.equal(await confirmed(page, "session-end-0", "session-end-confirm"), "Signed out.");
  await isSignedOut(grace);

  const reset = await confirmed(page, "factors-reset", "reset-confirm");
  assert.equal(reset, "Second factors reset.");
  const factors = await findFactorSummary(db, { homeOrgId: orgId, userId: user.id });
  assert.deepEqual(factors, { hasTotp: false, passkeys: 0, recoveryCodes: 0 });

  await enter(page, "tab-advanced");
  assert.equal(await confirmed(page, "user-disable", "disable-confirm"), "User disabled.");
  await signIn(grace.page, user);
  await grace.page.locator("#login-notice, [role=alert]").first().waitFor();
  assert.equal(await confirmed(page, "user-enable", "enable-confirm"), "User enabled.");
  assert.equal((await userOf(user.id))?.disabledAt, null);
  await signedInAt(grace, user);
});

test("signs a user out everywhere, changes the email address and the password", async (t) => {
  const { admin, orgId } = fixture();
  const email = "marta@northwind.example";
  const marta = (await findUserByEmail(service().database.query, orgId, email))?.user;
  const id = marta?.id ?? "";
  const there = await visitor(t);
  await signedInAt(there, { email, password: admin.password });
  const { page, open } = await visitor(t, admin);
  await open(`/users/${id}`);
  await enter(page, "tab-security");
  assert.equal(await confirmed(page, "user-sign-out", "sign-out-confirm"), "Signed out.");
  await isSignedOut(there);
  await enter(page, "tab-overview");

  const next = "marta.silva@northwind.example";
  await enter(page, "user-address");
  await type(page, "newEmail", "marta at home");
  await enter(page, "address-change");
  await isReady(page, "newEmail");
  await type(page, "newEmail", next);
  await enter(page, "address-change");
  assert.match(await doneText(page), /^A link is on its way to the new address/);
  assert.equal((await mailsTo(service(), next)).at(-1)?.mail.template, "ChangeEmail");
  assert.equal((await userOf(id))?.email, email, "until the link is used");
  await enter(page, "user-address");
  await type(page, "newEmail", next);
  await tick(page, "known");
  await enter(page, "address-change");
  assert.equal(await doneText(page), "Email address changed.");
  assert.equal((await userOf(id))?.email, next);

  await enter(page, "tab-security");
  const sent = await confirmed(page, "password-reset", "password-reset-confirm");
  assert.equal(sent, "Password reset link on its way.");
  assert.equal((await mailsTo(service(), next)).at(-1)?.mail.template, "ResetPassword");
  await enter(page, "password-new");
  await enter(page, "new-password-confirm");
  const password = await page.locator("#new-password").innerText();
  await enter(page, "once-done");
  assert.ok(!(await page.content()).includes(password), "shown once");
  await signIn(there.page, { email: next, password: admin.password });
  await there.page.getByRole("alert").first().waitFor();
  await signIn(there.page, { email: next, password });
  await there.page.locator("#password-change").waitFor();
});

test("disables a guest here alone, enables and removes them, and signs the guest out", async (t) => {
  const { admin, ids } = fixture();
  const id = ids["users/remove"] ?? "";
  const guest = await userOf(id);
  assert.ok(guest);
  const there = await visitor(t);
  await signedInAt(there, { email: guest.email, password: PASSWORD });
  const { page, open } = await visitor(t, admin);
  await open(`/users/${id}`);
  await enter(page, "tab-advanced");
  await enter(page, "user-disable");
  await enter(page, "disable-confirm");
  assert.equal(await doneText(page), "User disabled.");
  await isSignedOut(there);
  assert.equal((await findUser(service().database.query, guest.homeOrgId, id))?.disabledAt, null);
  await enter(page, "user-enable");
  await enter(page, "enable-confirm");
  assert.equal(await doneText(page), "User enabled.");
  assert.equal((await userOf(id))?.disabledAt, null);
  await enter(page, "user-remove");
  await confirmByName(page, { button: "remove-confirm", name: guest.email }, () => userOf(id));
  assert.equal(await doneText(page), "Guest removed from the organisation.");
  assert.equal(await userOf(id), undefined);
  assert.ok(await findUser(service().database.query, guest.homeOrgId, id), "the account stays at home");
});

test("the last administrator can neither drop the role nor delete the account", async (t) => {
  const { admin } = fixture();
  const visit = await visitor(t, admin);
  const { page } = visit;
  await visit.open(`/users/${admin.id}/edit`);
  assert.equal(await page.locator("#role").count(), 0, "another administrator changes it");
  await visit.open(`/users/${admin.id}/delete`);
  await type(page, "name", admin.email);
  await enter(page, "delete-confirm");
  await page.locator("#form-notice", { hasText: "You can’t do this to your own account" }).waitFor();
  await visit.look(`Delete ${admin.email}?`);
  await visit.open(`/users/${admin.id}/disable`);
  await enter(page, "disable-confirm");
  await page.locator("#form-notice", { hasText: "You can’t do this to your own account" }).waitFor();
  await visit.open(`/oauth/${fixture().orgId}/account/deletion`);
  await type(page, "name", admin.email);
  await enter(page, "deletion-confirm");
  await page.locator("#form-notice, [role=alert]").first().waitFor();
  const kept = await userOf(admin.id);
  assert.deepEqual([kept?.role, kept?.disabledAt], ["Administrator", null]);
});

test("deletes a user after the email address is typed, and signs the user out", async (t) => {
  const { admin, orgId } = fixture();
  const email = "luc@northwind.example";
  const luc = (await findUserByEmail(service().database.query, orgId, email))?.user;
  const there = await visitor(t);
  await signedInAt(there, { email, password: admin.password });
  const { page, open } = await visitor(t, admin);
  await open("/users");
  await type(page, "search", "luc");
  await pressEnter(page);
  await enter(page, "tbody a.item-name");
  await enter(page, "tab-advanced");
  await enter(page, "user-delete");
  await confirmByName(page, { button: "delete-confirm", name: email }, () => userOf(luc?.id ?? ""));
  assert.equal(await doneText(page), "User deleted.");
  assert.equal(await userOf(luc?.id ?? ""), undefined);
  await isSignedOut(there);
});

test("an administrator of two organisations switches between them", async (t) => {
  const { admin, orgId } = fixture();
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
  await press(page, "switch-open");
  await enter(page, "#switch a");
  assert.ok(new URL(page.url()).pathname.includes(other));
  if (await page.locator("#login-submit").isVisible()) await signInByKeyboard(page, admin);
  await page.locator(".top .org", { hasText: "Harbour Clinic" }).waitFor();
  await press(page, "switch-open");
  await enter(page, "#switch a");
  await page.locator(".top .org", { hasText: "Northwind" }).waitFor();
});

test("imports users after a faulty line, disables and enables the ticked ones, and invites pasted addresses", async (t) => {
  const { admin, orgId } = fixture();
  const db = service().database.query;
  const memberOf = async (email: string) => (await findUserByEmail(db, orgId, email))?.user;
  const visit = await visitor(t, admin);
  const { page } = visit;
  const [nils, nora] = ["nils@harvest.example", "nora@harvest.example"];
  await visit.open("/users");
  await enter(page, "users-import");
  await type(page, "list", `email,firstname\n${nils},Nils\nnora,Nora`);
  await enter(page, "import-check");
  assert.match(await page.locator("#import-faults").innerText(), /Line 3: This is no valid email address\./);
  assert.match(await page.locator("#list").inputValue(), /nils@/, "what was typed is kept");
  await type(page, "list", `email,firstname\n${nils},Nils\n${nora},Nora`);
  if (await page.locator("#invites").isChecked()) await tick(page, "invites", false);
  await enter(page, "import-check");
  await page.locator("#import-confirm", { hasText: "Import 2 users" }).waitFor();
  assert.equal(await memberOf(nils), undefined, "shown before anything is created");
  await enter(page, "import-confirm");
  assert.equal(await doneText(page), "Users imported.");
  const ids = [(await memberOf(nils))?.id ?? "", (await memberOf(nora))?.id ?? ""];

  const actOnBoth = async (act: string) => {
    await visit.open("/users?search=harvest.example");
    for (const id of ids) await tick(page, `input[name="selected"][value="${id}"]`);
    await press(page, `bulk-${act}`);
    await enter(page, "bulk-confirm");
    await page.getByText("2 done.").waitFor();
    return Promise.all(ids.map(async (id) => (await userOf(id))?.disabledAt !== null));
  };
  assert.deepEqual(await actOnBoth("disable"), [true, true]);
  assert.deepEqual(await actOnBoth("enable"), [false, false]);
  await enter(page, "bulk-back");
  assert.equal(await page.locator("#search").inputValue(), "harvest.example", "back to the list as it was");

  await enter(page, "users-invite");
  await type(page, "list", `olga@harvest.example, ${nils}`);
  await enter(page, "import-check");
  await page.locator("#import-skipped", { hasText: "1 address skipped" }).waitFor();
  await enter(page, "import-confirm");
  assert.equal(await doneText(page), "Invitations sent.");
  assert.match(await newestLink(service(), "olga@harvest.example"), /^http:\/\/localhost:/);
  assert.deepEqual(await mailsTo(service(), nils), [], "who was there already is not written to");
});

test("a user's roles and groups are shown with the way to each, and taken away", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const { orgId, user, ids } = fixture();
  const directory = await makeDirectory(service(), orgId);
  const inner = await directory.group("Bread round", [userRef(user.id)]);
  await directory.group("All rounds", [groupRef(inner)]);
  const role = await directory.role(ids["applications"] ?? "", "rounds.driver");
  await directory.assign(role, "user", user.id);
  await visit.open(`/users/${user.id}`);
  await enter(page, "tab-access");
  await visit.look("Grace Okafor");
  await keepPictures(page, "user-access");
  assert.match(await page.locator("#user-groups").innerText(), /All rounds\s+Bread round/);
  await enter(page, `user-role-remove-${role}`);
  await enter(page, "user-role-remove-confirm");
  assert.equal(await doneText(page), "Role removed.");
  await enter(page, `user-group-remove-${inner}`);
  await enter(page, "user-group-remove-confirm");
  assert.equal(await doneText(page), "Removed from the group.");
  assert.doesNotMatch(await page.locator("#user-groups").innerText(), /All rounds/);
});

test("sign-ups that wait are approved, and rejected with a reason", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const { ids } = fixture();
  await visit.open("/users/sign-ups");
  await visit.look("Sign-ups");
  await keepPictures(page, "sign-ups");
  await enter(page, `approve-${ids["sign-ups/approve"]}`);
  await enter(page, "sign-up-approve");
  assert.equal(await doneText(page), "Sign-up approved.");
  await enter(page, `reject-${ids["sign-ups/reject"]}`);
  await type(page, "reason", "Not a customer");
  await enter(page, "sign-up-reject");
  assert.equal(await doneText(page), "Sign-up rejected.");
});

test("every form of the organisation's users was submitted", () => {
  assertAllSent("people");
});
