// A domain that is routed sends its people to its connection, once they have typed their address; the account is not looked at.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Connection } from "../../../../core/connections/connection.ts";
import { listDomains } from "../../../../core/domains/domains.store.ts";
import { changeDomain, createDomain } from "../../../../core/domains/domains.ts";
import { changeOrganisationSettings } from "../../../../core/organisations/organisations.ts";
import { createUser } from "../../../../core/users/users.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { type HostileProvider, startHostileProvider } from "../../../../testing/fakes/hostile-provider.ts";
import { MAIL_ENV, mailsTo } from "../../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import { breakGlass, provenDomain } from "../../../../testing/fixtures/routed-domain.ts";
import { connectTo } from "../../../../testing/fixtures/upstream-sign-in.ts";
import { follow, logIn, showsConsent, visit } from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const ROUTED = "routed.example";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let there: HostileProvider;
  let connection: Connection;
  before(async () => {
    clock = fakeClock();
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1", ...MAIL_ENV };
    running = await startTestService({
      ...{ databaseUrl: await fresh(), clock, env, passwords: quickPasswords },
    });
    org = await makeOrganisation(running.service);
    there = await startHostileProvider(clock);
    connection = await connectTo(running, org, there, "There");
    for (const email of [`known@${ROUTED}`, "known@elsewhere.example"])
      await createUser(running.service, {
        ...{ organisation: org.organisation, firstname: "Uma", surname: "Berg", actor: "test", email },
        ...{ emailVerified: true, role: "Standard", password: PASSWORD },
      });
  });
  after(async () => {
    await there.close();
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const orgId = () => org.organisation.id;
  const first = async (browser: TestBrowser, email: string) => {
    const page = await visit(browser, org);
    return browser.post(`${org.issuer}/login`, { ...page.hidden, email });
  };
  const hasPassword = ({ body }: { body: string }) => body.includes('id="password"');

  test("without a domain or a method by email, there is one page, as before", async () => {
    assert.ok(hasPassword(await visit(testBrowser(), org)));
  });

  test("a domain that nobody has proven routes nobody", async () => {
    const route = { connectionId: connection.id, enforced: false };
    await createDomain(running.service, { orgId: orgId(), actor: "test", domain: "unproven.example", route });
    assert.ok(hasPassword(await visit(testBrowser(), org)));
  });

  test("known and unknown of the domain go upstream with login_hint, all others to one page", async () => {
    await provenDomain(running.service, orgId(), { domain: ROUTED, connectionId: connection.id });
    const page = await visit(testBrowser(), org);
    assert.ok(!hasPassword(page));
    assert.match(page.body, new RegExp(`id="connection-${connection.id}"`));
    for (const email of [`known@${ROUTED}`, `Unknown@${ROUTED.toUpperCase()}`]) {
      const browser = testBrowser();
      const { status, location = "" } = await first(browser, email);
      assert.equal(status, 303);
      const sent = new URL((await browser.get(location)).location ?? "");
      assert.ok(sent.href.startsWith(`${there.issuer}/authorize`));
      assert.equal(sent.searchParams.get("login_hint"), email);
    }
    for (const email of ["known@elsewhere.example", "unknown@elsewhere.example"]) {
      const browser = testBrowser();
      assert.ok(hasPassword(await follow(browser, await first(browser, email))));
    }
  });

  test("a connection that fails leaves the domain's people what else there is", async () => {
    const browser = testBrowser();
    const sent = await follow(browser, await first(browser, `known@${ROUTED}`));
    const back = there.comeBack(sent.location ?? "", { code: undefined, error: "access_denied" });
    const failed = await browser.get(back);
    const [, other = ""] = /id="connection-other" href="([^"]+)"/.exec(failed.body) ?? [];
    assert.notEqual(other, "", String(failed.status));
    const page = await browser.get(running.baseUrl + other.replaceAll("&amp;", "&"));
    assert.ok(hasPassword(page), "the second page, and not the way to the connection again");
    const user = { id: "", email: `known@${ROUTED}`, password: PASSWORD };
    assert.ok(showsConsent(await logIn(browser, { ...org, user }, page)));
  });

  test("an enforced domain gets no code and no link; what was sent before signs nobody in", async () => {
    await changeOrganisationSettings(running.service, {
      ...{
        orgId: orgId(),
        actor: "test",
        settings: { signInMethods: ["password", "emailCode", "magicLink"] },
      },
    });
    const email = `known@${ROUTED}`;
    const browser = testBrowser();
    const { hidden } = await visit(browser, org);
    const sent = await follow(
      browser,
      await browser.post(`${org.issuer}/email-code`, { ...hidden, email, act: "send" }),
    );
    const signInMails = async () =>
      (await mailsTo(running.service, email)).flatMap(({ mail }) =>
        mail.template === "EmailCode"
          ? [mail.data.code]
          : mail.template === "MagicLink"
            ? [mail.data.link]
            : [],
      );
    const [code = ""] = await signInMails();
    assert.match(code, /^\d{6}$/);
    await breakGlass(running.service, org.organisation);
    const domain = (await listDomains(running.service.database.query, orgId())).find(
      (one) => one.domain === ROUTED,
    );
    await changeDomain(running.service, {
      ...{ orgId: orgId(), actor: "test", id: domain?.id ?? "" },
      change: { enforced: true },
    });
    const typed = await browser.post(`${org.issuer}/email-code`, { ...sent.hidden, "email-code": code });
    assert.equal(typed.status, 401);
    for (const act of ["send", "send-link"])
      for (const address of [email, `nobody@${ROUTED}`]) {
        const { location = "" } = await browser.post(`${org.issuer}/email-code`, {
          ...hidden,
          email: address,
          act,
        });
        assert.match(location, new RegExp(`/connections/${connection.id}/start`));
      }
    assert.equal((await signInMails()).length, 1);
  });

  test("a connection that is switched off routes nobody", async () => {
    const other = await makeOrganisation(running.service);
    const own = await connectTo(running, other, there, "Off");
    await provenDomain(running.service, other.organisation.id, {
      domain: "off.example",
      connectionId: own.id,
    });
    assert.ok(!hasPassword(await visit(testBrowser(), other)));
    await running.service.database.query
      .updateTable("connection")
      .set({ enabled: 0 })
      .where("org_id", "=", other.organisation.id)
      .where("id", "=", own.id)
      .execute();
    assert.ok(hasPassword(await visit(testBrowser(), other)));
  });
});
