/** One member of a Patroni cluster: its agent, and the PostgreSQL that the agent runs, from Debian's packages. */
import { readdirSync, readFileSync } from "node:fs";
import { chown, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { type RunningProgram, startProgram } from "../../interop/program.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { serverUser } from "../../packages/server/src/testing/postgres-binaries.ts";

const DEBIAN = "/usr/lib/postgresql";

/** npm's PostgreSQL has no pg_basebackup and no pg_rewind. Undefined where Debian's is not installed. */
export function debianPostgres(): string | undefined {
  try {
    const [newest] = readdirSync(DEBIAN).toSorted((one, other) => Number(other) - Number(one));
    return newest === undefined ? undefined : path.join(DEBIAN, newest, "bin");
  } catch {
    return undefined;
  }
}

export interface PatroniMember {
  readonly name: string;
  readonly databasePort: number;
  /** Of Patroni's REST interface. */
  readonly apiPort: number;
  /** Of PostgreSQL's first process; undefined while there is none. */
  databasePid(): number | undefined;
  start(): Promise<void>;
  /** SIGKILL of Patroni; PostgreSQL goes on. */
  killAgent(): Promise<void>;
  /** What Patroni and PostgreSQL said since it was started. */
  output(): string;
}

/** Seconds. The shortest that Patroni allows: a primary that nobody hears of is replaced after `ttl`. */
const TIMES = { ttl: 20, loop_wait: 1, retry_timeout: 3 };

const SHARED = {
  ...TIMES,
  // A commit is acknowledged when the standby has it too, and only such a standby is promoted.
  synchronous_mode: true,
  // A primary whose PostgreSQL died is replaced, not restarted. Patroni 3 knows the older name.
  primary_start_timeout: 0,
  master_start_timeout: 0,
  postgresql: { use_pg_rewind: true, parameters: { max_connections: 100, wal_keep_size: "256MB" } },
};

/** @param folder of the cluster, the database user's */
export async function makeMember(folder: string, name: string, etcdPort: number): Promise<PatroniMember> {
  const [databasePort, apiPort] = [await freePort(), await freePort()];
  const own = path.join(folder, name);
  const user = await serverUser();
  await mkdir(own, { mode: 0o700 });
  const data = path.join(own, "data");
  const config = path.join(own, "patroni.yml");
  const settings = settingsOf({ name, own, data, databasePort, apiPort, etcdPort });
  // JSON is YAML.
  await writeFile(config, JSON.stringify(settings));
  for (const file of user ? [own, config] : []) await chown(file, user?.uid ?? 0, user?.gid ?? 0);
  let agent: RunningProgram | undefined;
  return {
    name,
    databasePort,
    apiPort,
    databasePid: () => pidIn(data),
    start: async () => {
      agent = await startProgram("patroni", ["patroni", config], { port: apiPort, folder: own, ...user });
    },
    killAgent: async () => agent?.stop(),
    output: () => agent?.output() ?? "",
  };
}

function settingsOf(member: Record<"name" | "own" | "data", string> & Record<`${string}Port`, number>) {
  const at = (port: number | undefined) => `127.0.0.1:${port}`;
  const address = (port: number | undefined) => ({ listen: at(port), connect_address: at(port) });
  return {
    scope: "signet",
    name: member.name,
    restapi: address(member["apiPort"]),
    etcd3: { host: at(member["etcdPort"]) },
    bootstrap: { dcs: SHARED, initdb: [{ encoding: "UTF8" }, { locale: "C" }, "data-checksums"] },
    postgresql: {
      ...address(member["databasePort"]),
      data_dir: member.data,
      bin_dir: debianPostgres(),
      pgpass: path.join(member.own, "pgpass"),
      // A standby that had more than the one that was promoted begins anew.
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
      authentication: {
        superuser: { username: "postgres", password: "postgres" },
        replication: { username: "replicator", password: "replicator" },
        rewind: { username: "rewinder", password: "rewinder" },
      },
      pg_hba: ["host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"],
      parameters: { unix_socket_directories: "" },
    },
  };
}

function pidIn(data: string): number | undefined {
  try {
    return Number(readFileSync(path.join(data, "postmaster.pid"), "utf8").split("\n")[0]);
  } catch {
    return undefined;
  }
}
