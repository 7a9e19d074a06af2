/** The addresses in emails redirect to the page of their link, complete nothing, and leak nothing. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createAction } from "../../../core/actions/actions.ts";
import { linkAddress } from "../../../core/actions/link-address.ts";
import { type ActionType, actionLifetimeMs, actionTypes } from "../../../core/actions/user-action.ts";
import { type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { follow } from "../../../testing/fixtures/visit.ts";
import { dumpTable } from "../../../testing/probes/dump-database.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const paths: Readonly<Record<Exclude<ActionType, "SignUp">, string>> = {
  AcceptInvitation: "invite",
  AcceptRoaming: "invite",
  VerifyEmail: "verify",
  ResetPassword: "reset",
  ChangeEmail: "confirm",
};

let clock: FakeClock;
let running: TestService;
let org: TestOrganisation;
before(async () => {
  clock = fakeClock();
  running = await startTestService({ databaseUrl: "sqlite::memory:", clock });
  org = await makeOrganisation(running.service);
});
after(() => running.close());

async function linkFor(type: ActionType): Promise<{ id: string; link: string }> {
  const { id: userId, email } = org.user;
  const orgId = org.organisation.id;
  const { service, baseUrl } = running;
  const { id } = await createAction(service.database.query, service, {
    orgId,
    userId,
    type,
    data: { email },
  });
  return { id, link: linkAddress(baseUrl, type)(id) };
}

const isBroken = ({ body, location }: TestPage): boolean =>
  location === undefined && body.includes("This link no longer works");

for (const type of actionTypes)
  test(`/${paths[type]} leads to the page of ${type}, and completes nothing`, async () => {
    const { id, link } = await linkFor(type);
    assert.equal(link, `${running.baseUrl}/${paths[type]}/${id}`);
    const before = await dumpTable(running.service.database.query, "user_action");
    const page = await testBrowser().get(link);
    assert.equal(page.status, 303);
    assert.ok(String(page.location).startsWith(`${org.issuer}/`));
    assert.equal(page.headers.get("referrer-policy"), "no-referrer");
    assert.equal(page.headers.get("cache-control"), "no-store");
    assert.match((await testBrowser().get(String(page.location))).body, /<form method="post"/);
    assert.deepEqual(await dumpTable(running.service.database.query, "user_action"), before);
    const others = new Set(Object.values(paths).filter((path) => path !== paths[type]));
    for (const other of others) {
      const wrong = await testBrowser().get(`${running.baseUrl}/${other}/${id}`);
      assert.ok(wrong.status === 404 && isBroken(wrong), other);
    }
  });

test("an unknown link names no organisation; an expired one leads to the way to a new one", async () => {
  const unknown = await testBrowser().get(`${running.baseUrl}/reset/sgn_ua_unknown`);
  assert.ok(unknown.status === 404 && isBroken(unknown));
  assert.doesNotMatch(unknown.body, new RegExp(org.organisation.name));
  const { link } = await linkFor("ResetPassword");
  clock.advance(actionLifetimeMs.ResetPassword);
  const browser = testBrowser();
  const expired = await follow(browser, await browser.get(link));
  assert.ok(expired.status === 404 && isBroken(expired));
  assert.match(expired.body, /class="button primary" id="recovery-again"/);
});

test("the log has the pattern of the address, never the link", async () => {
  const { id, link } = await linkFor("VerifyEmail");
  await testBrowser().get(link);
  const lines = JSON.stringify(running.lines);
  assert.match(lines, /\/verify\/:id/);
  assert.ok(!lines.includes(id));
});
