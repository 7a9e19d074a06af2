// A further connection for the account that the browser is signed in to: by its own fresh session, and by nobody's trick.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import type { Connection } from "../../../core/connections/connection.ts";
import { findIdentity } from "../../../core/connections/sign-in/linked-identities.store.ts";
import { createUser } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type HostileProvider, startHostileProvider } from "../../../testing/fakes/hostile-provider.ts";
import { MAIL_ENV, mailsTo } from "../../../testing/fakes/mailbox.ts";
import { connectTo } from "../../../testing/fixtures/upstream-sign-in.ts";
import { follow, logIn, requestQuery, showsLogin, visit } from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let there: HostileProvider;
  let connection: Connection;
  before(async () => {
    clock = fakeClock();
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1", ...MAIL_ENV };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
    org = await makeOrganisation(running.service);
    there = await startHostileProvider(clock);
    connection = await connectTo(running, org, there, "There");
  });
  afterEach(() => there.reset());
  after(async () => {
    await there.close();
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const person = async (name: string) => {
    const userId = await createUser(running.service, {
      ...{ organisation: org.organisation, email: `${name}@acme.example`, password: org.user.password },
      ...{ emailVerified: true, firstname: "Uma", surname: "Berg", role: "Standard", actor: "test" },
    });
    const browser = testBrowser();
    await logIn(browser, org, await visit(browser, org), { email: `${name}@acme.example` });
    return { userId, browser };
  };
  const security = () => `${org.issuer}/account/security`;
  const linkOf = async (browser: TestBrowser) => {
    const { body } = await browser.get(security());
    const [, href = ""] = new RegExp(`id="connection-link-${connection.id}" href="([^"]*)"`).exec(body) ?? [];
    assert.notEqual(href, "");
    return running.baseUrl + href.replaceAll("&amp;", "&");
  };
  const comesAs = (sub: string) => {
    there.claims = { sub };
    there.userinfo = { sub };
  };
  /** To the provider, who comes back as somebody. */
  const sent = async (browser: TestBrowser) => {
    const { location = "" } = await browser.get(await linkOf(browser));
    assert.ok(location.startsWith(there.issuer), location);
    return location;
  };
  const linkedTo = async (subject: string) => {
    const key = { orgId: org.organisation.id, connectionId: connection.id, subject };
    return (await findIdentity(running.service.database.query, key))?.userId;
  };

  test("links the identity there to the account that is signed in here, after a new sign-in there", async () => {
    const { userId, browser } = await person("own");
    const location = await sent(browser);
    assert.equal(new URL(location).searchParams.get("prompt"), "login");
    comesAs("own-there");
    const done = await follow(browser, await browser.get(there.comeBack(location)));
    assert.match(done.body, /Connection linked/);
    assert.equal(await linkedTo("own-there"), userId);
    assert.match(done.body, new RegExp(`id="connection-unlink-${connection.id}"`));
    assert.doesNotMatch(done.body, new RegExp(`id="connection-link-${connection.id}"`));
    const told = (await mailsTo(running.service, "own@acme.example")).map(({ mail }) => mail.template);
    assert.deepEqual(told, ["NewSignIn", "IdentityLinked"]);
  });

  test("an identity of somebody else's account stays theirs", async () => {
    const [first, second] = [await person("first"), await person("second")];
    comesAs("theirs");
    await follow(first.browser, await first.browser.get(there.comeBack(await sent(first.browser))));
    const refused = await second.browser.get(there.comeBack(await sent(second.browser)));
    assert.equal(refused.status, 403);
    assert.match(refused.body, /id="connection-error"/);
    assert.equal(await linkedTo("theirs"), first.userId);
  });

  test("a link that another browser, another account or an application has made links nothing", async () => {
    const [victim, mallory] = [await person("victim"), await person("mallory")];
    comesAs("mallory-there");
    // Mallory's own link, followed by the victim: nobody is sent anywhere.
    const followed = await follow(victim.browser, await victim.browser.get(await linkOf(mallory.browser)));
    assert.equal(followed.location, undefined);
    // The way back, begun by Mallory.
    const back = there.comeBack(await sent(mallory.browser));
    assert.equal((await victim.browser.get(back)).status, 400);
    // A parameter of an authorization request is the client's word.
    const page = await visit(testBrowser(), org, { more: { link_user: victim.userId } });
    const [href = ""] =
      new RegExp(`/oauth/[^"]*/connections/${connection.id}/start[^"]*`).exec(page.body) ?? [];
    const stranger = testBrowser();
    const { location = "" } = await stranger.get(running.baseUrl + href.replaceAll("&amp;", "&"));
    await stranger.get(there.comeBack(location));
    assert.equal(await linkedTo("mallory-there"), undefined);
    assert.ok(requestQuery(org, { more: { link_user: victim.userId } }).includes("link_user"));
  });

  test("who signed in some time ago signs in again first, on the way back too", async () => {
    const { browser } = await person("late");
    const link = await linkOf(browser);
    clock.advance(5 * 60_000);
    const location = await sent(browser);
    clock.advance(5 * 60_000);
    comesAs("late-there");
    const stale = await browser.get(there.comeBack(location));
    assert.deepEqual([stale.status, await linkedTo("late-there")], [400, undefined]);
    assert.ok(showsLogin(await follow(browser, await browser.get(link))));
  });

  test("of two ways back at once one links, and each comes back once", async () => {
    const { userId, browser } = await person("twice");
    comesAs("twice-there");
    const addresses = [there.comeBack(await sent(browser)), there.comeBack(await sent(browser))];
    await Promise.all(addresses.map((address) => browser.get(address)));
    assert.equal(await linkedTo("twice-there"), userId);
    for (const address of addresses) assert.equal((await browser.get(address)).status, 400);
  });
});
