/** What an administrator does with groups and roles, by keyboard alone, in real Chromium (issue 22). */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { listAssignedGroups } from "../../packages/server/src/core/application-access/application-access.store.ts";
import { listMembers } from "../../packages/server/src/core/groups/group-members.store.ts";
import { findGroup } from "../../packages/server/src/core/groups/groups.store.ts";
import { listAssignments } from "../../packages/server/src/core/roles/assignments.store.ts";
import { findRole } from "../../packages/server/src/core/roles/roles.store.ts";
import { makeDirectory, userRef } from "../../packages/server/src/testing/fixtures/directory.ts";
import { enter, isReady, pick, press, type } from "../support/hand.ts";
import { keepPictures } from "../support/page-watch.ts";
import { confirmByName, doneText, journeys } from "./console-journey.ts";

const { fixture, service, visitor, assertAllSent } = journeys();

const db = () => service().database.query;
const lastPart = (page: Page): string => new URL(page.url()).pathname.split("/").at(-1) ?? "";

test("creates a group after a validation error, adds a user and a group, removes one, and deletes it by name", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const { orgId, user } = fixture();
  const other = await (await makeDirectory(service(), orgId)).group("Weekend crew");
  await visit.open("/groups");
  await enter(page, "group-new");
  await type(page, "displayName", "weekend CREW");
  await enter(page, "group-save");
  await isReady(page, "displayName");
  await visit.look("New group");
  await type(page, "displayName", "Harbour crew");
  await type(page, "description", "Loads and unloads");
  await enter(page, "group-save");
  const id = lastPart(page);
  const find = () => findGroup(db(), { orgId, id });
  assert.equal((await find())?.description, "Loads and unloads");

  await enter(page, "group-edit");
  await type(page, "displayName", "Harbour team");
  await page.keyboard.press("Enter");
  await page.locator("#done-notice").waitFor();
  assert.equal((await find())?.displayName, "Harbour team");

  const members = async () =>
    (await listMembers(db(), { orgId, id }, { effective: false, limit: 10 })).map((one) => one.id);
  await enter(page, "tab-members");
  await type(page, "member", "nobody@northwind.example");
  await enter(page, "member-add");
  await page.locator("#member[aria-invalid=true]").waitFor();
  await visit.look("Harbour team");
  await type(page, "member", user.email);
  await enter(page, "member-add");
  assert.equal(await doneText(page), "Member added.");
  await type(page, "member", "weekend crew");
  await enter(page, "member-add");
  await page.locator(`#member-${other}`).waitFor();
  assert.deepEqual(await members(), [other, user.id]);
  await enter(page, `member-remove-${user.id}`);
  await enter(page, "member-remove-confirm");
  assert.equal(await doneText(page), "Member removed.");
  assert.deepEqual(await members(), [other]);

  await press(page, "more-open");
  await enter(page, "group-delete");
  await confirmByName(page, { button: "group-delete-confirm", name: "Harbour team" }, find);
  assert.equal(await doneText(page), "Group deleted.");
  assert.equal(await find(), undefined);
});

test("creates a role after a validation error, assigns it to a group, asks why a user has it, and deletes it", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const { orgId, user, ids } = fixture();
  await (await makeDirectory(service(), orgId)).group("Paymasters", [userRef(user.id)]);
  await visit.open(`/applications/${ids["applications"]}`);
  await enter(page, "tab-roles");
  await enter(page, "role-new");
  await isReady(page, "key");
  await type(page, "key", "Pay Master");
  await type(page, "name", "Paymaster");
  await enter(page, "role-save");
  await page.locator("#key[aria-invalid=true]").waitFor();
  await visit.look("New role");
  await type(page, "key", "paymaster");
  await type(page, "permissions", "payslips:pay");
  await enter(page, "role-save");
  assert.equal(await doneText(page), "Role created.");
  const id = lastPart(page);
  await visit.look("Paymaster");
  await enter(page, "role-edit");
  await type(page, "description", "Pays");
  await enter(page, "role-save");
  assert.equal(await doneText(page), "Role saved.");

  await enter(page, "tab-assignments");
  await pick(page, "subjectType", "group");
  await type(page, "subject", "nobody");
  await enter(page, "assign-submit");
  await page.locator("#subject[aria-invalid=true]").waitFor();
  await visit.look("Paymaster");
  await type(page, "subject", "paymasters");
  await enter(page, "assign-submit");
  assert.equal(await doneText(page), "Role assigned.");
  const page1 = { of: { roleId: id }, limit: 2, isDescending: false };
  const [assignment] = await listAssignments(db(), orgId, page1);

  await visit.open(`/users/${user.id}/access`);
  await enter(page, "user-why");
  await type(page, "application", "Payroll");
  await pick(page, "ask", "permission");
  await type(page, "value", "payslips:pay");
  await enter(page, "why-submit");
  await visit.look("Check access");
  assert.match(await page.locator("#why-paths").innerText(), /Grace.*Paymasters.*paymaster.*payslips:pay/s);

  await visit.open(`/roles/${id}/assignments`);
  await enter(page, `assignment-remove-${assignment?.id}`);
  await enter(page, "assignment-remove-confirm");
  assert.equal(await doneText(page), "Role removed.");
  await press(page, "more-open");
  await enter(page, "role-delete");
  const find = () => findRole(db(), { orgId, id });
  await confirmByName(page, { button: "role-delete-confirm", name: "Paymaster" }, find);
  assert.equal(await doneText(page), "Role deleted.");
  assert.equal(await find(), undefined);
});

test("members are imported after each line's fate was shown", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const { orgId, user } = fixture();
  const directory = await makeDirectory(service(), orgId);
  const crew = await directory.group("Ferry crew");
  const inner = await directory.group("Deck hands");
  await visit.open(`/groups/${crew}/members`);
  await enter(page, "members-import");
  await type(page, "list", "nobody@northwind.example");
  await enter(page, "member-import-check");
  await page.locator("#list[aria-invalid=true]").waitFor();
  await visit.look("Import members into Ferry crew");
  await type(
    page,
    "list",
    `email,group\n${user.email},\n,deck HANDS\nnobody@northwind.example,\n${user.email},`,
  );
  await enter(page, "member-import-check");
  await page.locator("#import-left-out").waitFor();
  assert.match(await page.locator("#import-left-out").innerText(), /2 lines left out/);
  await visit.look("Import members into Ferry crew");
  await keepPictures(page, "group-import");
  await enter(page, "member-import-confirm");
  assert.equal(await doneText(page), "Members added.");
  const members = await listMembers(db(), { orgId, id: crew }, { effective: false, limit: 10 });
  assert.deepEqual(members.map(({ id }) => id).sort(), [inner, user.id].sort());
});

test("a role of the organisation itself is created after a validation error, and found in the list of roles", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  await visit.open("/roles");
  await visit.look("Roles");
  await enter(page, "role-new");
  await type(page, "application", "Nothing of this name");
  await type(page, "key", "fire-warden");
  await type(page, "name", "Fire warden");
  await enter(page, "role-save");
  await page.locator("#application[aria-invalid=true]").waitFor();
  await visit.look("New role");
  await type(page, "application", "");
  await enter(page, "role-save");
  assert.equal(await doneText(page), "Role created.");
  const id = lastPart(page);
  await visit.open("/roles?search=fire-w");
  await page.locator(`#role-${id}`).waitFor();
  await visit.open("/roles?search=administrator");
  await enter(page, "tbody a.item-name");
  await enter(page, "tab-assignments");
  await page.locator("#holders").waitFor();
  await visit.look("Administrator");
});

test("a group is assigned to an application after a validation error, and unassigned", async (t) => {
  const visit = await visitor(t, fixture().admin);
  const { page } = visit;
  const { orgId, ids } = fixture();
  const application = ids["applications"] ?? "";
  const group = await (await makeDirectory(service(), orgId)).group("Accountants");
  const groups = async () =>
    (
      await listAssignedGroups(service().database.query, { orgId, applicationId: application }, { limit: 10 })
    ).map(({ id }) => id);
  await visit.open(`/applications/${application}/access`);
  await enter(page, "access-groups");
  await type(page, "group", "nobody");
  await enter(page, "group-assign");
  await page.locator("#group[aria-invalid=true]").waitFor();
  await visit.look("Assigned groups");
  await type(page, "group", "accountants");
  await enter(page, "group-assign");
  assert.equal(await doneText(page), "Group assigned.");
  assert.ok((await groups()).includes(group));
  await enter(page, `group-take-off-${group}`);
  await enter(page, "group-take-off");
  assert.equal(await doneText(page), "Group unassigned.");
  assert.ok(!(await groups()).includes(group));
});

test("every form of groups and roles was submitted", () => {
  assertAllSent("groups");
});
