// Userinfo: asked for what the mapping reads and the ID token lacks, and for nothing else; what is signed goes before what is not.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
import { listAuditEvents } from "../../../../core/audit/audit.store.ts";
import type { Connection } from "../../../../core/connections/connection.ts";
import type { AskedSettings } from "../../../../core/connections/sign-in/settings-rules.ts";
import { findUserByEmail } from "../../../../core/users/users.store.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { type HostileProvider, startHostileProvider } from "../../../../testing/fakes/hostile-provider.ts";
import { MAIL_ENV } from "../../../../testing/fakes/mailbox.ts";
import { provenDomain } from "../../../../testing/fixtures/routed-domain.ts";
import { connectTo, signInUpstream } from "../../../../testing/fixtures/upstream-sign-in.ts";
import { showsConsent } from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

/** With what the honest provider's ID token has, everything that the standard mapping reads. */
const WHOLE = { phone_number: "+45 12 34 56 78", locale: "da" };

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let there: HostileProvider;
  let connection: Connection;
  before(async () => {
    clock = fakeClock();
    const env = { ...MAIL_ENV, SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
    org = await makeOrganisation(running.service);
    there = await startHostileProvider(clock);
    connection = await connect({ emailTrust: "verifiedClaim" });
  });
  afterEach(() => there.reset());
  after(async () => {
    await there.close();
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const connect = (more: AskedSettings) => connectTo(running, org, there, `There ${randomUUID()}`, more);
  const signIn = (of = connection) => signInUpstream({ running, org, there, connection: of });
  const account = async (email: string) =>
    (await findUserByEmail(running.service.database.query, org.organisation.id, email))?.user;
  const timesAsked = () => there.asked.filter((path) => path === "/userinfo").length;

  test("nothing is asked where the ID token has all that is mapped", async () => {
    there.claims = { ...WHOLE, sub: "whole", email: "whole@there.example" };
    there.userinfo = { phone_number: "+45 99 99 99 99" };
    assert.ok(showsConsent(await signIn()));
    assert.equal(timesAsked(), 0);
    assert.equal((await account("whole@there.example"))?.phone, WHOLE.phone_number);
  });

  test("each member that the ID token lacks is asked for, and becomes the account's", async () => {
    const mapping = { username: "preferred_username", "attributes.team": ["team", "=none"] };
    const own = await connect({ emailTrust: "verifiedClaim", mapping });
    const whole: Record<string, unknown> = { ...WHOLE, preferred_username: "ada", team: "engines" };
    const read = async (email: string) => {
      const user = await account(email);
      const { team } = user?.attributes ?? {};
      const { phone, locale, username } = user ?? {};
      return { phone_number: phone, locale, preferred_username: username, team };
    };
    for (const [at, name] of Object.keys(whole).entries()) {
      const [sub, email] = [`part-${at}`, `part-${at}@there.example`];
      there.asked.splice(0);
      there.claims = {
        ...whole,
        preferred_username: `ada-${at}`,
        sub,
        email,
        [name]: at % 2 ? null : undefined,
      };
      there.userinfo = { ...whole, preferred_username: `ada-${at}` };
      assert.ok(showsConsent(await signIn(own)), name);
      assert.equal(timesAsked(), 1, name);
      assert.deepEqual(await read(email), { ...whole, preferred_username: `ada-${at}` }, name);
    }
    for (const [at, name] of ["email", "email_verified", "given_name", "family_name"].entries()) {
      const [sub, email] = [`standard-${at}`, `standard-${at}@there.example`];
      there.asked.splice(0);
      there.claims = { ...WHOLE, sub, email, [name]: undefined };
      there.userinfo = { email, email_verified: true, given_name: "Ada", family_name: "Byron" };
      assert.ok(showsConsent(await signIn()), name);
      assert.equal(timesAsked(), 1, name);
      const { firstname, surname, emailVerified } = (await account(email)) ?? {};
      assert.deepEqual([firstname, surname, emailVerified], ["Ada", "Byron", true], name);
    }
  });

  test("userinfo is about the same subject, or it is refused", async () => {
    there.claims = { ...WHOLE, sub: "info-2", email: undefined };
    there.userinfo = { sub: "somebody-else", email: "else@there.example", email_verified: true };
    assert.match((await signIn()).body, /id="connection-error"/);
    const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
    assert.deepEqual([event?.target, event?.details?.["reason"]], [connection.id, "subject-mismatch"]);
    assert.equal(await account("else@there.example"), undefined);
  });

  test("an address is verified by userinfo when it has the same one, or none; never by its word about another one", async () => {
    const own = await connect({ emailTrust: "provenDomains" });
    await provenDomain(running.service, org.organisation.id, {
      domain: "routed.example",
      connectionId: own.id,
    });
    const told = async (sub: string, userinfo: Record<string, unknown>, email_verified?: boolean) => {
      there.claims = { ...WHOLE, sub, email: `${sub}@routed.example`, email_verified };
      there.userinfo = userinfo;
      return (await signIn(own)).body;
    };
    assert.match(await told("same", { email: "SAME@routed.example", email_verified: true }), /consent/);
    assert.match(await told("none", { email_verified: true }), /consent/);
    assert.match(await told("boss", { email: "eve@there.example", email_verified: true }), /id="email-code"/);
    // What is signed stays: it says that nobody has confirmed the address.
    assert.match(await told("signed", { email_verified: true }, false), /id="email-code"/);
    for (const email of ["boss@routed.example", "signed@routed.example", "eve@there.example"])
      assert.equal(await account(email), undefined, email);
  });

  test("of an object in both, what the ID token lacks of it comes from userinfo", async () => {
    const mapping = { "attributes.city": "/address/locality", "attributes.land": "/address/country" };
    const own = await connect({ emailTrust: "verifiedClaim", mapping });
    there.claims = { ...WHOLE, sub: "deep", email: "deep@there.example", address: { country: "DK" } };
    there.userinfo = { address: { country: "SE", locality: "Aarhus" } };
    assert.ok(showsConsent(await signIn(own)));
    assert.deepEqual((await account("deep@there.example"))?.attributes, { city: "Aarhus", land: "DK" });
  });
});
