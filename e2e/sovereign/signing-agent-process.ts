/** Runs the real `signet-agent` as a process: enrolled, started, killed and restarted. */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { registerAgent } from "../../packages/server/src/features/sovereign/admin-api/agents.ts";
import type { Service } from "../../packages/server/src/modules/open-service.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { nodeEnvironment } from "../../packages/server/src/testing/node-environment.ts";
import { runAgentCommandLine } from "../../packages/signing-agent/src/commands/agent-command-line.ts";
import { guardProcess } from "../support/process-guard.ts";
import { signet } from "../support/signet-command.ts";
import type { SovereignFixture } from "./sovereign-fixture.ts";

const startMs = 60_000;
const program = fileURLToPath(new URL("../../packages/signing-agent/src/main.ts", import.meta.url));

export interface AgentProcess {
  readonly pid: number;
  /** The output on stdout and stderr so far. */
  output(): string;
  /** Waits for this output. @throws Error with the output if the process ends before */
  said(words: string): Promise<void>;
  /** Sends SIGTERM; fails unless the exit code is 0. Does nothing after the exit. */
  stop(): Promise<void>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
}

export interface Enrolment {
  /** The folder of key, policy and journal. */
  readonly folder: string;
  /** The policy of each client_id. */
  readonly clients: Readonly<Record<string, string>>;
}

/** Runs `signet-agent enroll --print` and registers the agent. @returns the agent's ID */
export async function enrolAgent(
  service: Service,
  { org, pool, baseUrl }: Pick<SovereignFixture, "org" | "pool" | "baseUrl">,
  { folder, clients }: Enrolment,
): Promise<string> {
  const printed: string[] = [];
  const io = {
    print: (line: string) => void printed.push(line),
    printError: () => {},
    clock: Date.now,
    terminal: undefined,
    onSignal: () => {},
  };
  const place = ["--service", baseUrl, "--organisation", org.organisation.id, "--pool", pool.id];
  const words = ["enroll", ...place, "--name", path.basename(folder), "--dir", folder, "--print"];
  assert.equal(await runAgentCommandLine(words, io), 0);
  const registration = JSON.parse(printed.join("\n")) as Parameters<typeof registerAgent>[2];
  const acting = { orgId: org.organisation.id, actor: "test" };
  const { agent, apiKey } = await registerAgent({ ...service, baseUrl }, acting, registration);
  await writeFile(path.join(folder, "api-key"), `${apiKey}\n`, { mode: 0o600 });
  await allow(folder, clients);
  return agent.id;
}

/**
 * Enrols with the commands of an agent's operator and an administrator.
 * @param settings of the server, for the administrator's command beside it
 * @returns all that the commands printed
 */
export async function enrolByCommands(
  { org, pool, baseUrl }: { readonly org: string; readonly pool: string; readonly baseUrl: string },
  { folder, clients }: Enrolment,
  settings: Record<string, string | undefined>,
): Promise<string> {
  const place = ["--service", baseUrl, "--organisation", org, "--pool", pool];
  const words = ["enroll", ...place, "--name", "agent-1", "--dir", folder, "--print"];
  const printed = await promisify(execFile)(process.execPath, [program, ...words], {
    env: nodeEnvironment(),
  });
  const keys = path.join(folder, "registration.json");
  await writeFile(keys, printed.stdout);
  const named = ["--org", org, "--pool", pool, "--name", "agent-1", "--keys", keys];
  const registered = await signet(["agent", "register", ...named], settings);
  await writeFile(path.join(folder, "api-key"), `${registered["apiKey"]}\n`, { mode: 0o600 });
  await allow(folder, clients);
  return [printed.stdout, printed.stderr, JSON.stringify(registered)].join("\n");
}

/** Writes the clients into the enrolled policy, and serves metrics on any free port. */
export async function allow(folder: string, clients: Enrolment["clients"]): Promise<void> {
  const lines = Object.entries(clients).map(([id, allowed]) => `  ${id}: ${allowed}`);
  await edit(path.join(folder, "policy.yaml"), "clients: {}", ["clients:", ...lines].join("\n"));
  await edit(path.join(folder, "agent.yaml"), "port: 9464", "port: 0");
}

async function edit(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(file, "utf8");
  assert.ok(text.includes(from), `${file} has ${from}`);
  await writeFile(file, text.replace(from, to));
}

/** Fills the compile cache, which Node writes only at a regular exit: killed agents restart faster. */
export async function compileAgent(folder: string): Promise<void> {
  const child = spawn(process.execPath, [program, "--help"], { env: environment(folder), stdio: "ignore" });
  await once(child, "exit");
}

const environment = (folder: string) => ({
  NODE_COMPILE_CACHE: path.join(folder, "compiled"),
  ...nodeEnvironment(),
});

/** `signet-agent run` with the configuration of this folder. */
export function startAgentProcess(folder: string): AgentProcess {
  const child = spawn(process.execPath, [program, ...runIn(folder)], {
    cwd: folder,
    env: environment(path.dirname(folder)),
    stdio: ["ignore", "pipe", "pipe"],
  });
  return agentProcess(child, (signal) => end(child, signal));
}

/** Runs the agent in a terminal made by `script` (util-linux). */
export function startAgentAtTerminal(folder: string): AgentProcess & { type(line: string): void } {
  const words = [process.execPath, program, ...runIn(folder)].map((word) => `'${word}'`);
  const command = ["exec", ...words].join(" ");
  const child = spawn("script", ["--quiet", "--flush", "--return", "--command", command, "/dev/null"], {
    cwd: folder,
    env: { ...environment(path.dirname(folder)), TERM: "dumb" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  // `script` does not pass signals on: the agent is its only child process.
  const endAgent = async (signal: NodeJS.Signals) => {
    const ended = hasEnded(child) ? undefined : once(child, "exit");
    const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").catch(() => "");
    const pid = Number.parseInt(children, 10);
    if (pid > 0) process.kill(pid, signal);
    else child.kill("SIGKILL");
    await ended;
  };
  const agent = agentProcess(child, (signal) => (hasEnded(child) ? Promise.resolve() : endAgent(signal)));
  return { ...agent, type: (line) => void child.stdin.write(`${line}\r`) };
}

const runIn = (folder: string) => ["run", "--config", path.join(folder, "agent.yaml")];

function agentProcess(child: ChildProcess, endWith: (signal: NodeJS.Signals) => Promise<void>): AgentProcess {
  guardProcess(child);
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (more: string) => {
      text += more;
    });
  return {
    pid: child.pid ?? 0,
    output: () => text,
    said: (words) =>
      eventually(
        `the agent says ${words}`,
        () => {
          assert.ok(!hasEnded(child), text);
          return text.includes(words);
        },
        startMs,
      ),
    stop: async () => {
      if (hasEnded(child)) return;
      await endWith("SIGTERM");
      assert.equal(child.exitCode ?? child.signalCode, 0, text);
    },
    kill: () => endWith("SIGKILL"),
  };
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null;

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}
