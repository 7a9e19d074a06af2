import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import pg from "pg";
import { eventually } from "./eventually.ts";
import { createDatabase, dropDatabase, startPostgres } from "./postgres.ts";

test("the server listens on loopback only, and stop removes its data", async (t) => {
  const server = await startPostgres();
  t.after(() => server.stop());
  const settings = await showAll(server.url);
  const expected = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "200",
    server_encoding: "UTF8",
    fsync: "off",
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(settings.get(name), value, name);
  const folder = path.dirname(settings.get("data_directory") ?? "");
  assert.match(folder, /signet-postgres-/);

  const first = await createDatabase(server.url);
  const client = new pg.Client({ connectionString: first });
  await client.connect();
  await client.query("CREATE TABLE things AS SELECT 7 AS id");
  await client.end();
  const copy = await createDatabase(server.url, new URL(first).pathname.slice(1));
  assert.deepEqual(await rows(copy, "SELECT id FROM things"), [{ id: 7 }]);
  await dropDatabase(server.url, copy);
  await assert.rejects(rows(copy, "SELECT 1"), { code: "3D000" });

  await server.stop();
  assert.ok(!existsSync(folder));
  await assert.rejects(rows(first, "SELECT 1"), { code: "ECONNREFUSED" });
});

test("a durable server syncs to disk", async (t) => {
  const server = await startPostgres({ isDurable: true });
  t.after(() => server.stop());
  const settings = await showAll(server.url);
  for (const name of ["fsync", "synchronous_commit", "full_page_writes"])
    assert.equal(settings.get(name), "on", name);
});

test("the server ends when its process is killed", async () => {
  const module = JSON.stringify(new URL("./postgres.ts", import.meta.url).href);
  const script = `const { startPostgres } = await import(${module});
    console.log((await startPostgres()).url); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await firstLine(child);
  const folder = path.dirname((await showAll(url)).get("data_directory") ?? "");
  assert.ok(existsSync(folder));
  child.kill("SIGKILL");
  await eventually("the data folder is removed", () => !existsSync(folder), 20_000);
  await assert.rejects(rows(url, "SELECT 1"), { code: "ECONNREFUSED" });
});

async function firstLine(child: ChildProcess): Promise<string> {
  assert.ok(child.stdout);
  const [output] = await once(child.stdout, "data");
  return String(output).trim();
}

async function showAll(url: string): Promise<Map<string, string>> {
  const settings = await rows(url, "SHOW ALL");
  return new Map(settings.map(({ name, setting }) => [String(name), String(setting)]));
}

async function rows(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
