/** TLS to PostgreSQL, by the names and with the meaning of libpq, and what an operator is told when a certificate does not match. */
import assert from "node:assert/strict";
import { chown, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { sql } from "kysely";
import pg from "pg";
import { databaseTlsCheck } from "../cli/doctor/check-database.ts";
import { runInProcess } from "../testing/command-line.ts";
import { postgresServer } from "../testing/databases.ts";
import { selfSigned } from "../testing/fixtures/self-signed.ts";
import { createDatabase, startPostgres, type TestPostgres } from "../testing/postgres.ts";
import { openDatabase } from "./open.ts";

describe("TLS to PostgreSQL", () => {
  let server: TestPostgres;
  let databaseUrl: string;
  let folder: string;
  const { privateKey, pem: cert } = testCertificate({
    subject: "localhost",
    isCa: true,
    keyUsage: null,
    hosts: ["localhost"],
  });
  const key = privateKey.export({ format: "pem", type: "pkcs8" }).toString();
  before(async () => {
    server = await startPostgres();
    const admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    const { rows } = await admin.query<{ data_directory: string }>("show data_directory");
    const data = rows[0]?.data_directory ?? "";
    const { uid, gid } = await stat(data);
    for (const [name, content] of [["server.crt", cert] as const, ["server.key", key] as const]) {
      await writeFile(path.join(data, name), content, { mode: 0o600 });
      await chown(path.join(data, name), uid, gid);
    }
    await admin.query("alter system set ssl = on");
    await admin.query("select pg_reload_conf()");
    await admin.end();
    databaseUrl = await createDatabase(server.url);
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-database-tls-"));
    await writeFile(path.join(folder, "ca.pem"), cert);
    await writeFile(path.join(folder, "other.pem"), selfSigned().cert);
  });
  after(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const url = (parameters: Readonly<Record<string, string>>, host = "localhost"): string => {
    const made = new URL(databaseUrl);
    made.hostname = host;
    for (const [name, value] of Object.entries(parameters)) made.searchParams.set(name, value);
    return made.href;
  };
  const file = (name: string) => path.join(folder, name);
  /** Whether the connection is encrypted. */
  const connects = async (address: string): Promise<boolean> => {
    const database = openDatabase(address, 1);
    try {
      const { rows } = await sql<{ ssl: boolean }>`
        select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(database.query);
      return rows[0]?.ssl === true;
    } finally {
      await database.close();
    }
  };

  test("each sslmode asks what libpq asks", async () => {
    assert.equal(await connects(url({ sslmode: "disable" })), false);
    assert.equal(await connects(url({ sslmode: "require" })), true, "encrypted; whose it is, is not asked");
    assert.equal(await connects(url({ sslmode: "prefer" })), true);
    const plain = `${await postgresServer()}?sslmode=prefer`;
    await assert.rejects(connects(plain), /does not support SSL/, "never in clear where TLS was asked for");
    const trusted = { sslrootcert: file("ca.pem") };
    for (const sslmode of ["require", "verify-ca", "verify-full"])
      assert.equal(await connects(url({ sslmode, ...trusted })), true, sslmode);
    await assert.rejects(connects(url({ sslmode: "verify-full" })), /self.signed/i);
    for (const sslmode of ["require", "verify-ca", "verify-full"])
      await assert.rejects(connects(url({ sslmode, sslrootcert: file("other.pem") })), Error, sslmode);
  });

  test("verify-full compares the host name, verify-ca does not", async () => {
    const elsewhere = (sslmode: string) => url({ sslmode, sslrootcert: file("ca.pem") }, "127.0.0.1");
    assert.equal(await connects(elsewhere("verify-ca")), true);
    await assert.rejects(connects(elsewhere("verify-full")), /altnames|not in the cert/);
  });

  test("doctor warns where the server's identity isn't checked", () => {
    const warned = (parameters: Readonly<Record<string, string>>) =>
      databaseTlsCheck(url(parameters)).map(({ level }) => level);
    for (const sslmode of ["require", "prefer"]) assert.deepEqual(warned({ sslmode }), ["warn"], sslmode);
    for (const more of [{ sslmode: "verify-full" }, { sslmode: "require", sslrootcert: file("ca.pem") }, {}])
      assert.deepEqual(warned(more), []);
    assert.deepEqual(databaseTlsCheck("sqlite:/tmp/x.db"), []);
  });

  test("an operator is told the variable and the file, with exit code 1", async () => {
    const said = async (address: string) => {
      const env = { SIGNET_DATA_DIR: folder, DATABASE_URL: address, SIGNET_MASTER_KEY: "ab".repeat(32) };
      const { code, err } = await runInProcess(["org", "list"], env);
      assert.equal(code, 1, err);
      return err;
    };
    const mismatch = await said(url({ sslmode: "verify-full", sslrootcert: file("other.pem") }));
    assert.match(mismatch, /can't use the database .* \(sslmode and sslrootcert of DATABASE_URL\): /);
    const missing = await said(url({ sslmode: "verify-full", sslrootcert: file("none.pem") }));
    assert.match(missing, /DATABASE_URL sslrootcert: .*none\.pem does not exist/);
  });
});
