// A form that makes something makes it once: two presses at the same time, a corrected one, another's value, an old one.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { voidActions } from "../core/actions/actions.store.ts";
import { listAuditEvents } from "../core/audit/audit.store.ts";
import { changeEmail } from "../core/users/account.store.ts";
import { createUser } from "../core/users/users.ts";
import { asAnotherRequest } from "../db/transaction-scope.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { eventually } from "../testing/eventually.ts";
import type { TestPage } from "../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo } from "../testing/fakes/mailbox.ts";
import {
  type AdministeredOrganisation,
  administeredOrganisation,
} from "../testing/fixtures/administered-organisation.ts";
import { isStatementBlocked } from "../testing/probes/blocked-statements.ts";
import { type ConsoleBrowser, consoleBrowser, formOfPage } from "../testing/probes/console-browser.ts";
import { PASSWORD, startTestService, type TestService } from "../testing/test-service.ts";

describe("one-time form", () => {
  forEachDatabase(({ name, fresh }) => {
    let running: TestService;
    let clock: FakeClock;
    let org: AdministeredOrganisation;
    let here: ConsoleBrowser;
    before(async () => {
      clock = fakeClock();
      running = await startTestService({ databaseUrl: await fresh(), clock, env: MAIL_ENV });
      org = await administeredOrganisation(running.service, "Acme");
      here = await consoleBrowser(running, org);
    });
    after(async () => {
      await running.close();
      assert.deepEqual(running.errors, []);
    });

    const db = () => running.service.database.query;
    const orgId = () => org.organisation.id;
    const applicationsNamed = async (name: string) =>
      (await db().selectFrom("application").select("id").where("name", "=", name).execute()).map(
        ({ id }) => id,
      );
    const eventsOf = async (target: string) =>
      (await listAuditEvents(db(), orgId(), 100)).filter((event) => event.target === target);
    /** The filled form that makes an application with a secret, as a page has it now. */
    const newApplication = async (name: string, by = here) =>
      formOfPage(await by.get("/applications/new?kind=service"), { name });
    const press = (form: URLSearchParams, by = here) => by.post("/applications/new", form);
    const statusesOf = (pages: readonly TestPage[]) => pages.map(({ status }) => status).sort();

    test("of two concurrent submissions one creates it, and the other reports the duplicate", async () => {
      const form = await newApplication("At once");
      const pages = await Promise.all([press(form), press(form), press(form)]);
      assert.deepEqual(statusesOf(pages), [200, 409, 409]);
      const made = await applicationsNamed("At once");
      assert.equal(made.length, 1);
      const events = (await eventsOf(made[0] ?? "")).map(({ action }) => action);
      assert.deepEqual(events.sort(), ["application.created", "client-secret.created"]);
      const late = pages.find(({ status }) => status === 409)?.body ?? "";
      assert.match(late, /add a new secret/);
      assert.match(late, /id="sent-before" href="[^"]*\/applications"/);
      assert.doesNotMatch(late, /sgn_cs_/);
      const meant = await press(formOfPage({ body: late }));
      assert.equal(meant.status, 200);
      assert.equal((await applicationsNamed("At once")).length, 2);
    });

    test("accepts a corrected form with the submission token of the refused one", async () => {
      const form = await newApplication("");
      assert.equal((await press(form)).status, 400);
      form.set("name", "Corrected");
      assert.deepEqual(statusesOf([await press(form), await press(form)]), [200, 409]);
      assert.equal((await applicationsNamed("Corrected")).length, 1);
    });

    test("a submission token is consumed only for its own user", async () => {
      const email = "second@acme.example";
      const person = { email, firstname: "Bea", surname: "Second", emailVerified: true, password: PASSWORD };
      const role = "Administrator" as const;
      const made = { organisation: org.organisation, ...person, role, actor: "test" };
      const administrator = { id: await createUser(running.service, made), email, password: PASSWORD };
      const there = await consoleBrowser(running, { ...org, administrator });
      const form = await newApplication("Theirs");
      const other = await newApplication("Ours", there);
      other.set("once", form.get("once") ?? "");
      assert.equal((await press(other, there)).status, 200);
      assert.equal((await press(form)).status, 200);
    });

    test("rejects a missing, foreign or day-old submission token as expired", async () => {
      const form = await newApplication("Too late");
      const [time = "", random = ""] = (form.get("once") ?? "").split(".");
      const at = (milliseconds: number) => `${milliseconds.toString(36)}.${random}`;
      const DAY = 86_400_000;
      const refused = ["", "x", random, `.${random}`, `${time}.short`, at(clock() - DAY), at(clock() + DAY)];
      for (const once of [undefined, ...refused]) {
        if (once === undefined) form.delete("once");
        else form.set("once", once);
        const page = await press(form);
        assert.equal(page.status, 403, String(once));
        assert.match(page.body, /has expired/);
        assert.equal(formOfPage(page).get("name"), "Too late");
      }
      assert.deepEqual(await applicationsNamed("Too late"), []);
    });

    test("rolls back an invitation that has been accepted meanwhile: no mail, no audit event", async () => {
      const events = await listAuditEvents(db(), orgId(), 1);
      const page = await here.send(`/users/${org.user.id}/invitation/again`);
      assert.match(page.location ?? "", new RegExp(`/users/${org.user.id}\\?done=already$`));
      assert.deepEqual(await mailsTo(running.service, org.user.email), []);
      assert.deepEqual(await listAuditEvents(db(), orgId(), 1), events);
    });

    test("does not deadlock with the use of an earlier confirmation link", async () => {
      const { id, email: from } = org.user;
      const address = `/users/${id}/address`;
      await here.send(address, { newEmail: "one@acme.example" });
      const form = formOfPage(await here.get(address), { newEmail: "two@acme.example" });
      const at = { orgId: orgId(), id, userId: id, type: "ChangeEmail", now: clock() } as const;
      let asked: Promise<TestPage> | undefined;
      await running.service.database.transaction(async (tx) => {
        // As the use of a link does it: the link first, then the account.
        await voidActions(tx, at);
        asked = asAnotherRequest(() => here.post(address, form));
        if (name === "postgres") await eventually("the form waits", () => isStatementBlocked(db()));
        const to = "one@acme.example";
        assert.ok(await changeEmail(tx, { ...at, from, to, toKey: to }, clock()));
      });
      assert.equal((await asked)?.status, 409);
    });
  });
});
