import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { deleteExpired } from "../../db/delete-expired.ts";
import { migrate } from "../../db/migrate.ts";
import { type Database, openDatabase } from "../../db/open.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { countAttempt, defaultRateLimits, RateLimited } from "./rate-limits.ts";

const ORG = "0190a1b2-0000-7000-8000-000000000001";
const limit = { name: "password-account", count: 3, windowSeconds: 60 };

test("the limits match the contract", () => {
  assert.deepEqual(defaultRateLimits, {
    "password-account": { name: "password-account", count: 10, windowSeconds: 900 },
    "password-address": { name: "password-address", count: 100, windowSeconds: 3_600 },
    "password-application": { name: "password-application", count: 1_000, windowSeconds: 900 },
    "second-factor-account": { name: "second-factor-account", count: 10, windowSeconds: 3_600 },
    "second-factor-address": { name: "second-factor-address", count: 50, windowSeconds: 3_600 },
    "second-factor-application": { name: "second-factor-application", count: 500, windowSeconds: 3_600 },
    "recovery-address": { name: "recovery-address", count: 60, windowSeconds: 60 },
    "recovery-account": { name: "recovery-account", count: 5, windowSeconds: 3_600 },
    "email-code-source": { name: "email-code-source", count: 5, windowSeconds: 3_600 },
    "email-code-mailbox": { name: "email-code-mailbox", count: 20, windowSeconds: 3_600 },
    "registration-address": { name: "registration-address", count: 60, windowSeconds: 60 },
    "registration-account": { name: "registration-account", count: 5, windowSeconds: 3_600 },
    "username-address": { name: "username-address", count: 60, windowSeconds: 60 },
    "user-code": { name: "user-code", count: 5, windowSeconds: 900 },
    "par-address": { name: "par-address", count: 600, windowSeconds: 60 },
    "signed-error-address": { name: "signed-error-address", count: 60, windowSeconds: 60 },
    "ciba-client": { name: "ciba-client", count: 300, windowSeconds: 60 },
    "ciba-client-user": { name: "ciba-client-user", count: 5, windowSeconds: 900 },
    "ciba-user": { name: "ciba-user", count: 20, windowSeconds: 900 },
    "client-document-address": { name: "client-document-address", count: 60, windowSeconds: 60 },
    "registration-token-address": { name: "registration-token-address", count: 60, windowSeconds: 60 },
    "device-address": { name: "device-address", count: 60, windowSeconds: 60 },
    "connection-token-address": { name: "connection-token-address", count: 60, windowSeconds: 60 },
    "connection-start-address": { name: "connection-start-address", count: 600, windowSeconds: 60 },
    "agent-key-address": { name: "agent-key-address", count: 60, windowSeconds: 60 },
    "bound-session-address": { name: "bound-session-address", count: 60, windowSeconds: 60 },
    "enrollment-code-address": { name: "enrollment-code-address", count: 10, windowSeconds: 60 },
    "enrollment-code-organisation": { name: "enrollment-code-organisation", count: 60, windowSeconds: 60 },
    "enrollment-address": { name: "enrollment-address", count: 600, windowSeconds: 60 },
    "data-export": { name: "data-export", count: 5, windowSeconds: 3_600 },
    "api-client": { name: "api-client", count: 6_000, windowSeconds: 60 },
    "mail-test": { name: "mail-test", count: 10, windowSeconds: 3_600 },
  });
});

forEachDatabase(({ fresh }) => {
  let database: Database;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    database = openDatabase(await fresh());
    await migrate(database);
  });
  after(() => database.close());

  const count = (subject: string, orgId = ORG) =>
    countAttempt({ database, clock }, orgId, [{ limit, subject }]);
  const limited = (retryAfterSeconds: number) => (error: unknown) =>
    error instanceof RateLimited && error.retryAfterSeconds === retryAfterSeconds && error.limit === limit;

  test("attempts up to the limit pass, and the next one is told how long to wait", async () => {
    for (let at = 0; at < 3; at++) await count("a");
    clock.advance(20_500);
    await assert.rejects(count("a"), limited(40));
    await count("b");
    await count("a", "0190a1b2-0000-7000-8000-000000000002");
  });

  test("rejected attempts don't extend the wait, and the window ends exactly", async () => {
    for (let at = 0; at < 3; at++) await count("c");
    for (let at = 0; at < 10; at++) await assert.rejects(count("c"), limited(60));
    clock.advance(59_999);
    await assert.rejects(count("c"), limited(1));
    clock.advance(1);
    for (let at = 0; at < 3; at++) await count("c");
    await assert.rejects(count("c"), limited(60));
  });

  test("a hundred concurrent attempts all count", async () => {
    const results = await Promise.allSettled(Array.from({ length: 100 }, () => count("e")));
    assert.equal(results.filter(({ status }) => status === "fulfilled").length, 3);
  });

  test("what one limit refuses counts under none", async () => {
    const other = { ...limit, name: "password-address", count: 4 };
    const both = (subject: string) =>
      countAttempt({ database, clock }, ORG, [
        { limit: other, subject: "f" },
        { limit, subject },
      ]);
    for (let at = 0; at < 3; at++) await both("f1");
    for (let at = 0; at < 10; at++) await assert.rejects(both("f1"), limited(60));
    await both("f2");
    await assert.rejects(both("f2"), (error) => error instanceof RateLimited && error.limit === other);
    const rows = await database.query.selectFrom("rate_limit").select(["bucket", "hits"]).execute();
    await assert.rejects(both("f3"), RateLimited);
    assert.equal(
      (await database.query.selectFrom("rate_limit").select("bucket").execute()).length,
      rows.length,
      "a full limit leaves no rows of invented subjects",
    );
  });

  test("a request refused by the second limit in a race takes its count back", async () => {
    const other = { ...limit, name: "password-address", count: 100 };
    const counted = [
      { limit: other, subject: "g" },
      { limit, subject: "g" },
    ];
    await Promise.allSettled(
      Array.from({ length: 50 }, () => countAttempt({ database, clock }, ORG, counted)),
    );
    const rows = await database.query
      .selectFrom("rate_limit")
      .select("hits")
      .where("bucket", "like", "password-address:%")
      .orderBy("window_started_at", "desc")
      .execute();
    assert.ok(rows.every(({ hits }) => hits <= 4));
  });

  test("the table stores no plain subject, and expired windows are deleted", async () => {
    await count("someone@acme.example|192.0.2.1");
    const rows = await database.query.selectFrom("rate_limit").selectAll().execute();
    assert.doesNotMatch(JSON.stringify(rows.map(({ bucket }) => bucket)), /acme|192\.0/);
    clock.advance(61_000);
    await deleteExpired(database.query, "rate_limit", clock(), 1_000);
    assert.deepEqual(await database.query.selectFrom("rate_limit").selectAll().execute(), []);
  });
});
