/** Bad input of an operator: a sentence that names the variable or the file, an exit code, and nothing that was written. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { type Environment, runProgram } from "../../testing/command-line.ts";
import { postgresServer } from "../../testing/databases.ts";
import { selfSigned } from "../../testing/fixtures/self-signed.ts";
import { freePort } from "../../testing/free-port.ts";
import { createDatabase, dropDatabase } from "../../testing/postgres.ts";
import { startSignet } from "../../testing/started-program.ts";

const SECRET = "hunter2-hunter2";

describe("bad input of an operator", () => {
  let folder: string;
  let port: number;
  let deadPort: number;
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-bad-"));
    port = await freePort();
    deadPort = await freePort();
    for (const name of ["one", "other"]) {
      const { key, cert } = selfSigned();
      await writeFile(at(`${name}.key`), key);
      await writeFile(at(`${name}.pem`), cert);
    }
    await writeFile(path.join(folder, "empty"), "");
    await writeFile(path.join(folder, "text"), "no certificate");
    await mkdir(path.join(folder, "taken"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const at = (name: string) => path.join(folder, name);
  const mtls = (cert: string, key: string): Environment => ({
    SIGNET_MTLS_PORT: String(deadPort),
    SIGNET_MTLS_CERT_FILE: at(cert),
    SIGNET_MTLS_KEY_FILE: at(key),
  });

  const inputs: ReadonlyArray<readonly [string, () => Environment, readonly RegExp[]]> = [
    [
      "a misspelt variable",
      () => ({ SIGNET_MASTER_KYE: SECRET }),
      [/SIGNET_MASTER_KYE.*did you mean SIGNET_MASTER_KEY\?/],
    ],
    [
      "a secret file that is not there",
      () => ({ SIGNET_MASTER_KEY_FILE: at("none") }),
      [/SIGNET_MASTER_KEY_FILE: \S+none does not exist/],
    ],
    ["an empty secret file", () => ({ SMTP_URL_FILE: at("empty") }), [/SMTP_URL_FILE: \S+empty is empty/]],
    [
      "a folder for a secret file",
      () => ({ SIGNET_DATABASE_REPLICA_URL_FILE: folder }),
      [/SIGNET_DATABASE_REPLICA_URL_FILE: \S+ is not a file/],
    ],
    [
      "a certificate that does not match",
      () => mtls("one.pem", "other.key"),
      [/SIGNET_MTLS_KEY_FILE: \S+other\.key is not the key of the certificate in \S+one\.pem: set/],
    ],
    [
      "a certificate that is none",
      () => mtls("text", "one.key"),
      [/SIGNET_MTLS_CERT_FILE: \S+text is no certificate/],
    ],
    [
      "a key that is none",
      () => mtls("one.pem", "text"),
      [/SIGNET_MTLS_KEY_FILE: \S+text is no private key/],
    ],
    [
      "a certificate that is not there",
      () => mtls("none.pem", "one.key"),
      [/SIGNET_MTLS_CERT_FILE: \S+none\.pem does not exist/],
    ],
    [
      "a host list of dead hosts",
      () => ({ DATABASE_URL: `postgres://u:${SECRET}@127.0.0.1:${deadPort},127.0.0.1:${deadPort}/x` }),
      [/can't use the database 127\.0\.0\.1:\d+,127\.0\.0\.1:\d+\/x \(DATABASE_URL\): .*ECONNREFUSED/],
    ],
    [
      "a host list with a gap",
      () => ({ DATABASE_URL: `postgres://u:${SECRET}@127.0.0.1:${deadPort},/x` }),
      [/DATABASE_URL has a comma without a host beside it/],
    ],
    [
      "a replica without PostgreSQL",
      () => ({ SIGNET_DATABASE_REPLICA_URL: `postgres://u:${SECRET}@127.0.0.1/x` }),
      [/SIGNET_DATABASE_REPLICA_URL goes with a DATABASE_URL of PostgreSQL/],
    ],
    [
      "several faults",
      () => ({ PORT: "0", SIGNET_WORKERS: "2", LOG_FORMAT: "xml" }),
      [/PORT must be/, /SIGNET_WORKERS above 1 needs PostgreSQL/, /LOG_FORMAT must be/],
    ],
  ];

  for (const [name, input, words] of inputs)
    test(`${name} is a sentence, and nothing is written`, async () => {
      const dataDir = at(`data-${name}`);
      const timed = async (args: readonly string[], env: Environment) => {
        const began = performance.now();
        return { ...(await runProgram(args, env)), milliseconds: performance.now() - began };
      };
      // Beside one that does nothing, on this machine at this time.
      const [help, { code, err, out, milliseconds }] = await Promise.all([
        timed(["--version"], {}),
        timed(["start"], { PORT: String(port), SIGNET_DATA_DIR: dataDir, ...input() }),
      ]);
      const usualMs = help.milliseconds;
      assert.equal(help.code, 0);
      assert.equal(code, 1, err);
      for (const one of words) assert.match(err, one);
      assert.ok(!`${err}${out}`.includes(SECRET), "no secret");
      assert.doesNotMatch(err, /\n\s+at /, "no stack");
      assert.ok(milliseconds < 2_000 + 3 * usualMs, `${milliseconds} ms, usually ${usualMs} ms`);
      assert.equal(existsSync(dataDir), false, "nothing is written");
    });

  test("one dead host of a list keeps nothing from working", async () => {
    const url = new URL(await createDatabase(await postgresServer()));
    const user = url.username;
    const list = `postgres://${user}@127.0.0.1:${deadPort},${url.host}${url.pathname}${url.search}`;
    const server = await startSignet([], { SIGNET_DATA_DIR: at("data-list"), DATABASE_URL: list });
    assert.equal((await fetch(`${server.baseUrl}/readyz?require=database`)).status, 200);
    assert.equal((await server.stop()).code, 0);
    await dropDatabase(await postgresServer(), url.href);
  });
});
