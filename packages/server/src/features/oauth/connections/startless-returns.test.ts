// A browser that comes back without a start of its own: told, listed so many times an hour, and offered a sign-in of its own.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Connection } from "../../../core/connections/connection.ts";
import { MAX_STARTLESS } from "../../../core/connections/sign-in/startless-returns.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type HostileProvider, startHostileProvider } from "../../../testing/fakes/hostile-provider.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { connectTo, signInUpstream, startUpstream } from "../../../testing/fixtures/upstream-sign-in.ts";
import { follow, logIn, showsLogin, visit } from "../../../testing/fixtures/visit.ts";
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
  let api: ApiClient;
  before(async () => {
    clock = fakeClock();
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
    org = await makeOrganisation(running.service);
    there = await startHostileProvider(clock);
    api = await makeApiClient(running.service, org, ["signet:connections:read"]);
  });
  after(async () => {
    await there.close();
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const connect = (name: string) => connectTo(running, org, there, name, { emailTrust: "verifiedClaim" });
  const backOf = async (connection: Connection, browser = testBrowser()) =>
    there.comeBack(await startUpstream(browser, { running, org, there, connection }));
  const madeUp = ({ id }: Connection, state = "&state=made-up") =>
    `${org.issuer}/connections/${id}/callback?code=x${state}`;
  const linkOf = ({ body }: TestPage, id: string): string => {
    const [, uri = ""] = new RegExp(`id="${id}" href="([^"]+)"`).exec(body) ?? [];
    assert.notEqual(uri, "", id);
    return running.baseUrl + uri.replaceAll("&amp;", "&");
  };
  interface Listed {
    readonly reason: string;
    readonly reference: string;
  }
  const listed = async ({ id }: Connection) => {
    const { body } = await api.call("GET", `/connections/${id}/sign-ins?outcome=failed&limit=200`);
    return body["items"] as readonly Listed[];
  };

  test("other-browser and state-unknown are listed with the connection's sign-ins, under the page's reference", async () => {
    const own = await connect("Listed");
    const browser = testBrowser();
    const back = await backOf(own, browser);
    const pages = [await testBrowser().get(back)];
    await browser.get(back);
    for (const uri of [back, madeUp(own), madeUp(own, "")]) pages.push(await browser.get(uri));
    assert.deepEqual(
      pages.map(({ status }) => status),
      [400, 400, 400, 400],
    );
    const all = await listed(own);
    assert.deepEqual(
      all.map(({ reason }) => reason),
      ["state-unknown", "state-unknown", "state-unknown", "other-browser"],
    );
    for (const [at, { reference }] of all.toReversed().entries())
      assert.ok(pages[at]?.body.includes(reference), String(at));
  });

  test("the page offers the connection again and the other ways, for a sign-in of this browser's own", async () => {
    const own = await connect("Onward");
    const back = await backOf(own);
    for (const uri of [back, madeUp(own)]) {
      const victim = testBrowser();
      await visit(victim, org);
      const page = await victim.get(uri);
      const again = await victim.get(linkOf(page, "connection-retry"));
      assert.ok(again.location?.startsWith(`${there.issuer}/authorize`), String(again.status));
      const others = await follow(victim, await victim.get(linkOf(page, "connection-other")));
      assert.ok(showsLogin(others));
      // To the account page: nothing of the application whose sign-in the other browser had begun.
      assert.match((await logIn(victim, org, others)).url, /\/account/);
    }
  });

  test("they bury no sign-in that was begun: so many of them an hour", async () => {
    const own = await connect("Bounded");
    for (let time = 0; time < MAX_STARTLESS + 5; time++) await testBrowser().get(madeUp(own));
    assert.equal((await listed(own)).length, MAX_STARTLESS);
    there.claims = { sub: undefined };
    await signInUpstream({ running, org, there, connection: own });
    there.reset();
    assert.equal((await listed(own))[0]?.reason, "subject-missing");
    clock.advance(3_600_000);
    await testBrowser().get(madeUp(own));
    api = await makeApiClient(running.service, org, ["signet:connections:read"]);
    assert.equal((await listed(own)).length, MAX_STARTLESS + 2);
  });
});
