/** A streaming replica of a throw-away PostgreSQL server: a base backup of it that follows (PostgreSQL, "Log-Shipping Standby Servers"). */
import { execFile } from "node:child_process";
import { appendFile, chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { startServer, type TestPostgres } from "./postgres.ts";
import { type ServerUser, serverBinaries, serverUser } from "./postgres-binaries.ts";

/** @param primary started with `hasStandby` */
export async function startStandby(primary: TestPostgres): Promise<TestPostgres> {
  const user = await serverUser();
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-standby-"));
  try {
    if (user) await chown(folder, user.uid, user.gid);
    const data = path.join(folder, "data");
    await copyWhileItRuns(primary, data, user);
    const { hostname, port } = new URL(primary.url);
    const source = `primary_conninfo = 'host=${hostname} port=${port} user=postgres'\n`;
    await appendFile(path.join(data, "postgresql.auto.conf"), source);
    await writeFile(path.join(data, "standby.signal"), "");
    return await startServer(await serverBinaries(folder, user), folder, user, { hasStandby: true });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** What `pg_basebackup` does, which npm does not bring. */
async function copyWhileItRuns(
  primary: TestPostgres,
  data: string,
  user: ServerUser | undefined,
): Promise<void> {
  const client = new pg.Client({ connectionString: primary.url });
  await client.connect();
  try {
    await client.query("select pg_backup_start('standby', true)");
    await promisify(execFile)("cp", ["-a", primary.data, data]);
    const { rows } = await client.query<{ labelfile: string }>("select labelfile from pg_backup_stop(false)");
    await rm(path.join(data, "postmaster.pid"), { force: true });
    const label = path.join(data, "backup_label");
    await writeFile(label, rows[0]?.labelfile ?? "");
    await chmod(label, 0o600);
    if (user) await chown(label, user.uid, user.gid);
  } finally {
    await client.end();
  }
}
