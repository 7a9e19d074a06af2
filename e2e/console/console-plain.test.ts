/** The console without JavaScript, in real Chromium: what an administrator does most, by keyboard as well (issue 8, point 6). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { findApplication } from "../../packages/server/src/core/applications/applications.store.ts";
import { findOrganisation } from "../../packages/server/src/core/organisations/organisations.store.ts";
import { newestLink } from "../../packages/server/src/testing/fakes/mailbox.ts";
import { enter, isReady, reach, type } from "../support/keyboard.ts";
import { doneText, journeys } from "./console-journey.ts";

const { fixture, service, visitor } = journeys({ database: "sqlite" });
const plain = { javaScriptEnabled: false };

test("without JavaScript: creates, changes and deletes an application", async (t) => {
  const visit = await visitor(t, fixture().admin, plain);
  const { page } = visit;
  await visit.open("/applications");
  await enter(page, "application-new");
  await enter(page, "kind-web");
  await type(page, "name", "Visitors");
  await type(page, "redirectUris", "nonsense");
  await enter(page, "application-create");
  await isReady(page, "redirectUris");
  await type(page, "redirectUris", "https://visitors.northwind.example/callback");
  await enter(page, "application-create");
  const id = await page.locator("#client-id").innerText();
  assert.match(await page.locator("#client-secret").innerText(), /^sgn_cs_/);
  const copying = await page.locator("[data-copy]").all();
  assert.notEqual(copying.length, 0);
  for (const button of copying) assert.equal(await button.isVisible(), false);
  await enter(page, "once-done");
  await enter(page, "quickstart-record");
  const record = () => findApplication(service().database.query, fixture().orgId, id);
  await type(page, "description", "Who comes to see us");
  await enter(page, "settings-save");
  assert.equal(await doneText(page), "Settings saved.");
  assert.equal((await record())?.settings.description, "Who comes to see us");
  await enter(page, "tab-advanced");
  await enter(page, "application-delete");
  await type(page, "name", "Visitors");
  await enter(page, "application-delete");
  assert.equal(await doneText(page), "Application deleted.");
  assert.equal(await record(), undefined);
});

test("without JavaScript: invites a user, opens the menus and changes settings", async (t) => {
  const visit = await visitor(t, fixture().admin, { ...plain, viewport: { width: 390, height: 844 } });
  const { page } = visit;
  await visit.open("/scopes");
  await reach(page, "menu-open");
  await page.keyboard.press("Enter");
  await enter(page, "nav-users");
  await enter(page, "user-new");
  await type(page, "email", "noor@northwind.example");
  await enter(page, "user-create");
  assert.equal(await doneText(page), "Invitation on its way.");
  assert.match(await newestLink(service(), "noor@northwind.example"), /^http:\/\/localhost:/);

  await visit.open("/settings/policies");
  await type(page, "sessionIdleSeconds", "45");
  await page.locator("#sessionIdleSeconds-unit").selectOption("minutes");
  await enter(page, "policies-save");
  assert.equal(await doneText(page), "Policies saved.");
  const organisation = await findOrganisation(service().database.query, fixture().orgId);
  assert.equal(organisation?.settings.sessionIdleSeconds, 45 * 60);
});

test("on a phone the tabs of a record are one line, in which the current one is seen", async (t) => {
  const phone = { ...plain, viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  const { page, open } = await visitor(t, fixture().admin, phone);
  for (const tab of ["", "/access", "/advanced"]) {
    await open(`/applications/${fixture().ids["applications"]}${tab}`);
    const seen = (await page.locator(".tabs").boundingBox())?.height ?? 0;
    assert.ok(seen > 40 && seen < 64, `${seen} pixels high`);
    const box = await page.locator(".tabs [aria-current]").boundingBox();
    assert.ok(box && box.x >= 0 && box.x + box.width <= 390, `${tab}: ${JSON.stringify(box)}`);
  }
});
