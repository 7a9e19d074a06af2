import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { migrate } from "../../../db/migrate.ts";
import { type Database, openDatabase } from "../../../db/open.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";
import { type AuditEvent, listAuditEvents, recordAuditEvent } from "../audit.store.ts";
import { duringRequest } from "../audited-request.ts";
import { findSubjects } from "./find-subjects.ts";
import { type IndexFilter, rangeQuery } from "./search.store.ts";
import { searchAuditEvents } from "./search.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let other: SeededRecords;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await seedRecords(running.service, "Acme");
    other = await seedRecords(running.service, "Beta");
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const db = () => running.service.database.query;
  let now = 2_000_000_000_000;
  /** @returns the event's id */
  const happened = async (event: Partial<AuditEvent>, where = org) => {
    const orgId = where.organisation.id;
    await recordAuditEvent(db(), {
      ...{ orgId, at: now++, actor: "anonymous", action: "sign-in.failed" },
      ...event,
    });
    return (await listAuditEvents(db(), orgId, 1))[0]?.id ?? "";
  };
  const search = async (text: string, where = org) => {
    const orgId = where.organisation.id;
    const { filters, isPartial } = await findSubjects(db(), orgId, text);
    const { events } = await searchAuditEvents(db(), orgId, { subjects: filters }, { limit: 100 });
    return { ids: events.map(({ id }) => id), isPartial };
  };
  const finds = async (text: string, id: string, where = org) =>
    assert.ok((await search(text, where)).ids.includes(id), text);
  const misses = async (text: string, id: string, where = org) =>
    assert.ok(!(await search(text, where)).ids.includes(id), text);

  test("an event is found by its user's email address, name and PermId, as actor and as target", async () => {
    const { user } = org;
    const acted = await happened({ actor: `user:${user.id}`, action: "user.profile-changed" });
    const suffered = await happened({ target: user.id });
    const elsewhere = await happened({ target: org.administrator.id });
    for (const text of [
      user.email,
      user.email.toUpperCase(),
      user.id,
      user.id.slice(0, 13),
      user.email.slice(0, 8),
    ]) {
      await finds(text, acted);
      await finds(text, suffered);
    }
    await misses(user.email, elsewhere);
    await misses(user.id, elsewhere);
  });

  test("an event is found by its application's name and ID, as target, as actor and when it happened through it", async () => {
    const { application } = org.web;
    const ids = [
      await happened({ target: application.id, action: "application.changed" }),
      await happened({ actor: `client:${application.id}`, action: "refresh-token.revoked" }),
      await happened({ applicationId: application.id, target: org.user.id }),
    ];
    for (const text of [application.name, application.name.slice(0, 3).toUpperCase(), application.id])
      for (const id of ids) await finds(text, id);
  });

  test("a failed sign-in is found by the email address that was typed, whether or not an account has it", async () => {
    const unknown = await happened({ typedEmail: " Nobody@Acme.Example " });
    await finds("nobody@acme.example", unknown);
    await finds("NOBODY@acme.example", unknown);
    const known = await happened({ typedEmail: org.user.email, target: org.user.id });
    await finds(org.user.email, known);
    await misses("nobody@acme.example", known);
  });

  test("another organisation finds none of it, also for its own users' addresses", async () => {
    const typed = await happened({ typedEmail: other.user.email });
    await finds(other.user.email, typed);
    const event = (await listAuditEvents(db(), org.organisation.id, 1))[0];
    assert.equal(event?.target, undefined, "nothing tells that another organisation has the account");
    const reference = await duringRequest({ requestId: "node-77", userAgent: undefined }, () =>
      happened({ address: "203.0.113.77", applicationId: org.web.application.id }),
    );
    for (const text of [other.user.email, "node-77", "203.0.113.77", org.web.application.id, reference]) {
      await misses(text, typed, other);
      await misses(text, reference, other);
    }
  });

  test("an event is found by the reference of its request, and by its own id", async () => {
    const id = await duringRequest({ requestId: "web-1-3f", userAgent: undefined }, () => happened({}));
    await finds("web-1-3f", id);
    await finds(" web-1-3f ", id);
    await misses("web-1-3", id);
    assert.deepEqual((await search(id)).ids, [id]);
  });

  test("an event is found by its IP address in any spelling, and by no part of one", async () => {
    const six = await happened({ address: "2001:DB8:0:0::7" });
    for (const text of ["2001:db8::7", "2001:0db8:0:0:0:0:0:7", "[2001:DB8::7]"]) await finds(text, six);
    await misses("2001:db8::8", six);
    const four = await happened({ address: "::ffff:198.51.100.9" });
    await finds("198.51.100.9", four);
    await misses("198.51.100.90", four);
    await sql`update audit_event set address = '::ffff:198.51.100.8' where id = ${four}`.execute(db());
    await finds("198.51.100.8", four);
  });

  test("an event is found by kinds of actors that have no record", async () => {
    const id = await happened({ actor: "operator", action: "organisation.changed" });
    await finds("operator", id);
    await finds("Operator", id);
  });

  test("unusual text finds nothing and does no harm", async () => {
    for (const text of [
      "",
      "%",
      "_",
      "' or 1=1",
      "x".repeat(5_000),
      "a\u0000b".replaceAll("\u0000", " "),
      "@",
      "::",
    ])
      assert.ok((await search(text)).ids.length >= 0);
    assert.deepEqual((await search("no such thing")).ids, []);
    const { filters } = await findSubjects(db(), org.organisation.id, "x".repeat(5_000));
    assert.ok(filters.every(({ value }) => value.length <= 200));
  });

  test("more matching records than are searched for are announced", async () => {
    const scope = { org_id: org.organisation.id, display_name: "s", description: "", claims: "[]" };
    for (let at = 0; at < 25; at++)
      await db()
        .insertInto("custom_scope")
        .values({
          ...scope,
          id: `many-${at}`,
          name: `many-${at}`,
          sensitive: 0,
          created_at: 1,
          updated_at: 1,
          version: 1,
        })
        .execute();
    const { filters, isPartial } = await findSubjects(db(), org.organisation.id, "many-");
    assert.equal(isPartial, true);
    const targets = filters.filter(({ column, value }) => column === "target" && value !== "many-");
    assert.equal(targets.length, 20);
    assert.equal((await search("many-24")).isPartial, false);
  });
});

test("each condition of a search reads its own index in the order of time", async () => {
  const database: Database = openDatabase("sqlite::memory:");
  try {
    await migrate(database);
    const indexes: Record<IndexFilter["column"], RegExp> = {
      id: /INDEX sqlite_autoindex_audit_event|PRIMARY KEY/,
      actor: /audit_event_actor/,
      action: /audit_event_action/,
      target: /audit_event_target/,
      address: /audit_event_address/,
      application: /audit_mention_value/,
      request: /audit_mention_value/,
      subject: /audit_mention_value/,
      email: /audit_typed_email_value/,
    };
    for (const [column, index] of Object.entries(indexes)) {
      const filter = { column: column as IndexFilter["column"], value: "x" };
      const after = { at: 5, id: "x" };
      const range = { orgId: "org", from: 1, to: 9, after, order: "newest first", limit: 26 } as const;
      const steps = await rangeQuery(database.query, filter, range).explain(undefined, sql`query plan`);
      const plan = JSON.stringify(steps);
      assert.match(plan, index, column);
      assert.doesNotMatch(plan, /SCAN/, column);
      if (column !== "id") assert.doesNotMatch(plan, /TEMP B-TREE/, column);
    }
  } finally {
    await database.close();
  }
});
