// Whom a provider's `sub` names: nobody of another issuer, and nobody whom a database would confuse with another.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import type { Connection } from "../../../core/connections/connection.ts";
import { resolveAccount } from "../../../core/connections/sign-in/resolve-account.ts";
import {
  changeSignInConnection,
  createSignInConnection,
  InvalidSignInConnection,
  isSignInConnection,
} from "../../../core/connections/sign-in/sign-in-connections.ts";
import { listConnectionSignIns } from "../../../core/connections/sign-in/sign-in-log.store.ts";
import { clientOf } from "../../../core/connections/sign-in/sign-in-settings.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type HostileProvider, startHostileProvider } from "../../../testing/fakes/hostile-provider.ts";
import { follow, showsConsent, visit } from "../../../testing/fixtures/visit.ts";
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
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
    org = await makeOrganisation(running.service);
    there = await startHostileProvider(clock);
    connection = await createSignInConnection(running.service, {
      ...{ orgId: org.organisation.id, actor: "test" },
      asked: {
        ...{ kind: "oidc", name: "There", enabled: true, clientSecret: "their secret" },
        settings: { oidc: { issuer: there.issuer, clientId: "signet" }, emailTrust: "verifiedClaim" },
      },
    });
  });
  afterEach(() => there.reset());
  after(async () => {
    await there.close();
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const signIn = async (): Promise<TestPage> => {
    const browser = testBrowser();
    const page = await visit(browser, org);
    const [link = ""] =
      new RegExp(`/oauth/[^"]*/connections/${connection.id}/start[^"]*`).exec(page.body) ?? [];
    const sent = await browser.get(running.baseUrl + link.replaceAll("&amp;", "&"));
    assert.equal(sent.status, 303, sent.body);
    return follow(browser, await browser.get(there.comeBack(sent.location ?? "")));
  };
  const failsWith = async (status: number, reason: string) => {
    assert.equal((await signIn()).status, status);
    const key = { orgId: org.organisation.id, id: connection.id };
    const [last] = await listConnectionSignIns(running.service.database.query, key, { now: clock() });
    assert.deepEqual([last?.outcome, last?.reason], ["failed", reason]);
    assert.doesNotMatch(`${last?.subject} ${last?.email}`, /\p{Cc}/u);
  };
  const moveTo = (issuer: string) =>
    changeSignInConnection(running.service, {
      ...{ orgId: org.organisation.id, actor: "test", id: connection.id },
      ask: ({ kind, name, enabled, settings }) => ({
        ...{ kind, name, enabled, clientSecret: "of another" },
        settings: { ...settings, oidc: { ...settings.oidc, issuer } },
      }),
    });

  test("what no database keeps is no subject, and no address", async () => {
    for (const sub of ["ada\u0000", "ada-\ud800"]) {
      there.claims = { sub };
      await failsWith(400, "subject-missing");
    }
    there.userinfo = { sub: "nul" };
    there.claims = { sub: "nul", email: "nul\u0000@there.example" };
    await failsWith(403, "accounts-not-created");
  });

  test("whom one issuer names is nobody of another: while people are linked, the issuer stays", async () => {
    const another = await startHostileProvider(clock);
    try {
      await moveTo(another.issuer);
      await moveTo(there.issuer);
      assert.ok(showsConsent(await signIn()));
      await assert.rejects(moveTo(another.issuer), (error: unknown) => {
        assert.ok(error instanceof InvalidSignInConnection);
        assert.deepEqual(
          error.faults.map(({ path }) => path),
          ["/oidc/issuer"],
        );
        return true;
      });
    } finally {
      await another.close();
    }
  });

  test("who comes back to a connection that has moved meanwhile is not linked", async () => {
    assert.ok(isSignInConnection(connection));
    const { settings } = connection;
    const oidc = { ...clientOf(settings), issuer: "https://before.example" };
    const before = { ...settings, saml: undefined, oidc };
    const user = {
      ...{ email: "late@there.example", emailVerified: true, firstname: "", surname: "" },
      ...{ username: undefined, phone: undefined, locale: undefined, attributes: {} },
    };
    const identity = { subject: "late", user, acr: "urn:signet:acr:pwd" };
    const resolving = resolveAccount(running.service, { ...connection, settings: before }, identity, {
      address: "127.0.0.1",
    });
    await assert.rejects(resolving, { reason: "accounts-not-created" });
  });
});
