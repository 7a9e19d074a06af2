/** The pages on users: who is listed, how they are added and changed, and that nobody overwrites what they have not seen. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { changeProfile } from "../../../core/users/profile/profile.ts";
import type { Role } from "../../../core/users/user.ts";
import { findUser, findUserByEmail, insertMembership } from "../../../core/users/users.store.ts";
import { createUser } from "../../../core/users/users.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo } from "../../../testing/fakes/mailbox.ts";
import {
  type AdministeredOrganisation,
  administeredOrganisation,
} from "../../../testing/fixtures/administered-organisation.ts";
import {
  type ConsoleBrowser,
  consoleBrowser,
  formOfPage,
  textOf,
} from "../../../testing/probes/console-browser.ts";
import { PASSWORD, startTestService, type TestService } from "../../../testing/test-service.ts";

describe("user pages", () => {
  let running: TestService;
  let clock: FakeClock;
  let org: AdministeredOrganisation;
  let other: AdministeredOrganisation;
  let here: ConsoleBrowser;
  let count = 0;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: "sqlite::memory:", clock, env: MAIL_ENV });
    org = await administeredOrganisation(running.service, "Acme");
    other = await administeredOrganisation(running.service, "Beta");
    here = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const db = () => running.service.database.query;
  const orgId = () => org.organisation.id;
  const userOf = async (id: string) => {
    const user = await findUser(db(), orgId(), id);
    assert.ok(user, "the user is there");
    return user;
  };
  const make = async (more: { role?: Role; firstname?: string } = {}): Promise<string> => {
    clock.advance(1_000);
    const { role = "Standard", firstname = "Pat" } = more;
    const email = `person${++count}@acme.example`;
    const person = {
      organisation: org.organisation,
      email,
      password: PASSWORD,
      firstname,
      surname: `Person${count}`,
    };
    return createUser(running.service, { ...person, role, emailVerified: true, actor: "test" });
  };
  const guest = async (): Promise<string> => {
    await insertMembership(db(), {
      orgId: orgId(),
      userId: other.user.id,
      homeOrgId: other.organisation.id,
      role: "Standard",
      now: clock(),
    });
    return other.user.id;
  };
  const newest = async (target: string) =>
    (await listAuditEvents(db(), orgId(), 20)).find((event) => event.target === target);
  const uri = (rest: string) => `${running.baseUrl}/oauth/manage/${orgId()}${rest}`;

  test("lists, searches, filters and pages the organisation's members only", async () => {
    const ids: string[] = [];
    for (let index = 0; index < 27; index++) ids.push(await make({ firstname: "Listed" }));
    const list = await here.get("/users?search=listed");
    assert.equal(list.status, 200);
    for (const id of ids.slice(2)) assert.ok(list.body.includes(`id="user-${id}"`));
    assert.ok(!list.body.includes(`id="user-${ids[1]}"`), "25 on a page");
    const next = /id="page-older" href="([^"]+)"/.exec(list.body)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const second = await here.browser.get(running.baseUrl + next);
    assert.deepEqual(
      ids.map((id) => second.body.includes(`id="user-${id}"`)),
      ids.map((_, index) => index < 2),
    );
    assert.match(second.body, /id="page-newest"/);
    const administrators = await here.get("/users?role=Administrator");
    assert.match(administrators.body, new RegExp(`id="user-${org.administrator.id}"`));
    assert.ok(!administrators.body.includes("Listed"));
    const odd = await here.get("/users?search=%3Cb%3E&role=Emperor&state=odd&after=..%27");
    assert.match(odd.body, /value="&lt;b&gt;"/);
    assert.ok(!(await here.get("/users")).body.includes(other.user.email));
  });

  test("invites a user by mail in their language, sends the invitation again and withdraws it", async () => {
    const email = "ivy@acme.example";
    const form = { email: ` ${email} `, firstname: "Ivy", surname: "<New>", role: "Standard", locale: "da" };
    const answer = await here.send("/users/new", form);
    const found = await findUserByEmail(db(), orgId(), email);
    assert.deepEqual([found?.passwordHash, found?.user.locale], [null, "da"]);
    const id = found?.user.id ?? "";
    assert.equal(answer.location, uri(`/users/${id}?done=invited`));
    const event = await newest(id);
    assert.deepEqual([event?.action, event?.actor], ["user.invited", `user:${org.administrator.id}`]);
    assert.ok(event?.address);
    const page = await here.get(`/users/${id}`);
    assert.match(page.body, /Ivy &lt;New&gt;/);
    assert.match(textOf(page, "invitation-state") ?? "", /is about to be sent/);
    await db().updateTable("outgoing_mail").set({ sent_at: 1 }).where("recipient", "=", email).execute();
    assert.match(textOf(await here.get(`/users/${id}`), "invitation-state") ?? "", /was sent/);
    await here.send(`/users/${id}/invitation/again`);
    assert.deepEqual(
      (await mailsTo(running.service, email)).map(({ locale }) => locale),
      ["da", "da"],
    );
    await here.send(`/users/${id}/invitation/withdraw`);
    const withdrawn = await here.get(`/users/${id}?done=withdrawn`);
    assert.match(textOf(withdrawn, "invitation-state") ?? "", /was withdrawn/);
    assert.equal((await mailsTo(running.service, email)).length, 1, "what waited is not sent");
    assert.equal((await newest(id))?.action, "invitation.withdrawn");
    assert.doesNotMatch(withdrawn.body, /id="invite-withdraw"/);
    await here.send(`/users/${id}/invitation/again`);
    clock.advance(24 * 3_600_000);
    here = await consoleBrowser(running, org);
    const { body: expired } = await here.get(`/users/${id}`);
    assert.match(expired, /id="invitation-state">The invitation sent on <time [^<]*<\/time> has expired/);
    assert.match((await here.get("/users?state=invited")).body, new RegExp(`id="user-${id}"`));
  });

  test("creates a user with a password shown once, and reports faults at their fields", async () => {
    const form = {
      email: "nonsense",
      firstname: "Fay",
      how: "password",
      emailKnown: "on",
      role: "Administrator",
    };
    const bad = await here.send("/users/new", form);
    assert.equal(bad.status, 400);
    assert.match(bad.body, /id="email"[^>]*aria-describedby="email-fault"[^>]*aria-invalid="true" autofocus/);
    assert.equal(formOfPage(bad).get("firstname"), "Fay");
    assert.equal(formOfPage(bad).get("how"), "password");
    const taken = await here.send("/users/new", { ...form, email: org.user.email.toUpperCase() });
    assert.equal(taken.status, 400);
    assert.match(textOf(taken, "email-fault") ?? "", /A user with this email address already/);
    const made = await here.send("/users/new", { ...form, email: "fay@acme.example" });
    assert.equal(made.headers.get("cache-control"), "no-store");
    const password = textOf(made, "new-password") ?? "";
    assert.ok(password.length >= 20);
    const found = await findUserByEmail(db(), orgId(), "fay@acme.example");
    assert.deepEqual([found?.user.role, found?.user.emailVerified], ["Administrator", true]);
    assert.ok(await running.service.passwords.verify(found?.passwordHash ?? "", password, ""));
    const audit = JSON.stringify(await listAuditEvents(db(), orgId(), 3));
    assert.ok(audit.includes("user.created") && !audit.includes(password));
    const again = await here.send("/users/new", { ...form, how: "mail", email: "ivy@acme.example" });
    assert.equal(again.status, 400, "who is invited already is not invited under another role");
  });

  test("saves profile, role, groups and attributes in one transaction, with audit events", async () => {
    const id = await make();
    const changes = {
      firstname: "Grace",
      surname: "Hopper",
      username: "Amazing.Grace",
      phone: "+45 12 34 56 78",
      locale: "de",
      role: "Administrator",
      groups: "staff\r\n\r\n payroll \r\nstaff",
      attributes: '{"department": "Finance", "level": 4}',
      membershipAttributes: '{"desk": [1, 2]}',
    };
    const answer = await here.send(`/users/${id}/edit`, changes);
    assert.equal(answer.location, uri(`/users/${id}?done=saved`));
    const { firstname, surname, username, phone, locale, role, attributes, membership } = await userOf(id);
    assert.deepEqual(
      [firstname, surname, username, phone, locale, role],
      ["Grace", "Hopper", "amazing.grace", "+45 12 34 56 78", "de", "Administrator"],
    );
    assert.deepEqual(attributes, { department: "Finance", level: 4 });
    assert.deepEqual(membership, { groups: ["payroll", "staff"], attributes: { desk: [1, 2] } });
    const events = (await listAuditEvents(db(), orgId(), 9)).filter(({ target }) => target === id);
    assert.deepEqual(events.map(({ action }) => action).sort(), [
      "user.attributes-changed",
      "user.created",
      "user.profile-changed",
      "user.role-changed",
      "user.username-changed",
    ]);
    for (const { action, actor, address } of events)
      if (action !== "user.created")
        assert.deepEqual([actor, Boolean(address)], [`user:${org.administrator.id}`, true]);
    const length = events.length;
    await here.send(`/users/${id}/edit`);
    assert.equal(
      (await listAuditEvents(db(), orgId(), 9)).filter(({ target }) => target === id).length,
      length,
    );
    assert.match((await here.get(`/users/${id}`)).body, /id="last-change">[^<]*admin@acme\.example/);
  });

  test("reports invalid values at their fields and saves nothing", async () => {
    const [id, holder] = [await make(), await make()];
    await here.send(`/users/${holder}/edit`, { username: "holder" });
    const before = await userOf(id);
    const bad = {
      firstname: "x".repeat(101),
      username: "a@b",
      phone: "call me",
      locale: "../en",
      role: "Emperor",
      groups: "g".repeat(201),
      attributes: "[1]",
      membershipAttributes: '{"a b": 1}',
    };
    const page = await here.send(`/users/${id}/edit`, { surname: "Kept", ...bad });
    assert.equal(page.status, 400);
    for (const field of Object.keys(bad)) {
      assert.match(page.body, new RegExp(`id="${field}-fault"`), field);
      assert.match(page.body, new RegExp(`href="#${field}"`), field);
    }
    assert.equal(formOfPage(page).get("surname"), "Kept");
    assert.equal(formOfPage(page).get("attributes"), "[1]");
    const taken = await here.send(`/users/${id}/edit`, { username: "HOLDER", firstname: "Half" });
    assert.equal(taken.status, 400);
    assert.match(taken.body, /id="username-fault"/);
    assert.deepEqual(await userOf(id), before, "the first name neither");
  });

  test("rejects a well-formed language tag that names no language", async () => {
    const id = await make();
    for (const locale of ["en-a", "zz-x", "en-US-US", "en-aaaaa-aaaaa", `en${"-abcde".repeat(20)}`]) {
      const refused = await here.send(`/users/${id}/edit`, { locale });
      assert.equal(refused.status, 400, locale);
      assert.match(refused.body, /href="#locale"/);
      assert.equal((await here.get(`/users/${id}`)).status, 200, locale);
    }
    assert.equal((await here.send(`/users/${id}/edit`, { locale: "pt-BR" })).status, 303);
    assert.match((await here.get(`/users/${id}`)).body, /Português/);
    assert.match((await here.get(`/users/${id}/edit`)).body, /<option value="pt-BR" selected>/);
  });

  test("shows a stored tag that names no language, and saves its user", async () => {
    const id = await make();
    await db().updateTable("user_account").set({ locale: "en-a" }).where("id", "=", id).execute();
    const page = await here.get(`/users/${id}`);
    assert.equal(page.status, 200);
    assert.match(page.body, /<dd>en-a<\/dd>/);
    assert.equal((await here.send(`/users/${id}/edit`, { firstname: "Pia" })).status, 303);
    assert.equal((await userOf(id)).firstname, "Pia");
  });

  test("a conflicting change shows its author and the present values, and can be overwritten knowingly", async () => {
    const id = await make();
    const page = await here.get(`/users/${id}/edit`);
    const { firstname, phone, locale } = await userOf(id);
    const profile = { firstname, surname: "Faster", phone, locale };
    await changeProfile(running.service, { orgId: orgId(), id, profile, actor: `user:${org.user.id}` });
    const late = await here.post(`/users/${id}/edit`, formOfPage(page, { surname: "Slower" }));
    assert.equal(late.status, 409);
    assert.match(textOf(late, "surname-now") ?? "", /Faster/);
    assert.doesNotMatch(late.body, /id="firstname-now"/);
    assert.match(late.body, new RegExp(`Changed by ${org.user.email}`));
    assert.equal((await userOf(id)).surname, "Faster");
    await here.post(`/users/${id}/edit`, formOfPage(late));
    assert.equal((await userOf(id)).surname, "Slower");
  });

  test("refuses to change one's own role or to end one's own account", async () => {
    const { id } = org.administrator;
    const page = await here.get(`/users/${id}/edit`);
    assert.doesNotMatch(page.body, /name="role"/);
    await here.send(`/users/${id}/edit`, { role: "Standard" });
    assert.equal((await userOf(id)).role, "Administrator");
    assert.doesNotMatch(
      (await here.get(`/users/${id}`)).body,
      /id="user-(disable|delete)"|id="factors-reset"/,
    );
    for (const [act, more] of [
      ["disable", {}],
      ["delete", { name: org.administrator.email }],
      ["reset-factors", {}],
      ["new-password", {}],
    ] as const) {
      const refused = await here.send(`/users/${id}/${act}`, more);
      assert.equal(refused.status, 409, act);
      assert.match(refused.body, /You can’t do this to your own account/);
    }
    assert.equal((await userOf(id)).disabledAt, null);
  });

  test("of two administrators who demote each other at the same time, one stays", async () => {
    const [one, two] = [await make({ role: "Administrator" }), await make({ role: "Administrator" })];
    const browsers = await Promise.all(
      [one, two].map(async (id) => {
        const { email } = await userOf(id);
        return consoleBrowser(running, { ...org, administrator: { id, email, password: PASSWORD } });
      }),
    );
    const setRoles = (role: Role, which: "in" | "not in") =>
      db()
        .updateTable("membership")
        .set({ role })
        .where("org_id", "=", orgId())
        .where("user_id", which, [one, two])
        .where("role", "=", "Administrator")
        .execute();
    await setRoles("Standard", "not in");
    try {
      const forms = [
        await browsers[0]?.get(`/users/${two}/edit`),
        await browsers[1]?.get(`/users/${one}/edit`),
      ];
      const answers = await Promise.all(
        [two, one].map((id, index) =>
          browsers[index]?.post(
            `/users/${id}/edit`,
            formOfPage(forms[index] ?? { body: "" }, { role: "Standard" }),
          ),
        ),
      );
      const statuses = answers.map((answer) => answer?.status ?? 0).sort();
      assert.equal(statuses[0], 303, "one demotes the other");
      // Who was demoted is refused at the door, or as the last one's.
      assert.ok([403, 409].includes(statuses[1] ?? 0), `${statuses[1]}`);
      const roles = [await userOf(one), await userOf(two)].map(({ role }) => role).sort();
      assert.deepEqual(roles, ["Administrator", "Standard"]);
    } finally {
      const id = org.administrator.id;
      await db().updateTable("membership").set({ role: "Administrator" }).where("user_id", "=", id).execute();
    }
  });

  test("changes an email address directly or by mail, and rejects one that is taken", async () => {
    const id = await make();
    const { email: old } = await userOf(id);
    const path = `/users/${id}/address`;
    assert.equal((await here.send(path, { newEmail: "nonsense" })).status, 400);
    const taken = await here.send(path, { newEmail: org.user.email, known: "on" });
    assert.equal(taken.status, 400);
    assert.match(textOf(taken, "newEmail-fault") ?? "", /with this email address already/);
    const asked = await here.send(path, { newEmail: "asked@acme.example" });
    assert.equal(asked.location, uri(`/users/${id}?done=addressAsked`));
    assert.equal((await userOf(id)).email, old, "until the link is used");
    assert.equal((await newest(id))?.action, "email-change.requested");
    assert.deepEqual(
      (await mailsTo(running.service, "asked@acme.example")).map(({ mail }) => mail.template),
      ["ChangeEmail"],
    );
    const page = await here.get(path);
    await here.send(path, { newEmail: "known@acme.example", known: "on" });
    const changed = await userOf(id);
    assert.deepEqual([changed.email, changed.emailVerified], ["known@acme.example", true]);
    assert.deepEqual(
      (await mailsTo(running.service, old)).map(({ mail }) => mail.template),
      ["EmailChanged"],
    );
    assert.equal((await newest(id))?.action, "email.changed");
    const late = await here.post(path, formOfPage(page, { newEmail: "late@acme.example", known: "on" }));
    assert.equal(late.status, 409);
    assert.equal((await userOf(id)).email, "known@acme.example");
  });

  test("changes only role, groups and membership of a guest", async () => {
    const id = await guest();
    const page = await here.get(`/users/${id}`);
    assert.match(page.body, /id="guest-notice"/);
    assert.doesNotMatch(page.body, /id="user-(address|disable|delete)"|id="user-factors"/);
    const edit = await here.get(`/users/${id}/edit`);
    for (const field of ["firstname", "username", "attributes", "locale"])
      assert.doesNotMatch(edit.body, new RegExp(`name="${field}"`), field);
    const before = await userOf(id);
    await here.send(`/users/${id}/edit`, {
      role: "Administrator",
      groups: "visitors",
      firstname: "Changed",
      attributes: '{"changed": true}',
    });
    const after = await userOf(id);
    assert.deepEqual([after.role, after.membership.groups], ["Administrator", ["visitors"]]);
    assert.deepEqual([after.firstname, after.attributes], [before.firstname, before.attributes]);
    for (const act of ["delete", "reset-factors", "password-reset", "new-password", "address"])
      assert.equal((await here.get(`/users/${id}/${act}`)).status, 404, act);
    assert.match((await here.get(`/users/${id}/advanced`)).body, /id="user-disable"/);
    for (const act of ["disable", "enable"]) {
      assert.equal((await here.send(`/users/${id}/${act}`)).status, 303, act);
      assert.equal((await userOf(id)).membership.disabledAt !== undefined, act === "disable");
    }
    assert.equal((await here.send(`/users/${id}/remove`, { name: "somebody" })).status, 400);
    const gone = await here.send(`/users/${id}/remove`, { name: after.email });
    assert.equal(gone.location, uri("/users?done=removed"));
    assert.equal(await findUser(db(), orgId(), id), undefined);
    assert.ok(await findUser(db(), other.organisation.id, id), "at home it stays");
  });
});
