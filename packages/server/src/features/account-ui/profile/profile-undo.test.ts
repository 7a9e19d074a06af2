// The way back that the toast of a saved profile offers: once, for the session that saved, never over what was saved since.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { changeProfile } from "../../../core/users/profile/profile.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { follow, logIn, withUser } from "../../../testing/fixtures/visit.ts";
import { formOfPage, plain } from "../../../testing/probes/console-browser.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const MINUTE = 60_000;

/** What the toast's button sends. */
function undoFields({ body }: TestPage): Record<string, string> | undefined {
  const form = /id="profile-done"[\s\S]*?<form[^>]*action="[^"]*\/account\/profile">([\s\S]*?)<\/form>/.exec(
    body,
  )?.[1];
  if (form === undefined) return undefined;
  const fields = [...form.matchAll(/name="([^"]*)" value="([^"]*)"/g)];
  return Object.fromEntries(fields.map(([, name = "", value = ""]) => [name, plain(value)]));
}

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let home: TestOrganisation;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    home = await makeOrganisation(running.service);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const address = () => `${home.issuer}/account/profile`;
  const open = async (browser: TestBrowser) => follow(browser, await browser.get(address()));
  const save = async (browser: TestBrowser, changes: Record<string, string>) =>
    follow(browser, await browser.post(address(), formOfPage(await open(browser), changes)));

  async function signedIn(name: string) {
    const org = await withUser(running.service, home, `${name}@acme.example`);
    const browser = testBrowser();
    await logIn(browser, org, await open(browser));
    const { organisation, user } = org;
    const now = async () => {
      const found = await findUser(running.service.database.query, organisation.id, user.id);
      return [found?.firstname, found?.phone, found?.details.nickname];
    };
    return { org, browser, before: await now(), now };
  }
  const undo = async (browser: TestBrowser, fields: Record<string, string>) =>
    follow(browser, await browser.post(address(), fields));

  test("takes a saved profile back, details included, and says so; a second time it does nothing", async () => {
    const { browser, before: was, now } = await signedIn("back");
    const saved = await save(browser, { firstname: "Eva", phone: "+45 12 34 56 78", nickname: "Evi" });
    assert.deepEqual(await now(), ["Eva", "+45 12 34 56 78", "Evi"]);
    const fields = undoFields(saved);
    assert.ok(fields);
    const undone = await undo(browser, fields);
    assert.equal(undone.status, 200);
    assert.match(undone.body, />Change undone</);
    assert.deepEqual(await now(), was);
    assert.equal(undoFields(await browser.get(`${address()}?done=saved`)), undefined, "offered no more");
    await save(browser, { firstname: "Ida" });
    assert.equal((await undo(browser, fields)).status, 409);
    assert.equal((await now())[0], "Ida");
  });

  test("offers nothing where nothing has changed, and nothing on a page that no save led to", async () => {
    const { browser } = await signedIn("same");
    assert.equal(undoFields(await save(browser, {})), undefined);
    assert.ok(undoFields(await save(browser, { firstname: "Eva" })));
    assert.equal(undoFields(await open(browser)), undefined);
  });

  test("never overwrites what has been saved since, by whomever", async () => {
    const { org, browser, now } = await signedIn("later");
    const fields = undoFields(await save(browser, { firstname: "Eva" }));
    assert.ok(fields);
    const { organisation, user } = org;
    const profile = { firstname: "Eva", surname: "By the office", phone: null, locale: null };
    await changeProfile(running.service, { orgId: organisation.id, id: user.id, profile, actor: "test" });
    const refused = await undo(browser, fields);
    assert.equal(refused.status, 409);
    assert.match(refused.body, /value="By the office"/);
    assert.equal((await now())[0], "Eva");
  });

  test("works for ten minutes, for the session that saved, and with its form's token", async () => {
    const { org, browser, now } = await signedIn("session");
    const fields = undoFields(await save(browser, { firstname: "Eva" }));
    assert.ok(fields);
    const other = testBrowser();
    await logIn(other, org, await open(other));
    assert.equal((await undo(other, fields)).status, 403, "another browser's form");
    const csrf = formOfPage(await open(other)).get("csrf") ?? "";
    assert.equal((await undo(other, { ...fields, csrf })).status, 409, "another session");
    assert.equal((await undo(browser, { ...fields, once: "forged" })).status, 403);
    clock.advance(10 * MINUTE);
    assert.equal((await undo(browser, fields)).status, 409);
    assert.equal((await now())[0], "Eva");
  });
});
