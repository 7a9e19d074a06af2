import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { deleteExpired } from "../../db/delete-expired.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { codeSource, redeemWith } from "../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { credentials, postForm, refresh } from "../../testing/fixtures/client.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { MAX_TOKEN_LIFETIME_MS } from "../signing-keys/signing-key.ts";
import { takeLease } from "./housekeeping.store.ts";
import { removeExpired, runRound, startHousekeeping } from "./housekeeping.ts";

const MINUTE = 60_000;
const deviceCa = { rotateDue: async () => 0 };
const DAY = 86_400_000;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const tables = [
    "authorization_code",
    "token_family",
    "revoked_access_token",
    "browser_session",
    "rate_limit",
    "signing_key",
  ];
  const counts = async () => {
    const found: Record<string, number> = {};
    for (const table of tables) {
      const { rows } = await sql<{
        count: number;
      }>`select count(*) as count from ${sql.table(table)}`.execute(running.service.database.query);
      found[table] = Number(rows[0]?.count);
    }
    return found;
  };
  /** The same row many times under other names. */
  const multiply = async (table: string, key: string, times: number) => {
    const { query } = running.service.database;
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(table)} limit 1`.execute(
      query,
    );
    const columns = Object.keys(rows[0] ?? {});
    const names = sql.join(columns.map((column) => sql.ref(column)));
    for (let copy = 0; copy < times; copy += 50) {
      const copies = Array.from({ length: Math.min(50, times - copy) }, (_, index) => {
        const changed = { ...rows[0], [key]: `copy ${table} ${copy + index}` } as Record<string, unknown>;
        if (table === "browser_session") changed["token_hash"] = changed[key];
        return sql`(${sql.join(columns.map((column) => changed[column]))})`;
      });
      await sql`insert into ${sql.table(table)} (${names}) values ${sql.join(copies)}`.execute(query);
    }
  };

  test("deletes expired rows of every table in time, and never valid ones", async () => {
    const { service } = running;
    const source = codeSource(org);
    const { accessToken, refreshToken } = await source.tokens({ scope: "openid offline_access" });
    const unused = await source.code();
    const used = await source.code();
    const first = await redeemWith(org, used);
    const form = { grant_type: "client_credentials", ...credentials(org.batch) };
    const { body } = await postForm(`${org.issuer}/token`, form);
    const token = String(body["access_token"]);
    await postForm(`${org.issuer}/revoke`, { token, ...credentials(org.batch) });
    await service.keys.rotate(org.organisation.id, "RS256", { actor: "test", compromised: true });
    const rateLimits = sql`insert into rate_limit (org_id, bucket, window_started_at, hits, expires_at)
      values (${org.organisation.id}, 'x', ${clock()}, 1, ${clock() + MINUTE})`;
    await rateLimits.execute(service.database.query);
    const before = await counts();
    assert.equal(await removeExpired(service), 0);
    assert.deepEqual(await counts(), before);

    clock.advance(11 * MINUTE);
    await removeExpired(service);
    assert.equal(
      (await counts())["authorization_code"],
      before["authorization_code"],
      "kept to know a replay",
    );
    assert.equal((await counts())["rate_limit"], (before["rate_limit"] ?? 0) - 1);
    assert.equal((await redeemWith(org, used)).status, 400);
    const replayed = await refresh(org, String(first.body["refresh_token"]));
    assert.equal(replayed.status, 400, "the replay was still known and ended the family");
    assert.equal((await redeemWith(org, unused)).status, 400);
    assert.equal((await refresh(org, refreshToken)).status, 200);
    const introspection = { token: accessToken, ...credentials(org.web) };
    assert.equal((await postForm(`${org.issuer}/introspect`, introspection)).body["active"], true);

    clock.advance(2 * DAY);
    await removeExpired(service);
    const later = await counts();
    assert.equal(later["authorization_code"], 0);
    assert.equal(later["browser_session"], 0);
    assert.equal(later["revoked_access_token"], 0);
    assert.equal(later["token_family"], before["token_family"], "thirty days");
    assert.equal(later["signing_key"], before["signing_key"]);

    clock.advance(28 * DAY + MAX_TOKEN_LIFETIME_MS);
    await removeExpired(service);
    assert.equal((await counts())["token_family"], 0);
    clock.advance(DAY);
    await removeExpired(service);
    assert.equal((await counts())["signing_key"], (before["signing_key"] ?? 0) - 1);
  });

  test("deletes in batches until nothing is left", async () => {
    const { service } = running;
    const { query } = service.database;
    const source = codeSource(org);
    await source.tokens();
    const { accessToken } = await source.tokens();
    await postForm(`${org.issuer}/revoke`, { token: accessToken, ...credentials(org.web) });
    await service.keys.rotate(org.organisation.id, "ES256", { actor: "test", compromised: true });
    await sql`insert into rate_limit (org_id, bucket, window_started_at, hits, expires_at)
      values (${org.organisation.id}, 'x', 0, 1, ${clock()})`.execute(query);
    const kinds = [
      ["authorization_code", "code_hash"],
      ["token_family", "id"],
      ["browser_session", "id"],
      ["rate_limit", "bucket"],
      ["revoked_access_token", "jti"],
    ] as const;
    const FAR = clock() + 400 * DAY;
    for (const [table, key] of kinds) {
      await multiply(table, key, 450);
      const before = (await counts())[table] ?? 0;
      assert.equal(await deleteExpired(query, table, FAR, 7), 7, table);
      assert.equal((await counts())[table], before - 7, table);
    }
    const retired = await sql`update signing_key set retire_at = 5 where retire_at is not null`.execute(
      query,
    );
    assert.ok((retired.numAffectedRows ?? 0n) > 0n);
    assert.equal(await deleteExpired(query, "signing_key", 5, 10), 0);
    assert.equal(await deleteExpired(query, "signing_key", 6, 10), Number(retired.numAffectedRows));
    clock.advance(400 * DAY);
    await removeExpired(service);
    const left = await counts();
    for (const [table] of kinds) assert.equal(left[table], 0, table);
  });

  test("one node holds the lease, renews it, and loses it when it stops", async () => {
    const { query } = running.service.database;
    const take = (holder: string, now: number, until: number) =>
      takeLease(query, { name: "x", holder, now, until });
    const rivals = await Promise.all(Array.from({ length: 10 }, (_, index) => take(`node ${index}`, 0, 100)));
    assert.equal(rivals.filter(Boolean).length, 1);
    const winner = `node ${rivals.indexOf(true)}`;
    assert.equal(await take("another", 99, 200), false);
    assert.equal(await take(winner, 99, 200), true, "renewed");
    assert.equal(await take("another", 199, 300), false);
    assert.equal(await take("another", 200, 300), true, "taken over");
    assert.equal(await take(winner, 250, 350), false);
  });

  test("a lease written by a clock far ahead doesn't block others", async () => {
    const { query } = running.service.database;
    const [name, hour] = ["y", 60 * MINUTE];
    const take = (holder: string, now: number) =>
      takeLease(query, { name, holder, now, until: now + 5 * MINUTE });
    assert.equal(await take("ahead", 1_000 * hour), true);
    assert.equal(await take("right", 0), true);
    assert.equal(await take("a little behind", -MINUTE), false);
  });

  test("runs a round on one node only", async () => {
    let rotated = 0;
    const keys = { rotateDue: async () => ++rotated };
    const { database } = running.service;
    const deps = { database, clock, keys, deviceCa };
    clock.advance(DAY);
    assert.deepEqual(
      [await runRound(deps, "a"), await runRound(deps, "b"), await runRound(deps, "a")],
      [true, false, true],
    );
    assert.equal(rotated, 2);
    clock.advance(5 * MINUTE);
    assert.equal(await runRound(deps, "b"), true);
  });

  test("a failing table doesn't stop the others or key rotation, and is reported", async () => {
    const { database } = running.service;
    await sql`insert into rate_limit (org_id, bucket, window_started_at, hits, expires_at)
      values (${org.organisation.id}, 'y', 0, 1, ${clock() - 1})`.execute(database.query);
    await sql`alter table authorization_code rename to somewhere_else`.execute(database.query);
    try {
      let rotated = 0;
      const keys = { rotateDue: async () => ++rotated };
      clock.advance(DAY);
      await assert.rejects(runRound({ database, clock, keys, deviceCa }, "c"), /authorization_code/);
      assert.equal((await sql`select 1 from rate_limit`.execute(database.query)).rows.length, 0);
      assert.equal(rotated, 1);
    } finally {
      await sql`alter table somewhere_else rename to authorization_code`.execute(database.query);
    }
  });

  test("reports a failing round, and stopping waits for the current one", async (t) => {
    t.mock.timers.enable({ apis: ["setInterval"] });
    const errors: unknown[] = [];
    const { database } = running.service;
    let rounds = 0;
    const keys = {
      rotateDue: async () => {
        rounds++;
        throw new Error(`round ${rounds}`);
      },
    };
    clock.advance(DAY);
    const stop = startHousekeeping({
      database,
      clock,
      keys,
      deviceCa,
      onError: (error) => errors.push(String(error)),
    });
    t.mock.timers.tick(MINUTE);
    t.mock.timers.tick(MINUTE);
    await stop();
    assert.deepEqual(errors, ["Error: round 1", "Error: round 2"]);
    t.mock.timers.tick(10 * MINUTE);
    assert.equal(rounds, 2);
  });
});
