/** For organisation-isolation.test.ts: recovery links, emails and pending sign-ins of A at B, and its connections. */
import assert from "node:assert/strict";
import { createAction } from "../../core/actions/actions.ts";
import type { ActionType } from "../../core/actions/user-action.ts";
import type { Service } from "../../modules/open-service.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../fakes/browser.ts";
import { mailsTo } from "../fakes/mailbox.ts";
import { logIn, showsLogin, visit } from "../fixtures/visit.ts";
import { PASSWORD, type TestOrganisation } from "../test-service.ts";
import { connectionProbes } from "./connection-probes.ts";
import { signUpProbes } from "./sign-up-probes.ts";

interface RecoveryLoot {
  readonly service: Service;
  readonly a: TestOrganisation;
  readonly b: TestOrganisation;
  /** Signed in at A; the session's token under the name of B's cookie too. */
  readonly browser: TestBrowser;
  /** A's consent page, with a sign-in of A's in its form. */
  readonly consent: TestPage;
}
type Probe = (loot: RecoveryLoot) => Promise<void>;

/** The id of a link that A sent its user. */
async function linkOf({ service, a }: RecoveryLoot, type: ActionType): Promise<string> {
  const { id } = await createAction(service.database.query, service, {
    orgId: a.organisation.id,
    userId: a.user.id,
    type,
    data: { email: a.user.email },
  });
  return id;
}

const isBroken = (page: TestPage): boolean =>
  page.status === 404 && page.body.includes("This link no longer works");

const opensNothing =
  (path: string, type: ActionType): Probe =>
  async (loot) => {
    const { a, b } = loot;
    const id = await linkOf(loot, type);
    assert.ok(isBroken(await testBrowser().get(`${b.issuer}/${path}/${id}`)), "A's link");
    assert.equal((await testBrowser().get(`${a.issuer}/${path}/${id}`)).status, 200, "at A it opens");
  };

const usesNothing =
  (path: string, type: ActionType): Probe =>
  async (loot) => {
    const { a, b } = loot;
    const id = await linkOf(loot, type);
    const own = testBrowser();
    const { hidden } = await visit(own, b);
    const form = { csrf: hidden["csrf"] ?? "", password: "walnut orbit seventeen" };
    assert.ok(isBroken(await own.post(`${b.issuer}/${path}/${id}`, form)), "A's link");
    assert.equal((await testBrowser().get(`${a.issuer}/${path}/${id}`)).status, 200, "it is not used up");
    const entering = testBrowser();
    const page = await logIn(entering, a, await visit(entering, a), { password: PASSWORD });
    assert.ok(!showsLogin(page), "A's password is as it was");
  };

/** Pages that go on with a sign-in leave out one of A's. */
const carriesNothing =
  (path: string): Probe =>
  async ({ b, browser, consent }) => {
    const page = await browser.get(`${b.issuer}/${path}?flow=${consent.hidden["flow"]}`);
    assert.equal(page.status, 200);
    assert.doesNotMatch(page.body, /flow=|name="flow"/, "A's sign-in");
  };

/** By route, as organisation-isolation.test.ts has them. */
export const recoveryProbes: Readonly<Record<string, Probe>> = {
  ...connectionProbes,
  ...signUpProbes,
  "GET /oauth/:org/recovery": carriesNothing("recovery"),
  "POST /oauth/:org/recovery": async ({ service, a, b, consent }) => {
    const before = (await mailsTo(service, a.user.email)).length;
    const own = testBrowser();
    const { hidden } = await own.get(`${b.issuer}/recovery`);
    const { email } = a.user;
    const sent = await own.post(`${b.issuer}/recovery`, { ...hidden, email });
    assert.equal(sent.status, 200, "as for every address");
    assert.equal((await mailsTo(service, email)).length, before, "B has nobody of that address");
    const foreign = { ...hidden, csrf: consent.hidden["csrf"] ?? "", email: b.user.email };
    assert.equal((await own.post(`${b.issuer}/recovery`, foreign)).status, 403, "A's token");
  },
  "GET /oauth/:org/recovery/:id": opensNothing("recovery", "ResetPassword"),
  "POST /oauth/:org/recovery/:id": usesNothing("recovery", "ResetPassword"),
  "GET /oauth/:org/action/:id/:type": async (loot) => {
    const { a, b } = loot;
    const id = await linkOf(loot, "VerifyEmail");
    const at = ({ issuer }: TestOrganisation) => `${issuer}/action/${id}/VerifyEmail`;
    assert.ok(isBroken(await testBrowser().get(at(b))), "A's link");
    assert.equal((await testBrowser().get(at(a))).status, 200, "at A it opens");
  },
  "POST /oauth/:org/action/:id/:type": async (loot) => {
    const { a, b } = loot;
    const id = await linkOf(loot, "VerifyEmail");
    const own = testBrowser();
    const { hidden } = await visit(own, b);
    const sent = await own.post(`${b.issuer}/action/${id}/VerifyEmail`, { csrf: hidden["csrf"] ?? "" });
    assert.ok(isBroken(sent), "A's link");
    const page = await testBrowser().get(`${a.issuer}/action/${id}/VerifyEmail`);
    assert.equal(page.status, 200, "it is not used up");
  },
  "GET /oauth/:org/recovery/done": carriesNothing("recovery/done"),
  "GET /oauth/:org/verify-email": async ({ b, browser, consent }) => {
    const page = await browser.get(`${b.issuer}/verify-email?flow=${consent.hidden["flow"]}`);
    assert.equal(page.status, 400, "A's sign-in");
  },
  "POST /oauth/:org/verify-email": async ({ service, a, b, browser, consent }) => {
    const before = (await mailsTo(service, a.user.email)).length;
    assert.equal((await browser.post(`${b.issuer}/verify-email`, consent.hidden)).status, 400);
    assert.equal((await mailsTo(service, a.user.email)).length, before);
  },
  "GET /oauth/:org/verify-email/:id": opensNothing("verify-email", "VerifyEmail"),
  "POST /oauth/:org/verify-email/:id": usesNothing("verify-email", "VerifyEmail"),
  "GET /oauth/:org/verify-email/done": carriesNothing("verify-email/done"),
};
