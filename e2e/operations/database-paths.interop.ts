/** PostgreSQL behind programs of others: a proxy that freezes (HAProxy), and a pooler in transaction mode (PgBouncer). */
import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { startProgram } from "../../interop/program.ts";
import { freshPostgres } from "../../packages/server/src/testing/databases.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { postForm } from "../../packages/server/src/testing/fixtures/client.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { firstValue } from "../../packages/server/src/testing/postgres.ts";
import { startHaproxy } from "../support/haproxy.ts";
import { missingProgram } from "../support/programs.ts";
import { assertReady, watchReadiness } from "../support/readiness.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";
import { signet } from "../support/signet-command.ts";

const FROZEN_MS = 8_000;
const BACK_MS = 5_000;
const STOP_MS = 10_000;

/** The same database at another port of this machine. */
function through(url: string, port: number): string {
  const address = new URL(url);
  address.port = String(port);
  return address.href;
}

async function folderOf(t: { after(work: () => Promise<void>): void }): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-operations-"));
  // PgBouncer gives root's rights up.
  await chmod(folder, 0o755);
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function token(server: ServerProcess): Promise<number> {
  const { issuer, serviceApp } = await server.demo();
  const { status } = await postForm(`${issuer}/token`, {
    grant_type: "client_credentials",
    client_id: serviceApp.clientId,
    client_secret: serviceApp.clientSecret,
  });
  return status;
}

describe("a proxy that freezes", { skip: missingProgram("haproxy", ["-v"]) }, () => {
  test("readiness answers within 250 ms all the while, the first success comes within five, and SIGTERM ends it", async (t) => {
    const folder = await folderOf(t);
    const database = await freshPostgres();
    t.after(() => database.remove());
    const port = await freePort();
    const { hostname, port: databasePort } = new URL(database.url);
    const lines = [`server one ${hostname}:${databasePort}`];
    const proxy = await startHaproxy({ folder, port, mode: "tcp", lines });
    t.after(() => proxy.stop());
    const server = await startServer({ databaseUrl: through(database.url, port) });
    t.after(() => server.kill());
    assert.equal(await token(server), 200);

    const readiness = watchReadiness(server.baseUrl);
    proxy.child.kill("SIGSTOP");
    const held = token(server).catch(() => 0);
    await delay(FROZEN_MS);
    proxy.child.kill("SIGCONT");
    const back = performance.now();
    await eventually("a token is issued again", async () => (await token(server)) === 200, BACK_MS);
    assert.ok(performance.now() - back <= BACK_MS);
    assert.ok([200, 503].includes(await held), "the request that was caught is answered");
    assertReady(await readiness());

    proxy.child.kill("SIGSTOP");
    t.after(() => void proxy.child.kill("SIGCONT"));
    const told = performance.now();
    await server.stop();
    assert.ok(performance.now() - told <= STOP_MS);
  });
});

describe("a pooler in transaction mode", { skip: missingProgram("pgbouncer", ["--version"]) }, () => {
  test("serves, and with a direct address for notifications hears at once what a command changes", async (t) => {
    const folder = await folderOf(t);
    const database = await freshPostgres();
    t.after(() => database.remove());
    const port = await freePort();
    const { hostname, port: databasePort, username, password } = new URL(database.url);
    const config = path.join(folder, "pgbouncer.ini");
    const users = path.join(folder, "users.txt");
    await writeFile(users, `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`, {
      mode: 0o644,
    });
    const lines = [
      "[databases]",
      `* = host=${hostname} port=${databasePort}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = trust",
      `auth_file = ${users}`,
      "pool_mode = transaction",
      "default_pool_size = 5",
    ];
    await writeFile(config, `${lines.join("\n")}\n`);
    const asNobody = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
    const pooler = await startProgram("pgbouncer", ["pgbouncer", ...asNobody, config], { port });
    t.after(() => pooler.stop());
    const settings = { SIGNET_DATABASE_LISTEN_URL: database.url };
    const server = await startServer({ databaseUrl: through(database.url, port), settings });
    t.after(() => server.kill());
    const issued = await Promise.all(Array.from({ length: 40 }, () => token(server)));
    assert.deepEqual([...new Set(issued)], [200]);
    const timeout = "select current_setting('statement_timeout')";
    assert.equal(await firstValue(through(database.url, port), timeout), "0", "left as others find it");

    const { org, serviceApp } = await server.demo();
    await signet(["app", "disable", serviceApp.clientId, "--org", org], { ...server.settings, ...settings });
    await eventually("the application is refused", async () => (await token(server)) === 401, 2_000);
    await server.stop();
  });
});
