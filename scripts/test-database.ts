// Loaded by `node --test` before the first test file and after the last: one PostgreSQL server for all of them.
import { startPostgres, type TestPostgres } from "../packages/server/src/testing/postgres.ts";

let server: TestPostgres | undefined;

/** Gives the test processes, which inherit this one's environment, the address of the server. One from outside stays. */
export async function globalSetup(): Promise<void> {
  if (process.env["SIGNET_TEST_DATABASE_URL"]) return;
  server = await startPostgres();
  process.env["SIGNET_TEST_DATABASE_URL"] = server.url;
}

export async function globalTeardown(): Promise<void> {
  await server?.stop();
}
