/** A master key is replaced while servers run on it: nothing that was sealed, signed or given out before is lost. */
import assert from "node:assert/strict";
import { chmod, copyFile, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { readConfig } from "../../config/config.ts";
import { createAction } from "../../core/actions/actions.ts";
import { listAuditEvents } from "../../core/audit/audit.store.ts";
import { createEncryption } from "../../core/encryption/encryption.ts";
import { keyRing } from "../../core/encryption/key-ring.ts";
import { renewAllSealed } from "../../core/encryption/renew-sealed.ts";
import type { SealedColumns } from "../../core/encryption/sealed-columns.ts";
import { openService } from "../../modules/open-service.ts";
import { sealedColumns } from "../../modules/sealed-columns.ts";
import { runForJson, runInProcess } from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { getCode, getTokens, redeem, refresh } from "../../testing/fixtures/client.ts";
import { type SeededRecords, seedRecords } from "../../testing/fixtures/planted-records.ts";
import { dumpWholeDatabase } from "../../testing/probes/dump-database.ts";
import { startTestService, type TestService } from "../../testing/test-service.ts";

const OLD = Buffer.alloc(32, 1).toString("base64url");
const NEW = Buffer.alloc(32, 2).toString("base64url");

interface Rotated {
  readonly sealed: number;
  readonly renewed: number;
  readonly unreadable: number;
  readonly named: readonly string[];
  readonly newKey: boolean;
}

/** Every ciphertext of the database, with its table and column. */
async function ciphertexts({ database }: TestService["service"]): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const line of (await dumpWholeDatabase(database.query)).split("\n")) {
    const [, table, json = "{}"] = /^(\S+) (.*)$/s.exec(line) ?? [];
    for (const [column, value] of Object.entries(JSON.parse(json) as Record<string, unknown>)) {
      if (!/^v1\.[\w-]{38,}$/.test(String(value))) continue;
      const name = `${table}.${column}`;
      found.set(name, [...(found.get(name) ?? []), String(value)]);
    }
  }
  return found;
}

describe("signet master-key rotate", () => {
  forEachDatabase(({ name, fresh }) => {
    let databaseUrl: string;
    let running: TestService;
    let seeded: SeededRecords;
    const env = (current: string, ...previous: string[]) => ({
      DATABASE_URL: databaseUrl,
      SIGNET_DATA_DIR: running.service.config.dataDir,
      SIGNET_MASTER_KEY: current,
      SIGNET_MASTER_KEY_PREVIOUS: previous.join(","),
    });
    const start = (masterKey: string, previous = "") =>
      startTestService({ databaseUrl, masterKey, env: { SIGNET_MASTER_KEY_PREVIOUS: previous } });
    const rotated = (settings: Record<string, string>) =>
      runForJson<Rotated>(["master-key", "rotate"], settings);

    before(async () => {
      databaseUrl = await fresh();
      // As on every node before the keys change places: the new one is known already.
      running = await start(OLD, NEW);
      seeded = await seedRecords(running.service, "Acme");
      const { organisation, user } = seeded;
      await getTokens(seeded);
      const link = {
        orgId: organisation.id,
        userId: user.id,
        type: "VerifyEmail",
        data: { email: user.email },
      } as const;
      await createAction(running.service.database.query, running.service, link);
    });
    after(() => running.close());

    test("every sealed column is declared, and something of each is sealed in this test", async () => {
      const declared = sealedColumns(running.service).flatMap(({ columns }) =>
        columns.map(({ table, column }) => `${table}.${column}`),
      );
      const found = [...(await ciphertexts(running.service)).keys()];
      assert.deepEqual(
        found.filter((one) => !declared.includes(one)),
        [],
      );
      assert.ok(found.length >= 6, `too little is sealed here: ${found}`);
    });

    test("refuses nothing and changes nothing where all is under the key in use", async () => {
      const before = await ciphertexts(running.service);
      const counts = await rotated(env(OLD));
      assert.deepEqual([counts.renewed, counts.unreadable, counts.newKey], [0, 0, false]);
      assert.equal(counts.sealed, [...before.values()].flat().length);
      assert.deepEqual(await ciphertexts(running.service), before);
      const { out } = await runInProcess(["master-key", "rotate"], env(OLD));
      assert.match(out, /^To replace the key: let SIGNET_MASTER_KEY be a new one/m);
    });

    test("names what no known key opens, changes none of it, and fails", async () => {
      const before = await ciphertexts(running.service);
      const stranger = Buffer.alloc(32, 3).toString("base64url");
      // The service itself refuses to open with it; the key that signs nothing yet is the only stranger.
      const refused = await runInProcess(["master-key", "rotate"], env(stranger));
      assert.equal(refused.code, 1);
      assert.match(refused.err, /master key/);
      assert.deepEqual(await ciphertexts(running.service), before);
    });

    test("says what a server still seals under an older key, and ends", async () => {
      const before = await ciphertexts(running.service);
      // As such a server does: whatever is sealed anew is under the old key a moment later.
      const [{ encryption, columns }, ...others] = sealedColumns(running.service) as [
        SealedColumns,
        ...SealedColumns[],
      ];
      const stale = {
        ...encryption,
        renew: (sealed: string, row: string) => encryption.seal(encryption.open(sealed, row), row),
      };
      const counts = await renewAllSealed(
        running.service,
        [{ encryption: stale, columns }, ...others],
        "stale",
      );
      assert.equal(counts.left, counts.renewed / 5);
      assert.ok(counts.left > 0);
      assert.notDeepEqual(await ciphertexts(running.service), before);
      const events = await listAuditEvents(running.service.database.query, seeded.organisation.id, 200);
      assert.equal(events.filter(({ actor }) => actor === "stale").length, 1, "told once");
    });

    test("seals everything anew, while the service goes on", async () => {
      const before = await ciphertexts(running.service);
      const { refreshToken } = await getTokens(seeded);
      const unused = await getCode(seeded);
      assert.match(
        (await runInProcess(["doctor"], env(NEW, OLD))).out,
        /^warn .* values are sealed under them$/m,
      );
      const counts = await rotated(env(NEW, OLD));
      assert.deepEqual([counts.renewed, counts.unreadable], [counts.sealed, 0]);
      assert.deepEqual([(await rotated(env(NEW, OLD))).renewed], [0], "repeated");
      const events = await listAuditEvents(running.service.database.query, seeded.organisation.id, 200);
      const told = events.filter(({ action, actor }) => action === "master-key.rotated" && actor !== "stale");
      assert.deepEqual(
        told.map(({ actor, target }) => [actor, target]),
        [["operator", seeded.organisation.id]],
        "once",
      );

      const afterwards = await ciphertexts(running.service);
      assert.deepEqual([...afterwards.keys()].sort(), [...before.keys()].sort());
      assert.match((await runInProcess(["doctor"], env(NEW, OLD))).out, /nothing is sealed under them/);
      const old = new Set([...before.values()].flat());
      for (const [column, values] of afterwards)
        for (const value of values) assert.ok(!old.has(value), `${column} is as it was`);

      assert.equal((await redeem(seeded, unused)).status, 200);
      assert.equal((await refresh(seeded, refreshToken)).status, 200);
      assert.equal((await runInProcess(["audit", "verify"], env(NEW))).code, 0);
    });

    test("refresh tokens of before are good under both keys, and lead to one successor on every server", async () => {
      const { refreshToken } = await getTokens(seeded);
      const ahead = await start(NEW, OLD);
      try {
        const elsewhere = { ...seeded, issuer: seeded.issuer.replace(running.baseUrl, ahead.baseUrl) };
        const first = await refresh(elsewhere, refreshToken);
        assert.equal(first.status, 200);
        // The answer was lost, and the other server is asked: it derives under the old key.
        const again = await refresh(seeded, refreshToken);
        assert.equal(again.body["refresh_token"], first.body["refresh_token"]);
        const next = await refresh(seeded, String(first.body["refresh_token"]));
        assert.equal(next.status, 200);
        assert.equal((await refresh(elsewhere, String(next.body["refresh_token"]))).status, 200);
      } finally {
        await ahead.close();
      }
    });

    test("a server that knows only the new key reads everything", async () => {
      await rotated(env(NEW, OLD));
      const config = readConfig(env(NEW));
      const service = await openService(config, { onError: assert.fail });
      try {
        for (const { encryption, columns } of sealedColumns(service))
          assert.ok(encryption && columns.length > 0);
        const id = seeded.organisation.id;
        assert.ok((await service.keys.published(id)).length > 0);
      } finally {
        await service.close();
      }
      assert.equal((await runInProcess(["doctor"], env(NEW))).out.match(/^fail/m), null);
      await rotated(env(OLD, NEW));
    });

    test("values that no known key opens are named", async () => {
      const { database } = running.service;
      const foreign = createEncryption(keyRing(Buffer.alloc(32, 9))).seal(Buffer.from("x"), "another row");
      await database.query
        .insertInto("user_action")
        .values({
          ...(await anyAction(running.service)),
          id_hash: "lost",
          type: "ResetPassword",
          data: foreign,
        })
        .execute();
      const { code, out } = await runInProcess(["master-key", "rotate", "--json"], env(OLD, NEW));
      const counts = JSON.parse(out) as Rotated;
      assert.deepEqual([code, counts.unreadable], [1, 1]);
      assert.deepEqual(counts.named, [`user_action.data (${seeded.organisation.id}, lost)`]);
      await database.query.deleteFrom("user_action").where("id_hash", "=", "lost").execute();
    });

    describe("with the key in a file", () => {
      let folder: string;
      const fileEnv = () => ({ DATABASE_URL: databaseUrl, SIGNET_DATA_DIR: folder });
      before(async () => {
        folder = await mkdtemp(join(tmpdir(), "signet-master-key-"));
        await writeFile(join(folder, "master.key"), `${OLD}\n`, { mode: 0o600 });
      });
      after(() => rm(folder, { recursive: true, force: true }));

      test("makes a new one, which a server that runs takes over by itself", async () => {
        const service = await openService(readConfig(fileEnv()), { onError: assert.fail });
        try {
          const more = name === "postgres" ? ["--only-server"] : [];
          if (name === "postgres") {
            const refused = await runInProcess(["master-key", "rotate"], fileEnv());
            assert.equal(refused.code, 1);
            assert.match(refused.err, /other servers may use this database/);
            assert.deepEqual(await readdir(folder), ["master.key"]);
          }
          const counts = await runForJson<Rotated>(["master-key", "rotate", ...more], fileEnv());
          assert.deepEqual([counts.newKey, counts.renewed, counts.unreadable], [true, counts.sealed, 0]);
          assert.ok((await service.keys.published(seeded.organisation.id)).length > 0);
          const sealed = service.encryption.seal(Buffer.from("x"), "row");
          const [inUse] = service.masterKeys.all();
          assert.equal(createEncryption(keyRing(inUse)).open(sealed, "row").toString(), "x");
          assert.notEqual(inUse.toString("base64url"), OLD);
        } finally {
          await service.close();
        }
      });

      test("an interrupted rotation is finished before another begins", async () => {
        // As a server wrote it that had not looked at the files yet.
        const action = await anyAction(running.service);
        const row = `user-action|${action.org_id}|${action.id_hash}`;
        const late = createEncryption(keyRing(Buffer.from(OLD, "base64url"))).seal(Buffer.from("{}"), row);
        const { query } = running.service.database;
        await query
          .updateTable("user_action")
          .set({ data: late })
          .where("id_hash", "=", action.id_hash)
          .execute();
        const counts = await runForJson<Rotated>(["master-key", "rotate"], fileEnv());
        assert.deepEqual([counts.newKey, counts.renewed], [false, 1]);
      });

      test("a folder without the key of some values makes none", async () => {
        const lost = await mkdtemp(join(tmpdir(), "signet-lost-key-"));
        try {
          await copyFile(join(folder, "master.key"), join(lost, "master.key"));
          await chmod(join(lost, "master.key"), 0o600);
          const action = await anyAction(running.service);
          const { query } = running.service.database;
          const row = `user-action|${action.org_id}|${action.id_hash}`;
          const late = createEncryption(keyRing(Buffer.from(OLD, "base64url"))).seal(Buffer.from("{}"), row);
          await query
            .updateTable("user_action")
            .set({ data: late })
            .where("id_hash", "=", action.id_hash)
            .execute();
          const env = { DATABASE_URL: databaseUrl, SIGNET_DATA_DIR: lost };
          const { code, err } = await runInProcess(["master-key", "rotate"], env);
          assert.equal(code, 1);
          assert.match(err, /no known master key opens 1 of \d+ values \(user_action\.data/);
          assert.deepEqual(await readdir(lost), ["master.key"]);
        } finally {
          await rm(lost, { recursive: true, force: true });
        }
      });
    });
  });
});

const anyAction = ({ database }: TestService["service"]) =>
  database.query.selectFrom("user_action").selectAll().limit(1).executeTakeFirstOrThrow();
