// Links in emails work once, in time, for the account and organisation that they were sent to.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createAction } from "../core/actions/actions.ts";
import {
  type ActionData,
  type ActionType,
  actionLifetimeMs,
  actionTypes,
} from "../core/actions/user-action.ts";
import { setUserStatus } from "../core/users/users.ts";
import { type TestPage, testBrowser } from "../testing/fakes/browser.ts";
import { fakeClock } from "../testing/fakes/fake-clock.ts";
import { MAIL_ENV } from "../testing/fakes/mailbox.ts";
import { follow, logIn, visit, withUser } from "../testing/fixtures/visit.ts";
import { dumpTable } from "../testing/probes/dump-database.ts";
import { assertAudited } from "../testing/probes/written-actions.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";

const CHOSEN = "walnut orbit seventeen";

interface Link {
  readonly type: ActionType;
  /** Below the organisation's issuer. */
  path(id: string): string;
}
const onActionPage = (type: ActionType): Link => ({ type, path: (id) => `action/${id}/${type}` });
const links: readonly Link[] = [
  { type: "ResetPassword", path: (id) => `recovery/${id}` },
  { type: "VerifyEmail", path: (id) => `verify-email/${id}` },
  ...actionTypes.filter((type) => type !== "ResetPassword").map(onActionPage),
];

const isBroken = ({ status, body }: TestPage): boolean =>
  status === 404 && body.includes("This link no longer works");

describe("links in emails", () => {
  const clock = fakeClock();
  let running: TestService;
  let org: TestOrganisation;
  let other: TestOrganisation;
  let people = 0;
  before(async () => {
    running = await startTestService({ databaseUrl: "sqlite::memory:", clock, env: MAIL_ENV });
    org = await makeOrganisation(running.service, "Acme");
    other = await makeOrganisation(running.service, "Beta");
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  /** For somebody new, whose address nobody has confirmed. */
  async function linkFor({ type, path }: Link) {
    const { service } = running;
    const home = type === "AcceptRoaming" ? other : org;
    const { user } = await withUser(service, home, `person-${people++}@acme.example`);
    const db = service.database.query;
    if (type === "VerifyEmail" || type === "AcceptInvitation") {
      const password = type === "AcceptInvitation" ? { password_hash: null } : {};
      const asInvited = { email_verified_at: null, ...password };
      await db.updateTable("user_account").set(asInvited).where("id", "=", user.id).execute();
    }
    const data: ActionData = {
      email: user.email,
      ...(type === "AcceptRoaming" ? { homeOrgId: home.organisation.id } : {}),
      ...(type === "ChangeEmail" ? { newEmail: `new-${user.email}` } : {}),
    };
    const made = { orgId: org.organisation.id, userId: user.id, type, data };
    const { id } = await createAction(db, service, made);
    return { user, home, id, at: ({ issuer }: TestOrganisation) => `${issuer}/${path(id)}` };
  }

  /** What a link can change. */
  async function state(): Promise<string> {
    const db = running.service.database.query;
    const tables = ["user_account", "membership", "user_action", "browser_session"];
    return (await Promise.all(tables.map((table) => dumpTable(db, table)))).flat().join("\n");
  }

  async function changesNothing(act: () => Promise<void>): Promise<void> {
    const before = await state();
    await act();
    assert.equal(await state(), before);
  }

  const csrfAt = async (browser: ReturnType<typeof testBrowser>, { issuer }: TestOrganisation) =>
    (await browser.get(`${issuer}/recovery`)).hidden["csrf"] ?? assert.fail("no form");

  for (const link of links) {
    const { type, path } = link;
    describe(path("{id}"), () => {
      test("opening the link or submitting a forged form changes nothing; another organisation and another link type reject it", async () => {
        const { id, at } = await linkFor(link);
        const browser = testBrowser();
        await changesNothing(async () => {
          const page = await browser.get(at(org));
          assert.equal(page.status, 200);
          const foreign = await browser.post(at(org), { csrf: "of-somebody-else", password: CHOSEN });
          assert.equal(foreign.status, 403);
          const csrf = await csrfAt(browser, other);
          assert.ok(isBroken(await browser.get(at(other))), "at another organisation");
          assert.ok(isBroken(await browser.post(at(other), { csrf, password: CHOSEN })));
          const form = { ...page.hidden, password: CHOSEN };
          for (const wrong of links.filter((one) => one.type !== type)) {
            const url = `${org.issuer}/${wrong.path(id)}`;
            assert.ok(isBroken(await browser.get(url)), url);
            assert.ok(isBroken(await browser.post(url, form)), url);
          }
          assert.ok(isBroken(await browser.post(`${org.issuer}/${path("sgn_ua_unknown")}`, form)));
        });
      });

      test("the link acts once on its own account, whoever is signed in", async () => {
        const { user, at } = await linkFor(link);
        const someone = await withUser(running.service, org, `someone-${people++}@acme.example`);
        const browser = testBrowser();
        await logIn(browser, someone, await visit(browser, someone));
        const rowOf = async (id: string) =>
          (await dumpTable(running.service.database.query, "user_account")).filter((row) => row.includes(id));
        const before = await rowOf(someone.user.id);
        const { hidden } = await browser.get(at(org));
        const form = { ...hidden, password: CHOSEN };
        const untouched = [
          await rowOf(user.id),
          await dumpTable(running.service.database.query, "membership"),
        ];
        const done = await follow(browser, await browser.post(at(org), form));
        assert.equal(done.status, 200);
        const now = [await rowOf(user.id), await dumpTable(running.service.database.query, "membership")];
        assert.notDeepEqual(now, untouched, "it does what it says");
        assert.deepEqual(await rowOf(someone.user.id), before, "and to nobody else");
        await changesNothing(async () => {
          assert.ok(isBroken(await browser.get(at(org))), "used");
          assert.ok(isBroken(await browser.post(at(org), form)), "twice");
        });
      });

      test("its pages use the user's language, and those of an invalid link the browser's", async () => {
        const made = await linkFor(link);
        const chosen = { locale: "fr" };
        const db = running.service.database.query;
        await db.updateTable("user_account").set(chosen).where("id", "=", made.user.id).execute();
        const browser = testBrowser();
        const wish = { "accept-language": "de" };
        const form = await browser.get(made.at(org), wish);
        const foreign = await browser.post(made.at(org), { csrf: "old" }, wish);
        const sent = await browser.post(made.at(org), { ...form.hidden, password: CHOSEN }, wish);
        let done = sent;
        while (done.location !== undefined) done = await browser.get(done.location, wish);
        for (const page of [form, foreign, done]) assert.match(page.body, /<html lang="fr">/);
        assert.match(
          (await browser.get(made.at(org), wish)).body,
          /<html lang="de">/,
          "it is nobody's any more",
        );
      });

      test("an expired link, and one for a disabled account or a changed address, is invalid", async () => {
        const ends: Array<(made: Awaited<ReturnType<typeof linkFor>>) => Promise<void> | void> = [
          () => clock.advance(actionLifetimeMs[type]),
          async ({ user, home }) => {
            const key = { orgId: home.organisation.id, id: user.id, disabled: true, actor: "test" };
            await setUserStatus(running.service, key);
          },
          async ({ user }) => {
            const email = `moved-${user.email}`;
            await running.service.database.query
              .updateTable("user_account")
              .set({ email, email_key: email })
              .where("id", "=", user.id)
              .execute();
          },
        ];
        for (const [index, end] of ends.entries()) {
          const made = await linkFor(link);
          const browser = testBrowser();
          const { hidden } = await browser.get(made.at(org));
          await end(made);
          await changesNothing(async () => {
            assert.ok(isBroken(await browser.get(made.at(org))), `end ${index}`);
            const form = { ...hidden, csrf: await csrfAt(browser, org), password: CHOSEN };
            assert.ok(isBroken(await browser.post(made.at(org), form)), `end ${index}`);
          });
        }
      });
    });
  }

  test("the action is audited", () =>
    assertAudited(running.service.database.query, "invitation.accepted", "email.changed", "email.verified"));
});
