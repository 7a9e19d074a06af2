// The optional details of a profile on the account page: saved, refused, exported and deleted with the account.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { deleteUser } from "../../../core/users/leaving/delete-user.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { fullProfile, giveFullProfile } from "../../../testing/fixtures/full-profile.ts";
import { follow, logIn, withUser } from "../../../testing/fixtures/visit.ts";
import { formOfPage, textOf } from "../../../testing/probes/console-browser.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

let running: TestService;
let home: TestOrganisation;
before(async () => {
  running = await startTestService({ databaseUrl: "sqlite::memory:" });
  home = await makeOrganisation(running.service);
});
after(async () => {
  await running.close();
  assert.deepEqual(running.errors, []);
});

async function signedIn(name: string) {
  const org = await withUser(running.service, home, `${name}@acme.example`);
  const browser = testBrowser();
  const page = await logIn(browser, org, await open(browser, "profile"));
  const key = [running.service.database.query, org.organisation.id, org.user.id] as const;
  return { org, browser, page, user: () => findUser(...key) };
}
const open = async (browser: TestBrowser, rest: string) =>
  follow(browser, await browser.get(`${home.issuer}/account/${rest}`));
const save = async (browser: TestBrowser, page: TestPage, changes: Record<string, string | undefined>) =>
  follow(browser, await browser.post(`${home.issuer}/account/profile`, formOfPage(page, changes)));
const isOpen = ({ body }: TestPage) => /<details [^>]*id="more-details" open>/.test(body);

test("saves all details, and the audit log names them without their values", async () => {
  const { org, browser, page, user } = await signedIn("all");
  assert.ok(!isOpen(page) && page.body.includes('id="more-details"'), "out of the way while empty");
  const { details } = fullProfile;
  const saved = await save(browser, page, { ...details, zoneinfo: "europe/copenhagen", nickname: "  Umi " });
  assert.match(saved.body, /id="profile-done"/);
  assert.deepEqual((await user())?.details, details);
  assert.ok(isOpen(await open(browser, "profile")));
  const event = (await listAuditEvents(running.service.database.query, org.organisation.id, 5)).find(
    ({ action }) => action === "user.profile-changed",
  );
  assert.deepEqual(event?.details, { changed: Object.keys(details) });
  const cleared = await save(browser, await open(browser, "profile"), { nickname: "", birthdate: " " });
  assert.match(cleared.body, /id="profile-done"/);
  const { nickname: _, birthdate: __, ...rest } = details;
  assert.deepEqual((await user())?.details, rest);
});

test("refuses invalid details at their fields, keeps what was typed, and saves nothing", async () => {
  const { browser, page, user } = await signedIn("faults");
  const wrong = {
    nickname: "x".repeat(101),
    birthdate: "17.05.1990",
    zoneinfo: "Mars/Olympus",
    profileUrl: "javascript:alert(1)",
    website: "ada.example",
    picture: "https://ada@ada.example/",
    streetAddress: "x".repeat(301),
    country: "y".repeat(201),
  };
  const refused = await save(browser, page, { ...wrong, gender: "female" });
  assert.equal(refused.status, 400);
  assert.ok(isOpen(refused));
  for (const name of Object.keys(wrong)) {
    assert.ok(textOf(refused, `${name}-fault`), name);
    assert.ok(refused.body.includes(`<a href="#${name}">`), name);
  }
  const typed = formOfPage(refused);
  for (const [name, text] of Object.entries({ ...wrong, gender: "female" }))
    assert.equal(typed.get(name), text);
  assert.deepEqual((await user())?.details, {});
  assert.doesNotMatch(refused.body, /(?:href|src)="javascript/);
});

test("a form without these fields leaves them as they are", async () => {
  const { org, browser, user } = await signedIn("kept");
  await giveFullProfile(running.service, org);
  const { details } = fullProfile;
  const names = ["details", "region", ...Object.keys(details)];
  const without = Object.fromEntries(names.map((name) => [name, undefined]));
  const saved = await save(browser, await open(browser, "profile"), { ...without, firstname: "Eva" });
  assert.match(saved.body, /id="profile-done"/);
  assert.deepEqual([(await user())?.firstname, (await user())?.details], ["Eva", details]);
});

test("a concurrent change of a detail is shown beside what was typed", async () => {
  const { org, browser, page, user } = await signedIn("late");
  await giveFullProfile(running.service, org);
  const late = await save(browser, page, { nickname: "Otti" });
  assert.equal(late.status, 409);
  assert.match(textOf(late, "nickname-now") ?? "", /Umi/);
  assert.equal((await user())?.details.nickname, "Umi");
});

test("the export has them, and they are deleted with the account", async () => {
  const { org, browser, user } = await signedIn("gone");
  await giveFullProfile(running.service, org);
  const data = await browser.post(`${home.issuer}/account/data/export`, (await open(browser, "data")).hidden);
  const { account } = JSON.parse(data.body) as { account: { details: unknown; language: string } };
  assert.deepEqual([account.details, account.language], [fullProfile.details, "da"]);
  const leaving = { orgId: org.organisation.id, id: org.user.id, actor: "test" };
  assert.ok(await deleteUser(running.service, leaving));
  assert.equal(await user(), undefined);
  const accounts = running.service.database.query.selectFrom("user_account").select(["id", "profile"]);
  const kept = (await accounts.execute()).filter(({ id }) => id === org.user.id);
  assert.deepEqual(kept, []);
});
