/** Three PostgreSQL servers under Patroni with etcd, on loopback: one takes writes, and a standby has all that it acknowledged. */
import { type ChildProcess, spawn } from "node:child_process";
import { chown, mkdir, mkdtemp, rm } from "node:fs/promises";
import type { Socket } from "node:net";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type RunningProgram, startProgram } from "../../interop/program.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { firstValue } from "../../packages/server/src/testing/postgres.ts";
import { serverUser } from "../../packages/server/src/testing/postgres-binaries.ts";
import { debianPostgres, makeMember, type PatroniMember } from "./patroni-member.ts";
import { processesBelow, signalAll } from "./processes.ts";
import { missingProgram } from "./programs.ts";

export interface PatroniCluster {
  readonly members: readonly PatroniMember[];
  /** As libpq would have it: every member, of which the one that takes writes is used. */
  readonly url: string;
  /** @returns which member takes writes, as Patroni says */
  primary(): Promise<PatroniMember>;
  /** Waits until every member runs, all others follow one, and one of them is the synchronous standby. */
  settled(): Promise<void>;
  /** As `patronictl switchover`; ends when it is done. */
  switchOver(): Promise<void>;
  stop(): Promise<void>;
}

/** Why it can't be started here; false when it can. */
export const missingPatroni = (): string | false =>
  (debianPostgres() === undefined && "Debian's postgresql is not installed") ||
  missingProgram("patroni", ["--version"]) ||
  missingProgram("etcd", ["--version"]);

const SETTLED_MS = 120_000;
/** Each look costs processes of PostgreSQL and of Python their time. */
const LOOK_MS = 250;
/** Characters of a member's output, for who looks into a failure. */
const LAST_WORDS = 4_000;

export async function startPatroni(): Promise<PatroniCluster> {
  const user = await serverUser();
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-patroni-"));
  if (user) await chown(folder, user.uid, user.gid);
  const etcdPort = await freePort(2);
  const etcd = await startEtcd(folder, etcdPort);
  const members: PatroniMember[] = [];
  for (const name of ["one", "two", "three"]) members.push(await makeMember(folder, name, etcdPort));
  const guard = guardDatabases(members.map(({ name }) => path.join(folder, name, "data")));
  const stop = async () => {
    for (const member of members) await member.killAgent();
    await endDatabases(members);
    await etcd.stop();
    guard.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const cluster = { members, ...clusterOf(members), stop };
    const [first, ...others] = members;
    await first?.start();
    await eventually(
      "the first member takes writes",
      async () => first !== undefined && takesWrites(first),
      SETTLED_MS,
    );
    await Promise.all(others.map((member) => member.start()));
    await cluster.settled();
    return cluster;
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startEtcd(folder: string, port: number): Promise<RunningProgram> {
  const [client, peer] = [port, port + 1].map((each) => `http://127.0.0.1:${each}`);
  const data = path.join(folder, "etcd");
  await mkdir(data, { mode: 0o700 });
  const addresses = { "listen-client-urls": client, "advertise-client-urls": client };
  const peers = { "listen-peer-urls": peer, "initial-advertise-peer-urls": peer };
  const options = { name: "one", "data-dir": data, ...addresses, ...peers, "initial-cluster": `one=${peer}` };
  const given = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  return startProgram("etcd", ["etcd", ...given], { port });
}

type Described = { members: ReadonlyArray<{ name: string; role: string; state: string }> };

function clusterOf(members: readonly PatroniMember[]): Omit<PatroniCluster, "members" | "stop"> {
  const ask = async (pathname: string, init?: RequestInit): Promise<string | undefined> => {
    for (const { apiPort } of members) {
      const answer = await fetch(`http://127.0.0.1:${apiPort}${pathname}`, init).catch(() => undefined);
      if (answer?.ok) return answer.text();
      await answer?.body?.cancel();
    }
    return undefined;
  };
  const described = async (): Promise<Described["members"]> =>
    (JSON.parse((await ask("/cluster")) ?? '{"members":[]}') as Described).members;
  const leader = async () => {
    const name = (await described()).find(({ role }) => role === "leader")?.name;
    return members.find((member) => member.name === name);
  };
  const isSettled = async (): Promise<boolean> => {
    await delay(LOOK_MS);
    const all = await described();
    // Older versions say "running" of a standby that follows.
    const running = all.filter(({ state }) => ["running", "streaming"].includes(state));
    const roles = running.map(({ role }) => role).toSorted();
    const first = await leader();
    if (String(roles) !== "leader,replica,sync_standby" || !first) return false;
    return (await takesWrites(first)) && (await askMember(first, STREAMING)) === members.length - 1;
  };
  return {
    url: `postgres://postgres@${members.map((one) => `127.0.0.1:${one.databasePort}`).join(",")}/postgres?target_session_attrs=read-write`,
    primary: async () => {
      const found = await leader();
      if (!found) throw new Error("no member is the leader");
      return found;
    },
    settled: async () => {
      try {
        await eventually("the cluster is settled", isSettled, SETTLED_MS);
      } catch (error) {
        const said = members.map(({ name, output }) => `${name}:\n${output().slice(-LAST_WORDS)}`);
        throw new Error(`${JSON.stringify(await described())}\n${said.join("\n")}`, { cause: error });
      }
    },
    switchOver: async () => {
      const body = JSON.stringify({ leader: (await leader())?.name });
      const done = await ask("/switchover", { method: "POST", body });
      if (done === undefined) throw new Error("Patroni refused the switchover");
    },
  };
}

/** @returns the first value of the first row; undefined when there is no answer */
export const askMember = ({ databasePort }: PatroniMember, statement: string): Promise<unknown> =>
  firstValue(`postgres://postgres@127.0.0.1:${databasePort}/postgres`, statement).catch(() => undefined);

const takesWrites = async (member: PatroniMember): Promise<boolean> =>
  (await askMember(member, "select current_setting('transaction_read_only')")) === "off";

const STREAMING = "select count(*)::int from pg_stat_replication where state = 'streaming'";

async function endDatabases(members: readonly PatroniMember[]): Promise<void> {
  for (const member of members) signalDatabase(member, "SIGQUIT");
  const isOver = () => members.every((member) => !signalDatabase(member, 0));
  await eventually("the databases have ended", isOver, 30_000);
}

/** @returns whether there was one */
function signalDatabase(member: PatroniMember, signal: NodeJS.Signals | 0): boolean {
  const pid = member.databasePid();
  try {
    return pid !== undefined && process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** SIGKILL of all its processes: one that outlived the first would keep PostgreSQL from starting again. */
export function killDatabase(member: PatroniMember): void {
  const pid = member.databasePid();
  if (pid !== undefined) signalAll([pid, ...processesBelow(pid)], "SIGKILL");
}

const guardScript = `cat >/dev/null
for data in "$@"; do [ -e "$data/postmaster.pid" ] && kill -QUIT "$(head -n 1 "$data/postmaster.pid")"; done`;

/** Patroni's databases are no children of ours: they end when this process does, of whatever cause. */
function guardDatabases(folders: readonly string[]): ChildProcess {
  const shell = spawn("/bin/sh", ["-c", guardScript, "signet-guard", ...folders], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  shell.stdin?.on("error", () => {});
  shell.unref();
  (shell.stdin as unknown as Socket).unref();
  return shell;
}
