// Signing in by email takes the same statements for every address: their number would tell, by time, who has an account.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { changeOrganisationSettings } from "../../../../core/organisations/organisations.ts";
import { createUser } from "../../../../core/users/users.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { testBrowser } from "../../../../testing/fakes/browser.ts";
import { MAIL_ENV, mailsTo } from "../../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import { follow, visit } from "../../../../testing/fixtures/visit.ts";
import { countStatements } from "../../../../testing/probes/counted-statements.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

/** What these requests look up or write; timers write the rest, and send what was put into the outbox. */
const OF_REQUESTS =
  /^(?:insert into|update|delete from|select\b.*? from) "(?:email_code|user_account|audit_event|audit_typed_email|rate_limit|domain)"|^insert into "outgoing_mail"/;

forEachDatabase(({ fresh }) => {
  const statements = countStatements();
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    running = await startTestService({
      ...{ databaseUrl: await fresh(), env: MAIL_ENV, passwords: quickPasswords },
      around: statements.dialect,
    });
    org = await makeOrganisation(running.service);
    const settings = { signInMethods: ["password", "emailCode", "magicLink"] as const };
    await changeOrganisationSettings(running.service, {
      ...{ orgId: org.organisation.id, settings, actor: "test" },
    });
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const account = async (email: string, isDisabled: boolean) => {
    const id = await createUser(running.service, {
      ...{ organisation: org.organisation, email, password: PASSWORD, firstname: "Uma", surname: "Berg" },
      ...{ role: "Standard", emailVerified: true, actor: "test" },
    });
    if (isDisabled)
      await running.service.database.query
        .updateTable("user_account")
        .set({ disabled_at: 1 })
        .where("org_id", "=", org.organisation.id)
        .where("id", "=", id)
        .execute();
    return email;
  };
  /** Of each request of a sign-in with a wrong code: its answer, and its statements. */
  const traceOf = async (email: string, act: "send" | "send-link") => {
    const browser = testBrowser();
    const first = await visit(browser, org);
    const traced: unknown[] = [];
    const post = async (path: string, form: Record<string, string>) => {
      statements.take();
      const answer = await browser.post(`${org.issuer}/${path}`, form);
      const own = statements.take().filter((sql) => OF_REQUESTS.test(sql));
      assert.ok(path === "login" || own.length > 2, "its statements are seen");
      traced.push([path, answer.status, own]);
      return follow(browser, answer);
    };
    const second = await post("login", { ...first.hidden, email });
    const sent = await post("email-code", { ...second.hidden, email, act });
    // As wrong as most: a random code is right once in a million.
    await post("email-code", { ...sent.hidden, "email-code": "no code" });
    return traced;
  };

  test("known, unknown and disabled addresses: the same answers and statements", async () => {
    const known = await account("known@acme.example", false);
    const disabled = await account("disabled@acme.example", true);
    // The first of all fills caches.
    await traceOf("first@acme.example", "send");
    for (const act of ["send", "send-link"] as const) {
      const expected = await traceOf(known, act);
      for (const email of [disabled, "unknown@acme.example"])
        assert.deepEqual(await traceOf(email, act), expected, `${act} ${email}`);
    }
    assert.equal((await mailsTo(running.service, known)).length, 2);
    assert.equal((await mailsTo(running.service, disabled)).length, 0);
  });
});
