// Loaded by `node --test` before the first test file and after the last: one PostgreSQL server for all of them.
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { release } from "../../packages/server/src/db/distribution/distribute.ts";
import { migrate } from "../../packages/server/src/db/migrate.ts";
import { openDatabase } from "../../packages/server/src/db/open.ts";
import {
  createDatabase,
  dropDatabase,
  startPostgres,
  type TestPostgres,
} from "../../packages/server/src/testing/postgres.ts";

let server: TestPostgres | undefined;
let template: { server: string; url: string } | undefined;
let folder: string | undefined;

/**
 * Gives the test processes, which inherit this one's environment, the address of the server (one from outside stays) and
 * of a database with the schema in it, and of an SQLite file with it: to copy one costs a tenth of what the migrations cost.
 */
export async function globalSetup(): Promise<void> {
  try {
    await prepare();
  } catch (error) {
    // Node's runner does not always tell.
    console.error("The databases for the tests can't be prepared:", error);
    await globalTeardown();
    throw error;
  }
}

async function prepare(): Promise<void> {
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-template-"));
  const file = path.join(folder, "signet.db");
  await makeSchema(`sqlite:${file}`);
  process.env["SIGNET_TEST_TEMPLATE_FILE"] = file;
  if (process.env["SIGNET_TEST_DATABASES"] !== "sqlite") await preparePostgres();
}

async function preparePostgres(): Promise<void> {
  const given = process.env["SIGNET_TEST_DATABASE_URL"];
  if (!given) server = await startPostgres();
  const serverUrl = given || String(server?.url);
  template = { server: serverUrl, url: await createDatabase(serverUrl) };
  await makeSchema(template.url);
  process.env["SIGNET_TEST_DATABASE_URL"] = serverUrl;
  process.env["SIGNET_TEST_TEMPLATE_URL"] = template.url;
}

async function makeSchema(url: string): Promise<void> {
  const database = openDatabase(url, 1);
  try {
    await migrate(database);
    // As `signet distribute` leaves it: what only one server could keep, the code has to.
    if (database.kind === "postgres") await release(database.query);
  } finally {
    await database.close();
  }
}

export async function globalTeardown(): Promise<void> {
  if (template && !server) await dropDatabase(template.server, template.url);
  await server?.stop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
}
