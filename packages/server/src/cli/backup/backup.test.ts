/** A backup holds everything of one moment, goes back into either database, and a bad one changes nothing. */
import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { readConfig } from "../../config/config.ts";
import { backedUpTables, hasRows, notBackedUp } from "../../core/backup/backup.store.ts";
import { checkBackup, insertBackup } from "../../core/backup/read-backup.ts";
import { migrate } from "../../db/migrate.ts";
import { openDatabase } from "../../db/open.ts";
import { openService } from "../../modules/open-service.ts";
import { runForJson, runInProcess } from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { getTokens, refresh } from "../../testing/fixtures/client.ts";
import { type SeededRecords, seedRecords } from "../../testing/fixtures/planted-records.ts";
import { dumpWholeDatabase } from "../../testing/probes/dump-database.ts";
import { startTestService, TEST_MASTER_KEY, type TestService } from "../../testing/test-service.ts";

interface BackedUp {
  readonly rows: number;
  readonly organisations: number;
  readonly encrypted: boolean;
}

/** Everything but what is no part of a backup, and what a start writes. */
const compared = async (service: TestService["service"]): Promise<string[]> =>
  (await dumpWholeDatabase(service.database.query))
    .split("\n")
    .filter((line) => !notBackedUp.includes(line.split(" ")[0] ?? ""))
    .map(withSortedMembers)
    .sort();

/** PostgreSQL and SQLite give the columns of a table in the order in which it got them. */
function withSortedMembers(line: string): string {
  const at = line.indexOf(" ");
  const row = JSON.parse(line.slice(at)) as Record<string, unknown>;
  return `${line.slice(0, at)} ${JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)))}`;
}

describe("signet backup and restore", () => {
  forEachDatabase(({ name, fresh, empty }) => {
    let databaseUrl: string;
    let running: TestService;
    let seeded: SeededRecords;
    let folder: string;
    let file: string;
    let original: string[];
    let refreshToken: string;
    const env = () => ({
      DATABASE_URL: databaseUrl,
      SIGNET_DATA_DIR: folder,
      SIGNET_MASTER_KEY: TEST_MASTER_KEY,
    });
    const emptyFolder = () => mkdtemp(join(folder, "restored-"));
    const restore = (settings: Record<string, string>, ...args: string[]) =>
      runInProcess(["restore", ...args], settings);

    before(async () => {
      databaseUrl = await fresh();
      folder = await mkdtemp(join(tmpdir(), "signet-backup-"));
      running = await startTestService({ databaseUrl });
      seeded = await seedRecords(running.service, "Acme");
      ({ refreshToken } = await getTokens(seeded));
      file = join(folder, "signet.backup");
      original = await compared(running.service);
    });
    after(async () => {
      await running.close();
      await rm(folder, { recursive: true, force: true });
    });

    test("every table is in it, or left out for a reason", async () => {
      const tables = new Set((await dumpTables(running)).filter((one) => !notBackedUp.includes(one)));
      assert.deepEqual([...tables].sort(), backedUpTables.map(({ name: table }) => table).sort());
    });

    test("writes a new file for its owner only, and never replaces one", async () => {
      const written = await runForJson<BackedUp>(["backup", "--out", file], env());
      assert.equal(written.rows, original.length);
      assert.ok(written.organisations >= 1);
      assert.equal((await stat(file)).mode & 0o777, 0o600);
      const content = await readFile(file);
      const again = await runInProcess(["backup", "--out", file], env());
      assert.equal(again.code, 1);
      assert.match(again.err, /is there already: a backup never replaces a file/);
      assert.deepEqual(await readFile(file), content);
      const text = gunzipSync(content).toString();
      assert.ok(text.includes(seeded.user.email));
      assert.ok(!text.includes(TEST_MASTER_KEY));
    });

    for (const target of name === "postgres" ? (["sqlite", "postgres"] as const) : (["sqlite"] as const))
      test(`goes into an empty ${target}, as it was`, async () => {
        const dataDir = await emptyFolder();
        const url = await emptyUrl(empty, dataDir, target);
        const settings = { DATABASE_URL: url, SIGNET_DATA_DIR: dataDir, SIGNET_MASTER_KEY: TEST_MASTER_KEY };
        const { code, err, out } = await restore(settings, "--file", file);
        assert.equal(code, 0, err);
        assert.match(out, /^Restored \d+ rows/);
        const service = await openService(readConfig(settings), { onError: assert.fail });
        try {
          assert.deepEqual(await compared(service as TestService["service"]), original);
        } finally {
          await service.close();
        }
        const twice = await restore(settings, "--file", file);
        assert.equal(twice.code, 1);
        assert.match(twice.err, target === "sqlite" ? /there is a database at/ : /is not empty/);
        const restored = await startTestService({ databaseUrl: url });
        try {
          const there = { ...seeded, issuer: seeded.issuer.replace(running.baseUrl, restored.baseUrl) };
          assert.equal((await refresh(there, refreshToken)).status, 200);
        } finally {
          await restored.close();
        }
        if (target === name) return;
        // And back: from a file to a server, as an installation that grows.
        const back = join(dataDir, "back.backup");
        await runForJson(["backup", "--out", back], settings);
        const grown = { ...settings, DATABASE_URL: await empty(), SIGNET_DATA_DIR: await emptyFolder() };
        assert.equal((await restore(grown, "--file", back)).code, 0);
      });

    test("an encrypted one shows nothing, and needs its identity", async () => {
      const identity = await generateIdentity();
      const recipient = await identityToRecipient(identity);
      const secret = join(folder, "secret.age");
      const written = await runForJson<BackedUp>(
        ["backup", "--out", secret, "--recipient", recipient],
        env(),
      );
      assert.equal(written.encrypted, true);
      const content = await readFile(secret);
      assert.ok(content.subarray(0, 21).toString() === "age-encryption.org/v1");
      assert.ok(!content.includes(seeded.user.email));

      const dataDir = await emptyFolder();
      const settings = {
        DATABASE_URL: await emptyUrl(empty, dataDir, name as "sqlite"),
        SIGNET_DATA_DIR: dataDir,
        SIGNET_MASTER_KEY: TEST_MASTER_KEY,
      };
      const key = join(folder, "identity.txt");
      const wrong = join(folder, "wrong.txt");
      await writeFile(key, `# made for a test\n${identity}\n`, { mode: 0o600 });
      await writeFile(wrong, `${await generateIdentity()}\n`, { mode: 0o600 });
      const refusals: [RegExp, string[]][] = [
        [/is encrypted: name the file of its age identity/, []],
        [/none of the age identities decrypts/, ["--identity", wrong]],
        [/--identity .*ENOENT/, ["--identity", join(folder, "nowhere")]],
      ];
      for (const [why, args] of refusals) {
        const { code, err } = await restore(settings, "--file", secret, ...args);
        assert.deepEqual([code, why.test(err)], [1, true], err);
        assert.deepEqual(await readdir(dataDir), []);
      }
      assert.equal((await restore(settings, "--file", secret, "--identity", key)).code, 0);
    });

    test("refuses a recipient that is none before it writes", async () => {
      const out = join(folder, "nobody.age");
      const { code, err } = await runInProcess(
        ["backup", "--out", out, "--recipient", "age1nonsense"],
        env(),
      );
      assert.deepEqual([code, /--recipient is no age public key/.test(err)], [2, true], err);
      await assert.rejects(stat(out), { code: "ENOENT" });
    });

    test("a bad backup, another key or no key at all changes nothing", async () => {
      const text = gunzipSync(await readFile(file)).toString();
      const lines = text.trimEnd().split("\n");
      const bad = async (which: string, content: Buffer | string) => {
        const path = join(folder, which);
        await writeFile(path, typeof content === "string" ? gzipSync(content) : content);
        return path;
      };
      const header = JSON.parse(lines[0] ?? "") as Record<string, unknown>;
      const newer = {
        ...header,
        schema: [...(header["schema"] as string[]), "9999-later"],
        version: "9.9.9",
      };
      const [first = "", ...rest] = lines;
      const cases: [RegExp, string, Record<string, string>?][] = [
        [/was cut off/, await bad("short", `${lines.slice(0, -1).join("\n")}\n`)],
        [/was cut off/, await bad("shorter", lines.slice(0, 3).join("\n").slice(0, -5))],
        [/damaged or cut off/, await bad("half", (await readFile(file)).subarray(0, 900))],
        [/was changed since/, await bad("changed", text.replaceAll(seeded.user.email, "eve@evil.example"))],
        [/was cut off/, await bad("less", [first, ...rest.slice(1)].join("\n"))],
        [
          /newer version of Signet: install version 9\.9\.9/,
          await bad("newer", [JSON.stringify(newer), ...rest].join("\n")),
        ],
        [/no backup of Signet/, await bad("other", "hello\n")],
        [/no backup of Signet/, await bad("plain", Buffer.from("hello, this is a text\n"))],
        [/no backup of Signet/, await bad("nothing", Buffer.alloc(0))],
        [/is not there/, join(folder, "nowhere")],
        [/another master key/, file, { SIGNET_MASTER_KEY: Buffer.alloc(32, 9).toString("hex") }],
        [/there is no master key/, file, { SIGNET_MASTER_KEY: "" }],
      ];
      for (const [why, path, more] of cases) {
        const dataDir = await emptyFolder();
        const url = await emptyUrl(empty, dataDir, name as "sqlite");
        const settings = {
          DATABASE_URL: url,
          SIGNET_DATA_DIR: dataDir,
          SIGNET_MASTER_KEY: TEST_MASTER_KEY,
          ...more,
        };
        const { code, err } = await restore(settings, "--file", path);
        assert.deepEqual([code, why.test(err)], [1, true], `${path}: ${err}`);
        assert.deepEqual(await readdir(dataDir), [], path);
      }
    });

    test("a file that is changed or replaced between its two readings changes nothing", async () => {
      const { masterKeys, encryption } = running.service;
      const text = gunzipSync(await readFile(file))
        .toString()
        .trimEnd();
      const read = async function* (changed: string) {
        yield* changed.split("\n");
      };
      const header = await checkBackup(read(text), { encryption, masterKeys });
      const dataDir = await emptyFolder();
      const database = openDatabase(await emptyUrl(empty, dataDir, name as "sqlite"));
      try {
        await migrate(database, "1.0.0");
        const insert = (changed: string, known = header) =>
          database.transaction((tx) => insertBackup(tx, read(changed), { header: known, masterKeys }));
        await assert.rejects(
          insert(text.replaceAll(seeded.user.email, "eve@evil.example")),
          /was changed since/,
        );
        await assert.rejects(insert(text.split("\n").slice(0, -1).join("\n")), /was cut off/);
        await assert.rejects(insert(text, { ...header, key: "another" }), /was replaced by another backup/);
        assert.equal(await hasRows(database.query), false);
        assert.equal(await insert(text), original.length);
      } finally {
        await database.close();
      }
    });

    test("reads one moment while others write", async () => {
      const out = join(folder, "busy.backup");
      const { database } = running.service;
      let isDone = false;
      const writing = (async () => {
        for (let count = 0; !isDone; count++)
          await database.query.updateTable("user_account").set({ updated_at: count }).execute();
      })();
      await runForJson(["backup", "--out", out], env());
      isDone = true;
      await writing;
      const rows = gunzipSync(await readFile(out))
        .toString()
        .trimEnd()
        .split("\n")
        .slice(1, -1);
      const times = rows
        .map((line) => JSON.parse(line) as [string, Record<string, unknown>])
        .filter(([table]) => table === "user_account")
        .map(([, row]) => row["updated_at"]);
      assert.ok(times.length > 1);
      assert.equal(new Set(times).size, 1, "one statement wrote them all");
    });
  });
});

test("SQLite's log of a database that is gone is not written over the restored one", async () => {
  const folder = await mkdtemp(join(tmpdir(), "signet-restore-"));
  try {
    for (const left of ["signet.db-wal", "signet.db-journal"]) {
      const settings = {
        SIGNET_DATA_DIR: await mkdtemp(join(folder, "left-")),
        SIGNET_MASTER_KEY: TEST_MASTER_KEY,
      };
      const path = join(settings.SIGNET_DATA_DIR, left);
      await writeFile(path, "of another database");
      await writeFile(join(folder, "any.backup"), "");
      const { code, err } = await runInProcess(["restore", "--file", join(folder, "any.backup")], settings);
      assert.equal(code, 1);
      assert.ok(err.includes(`there is what a database left at ${path}`), err);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

const dumpTables = async ({ service: { database } }: TestService): Promise<string[]> =>
  (await database.query.introspection.getTables({ withInternalKyselyTables: true })).map(({ name }) => name);

/** An empty database of the kind; SQLite's is a file that isn't there. */
async function emptyUrl(
  empty: () => Promise<string>,
  dataDir: string,
  kind: "sqlite" | "postgres",
): Promise<string> {
  return kind === "sqlite" ? `sqlite:${join(dataDir, "signet.db")}` : await empty();
}
