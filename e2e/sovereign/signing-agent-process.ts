/** The real `signet-agent`, as programs of their own: enrolled into a folder, started there, killed, started again. */
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
import type { SovereignScene } from "./sovereign-fixture.ts";

const startMs = 60_000;
const program = fileURLToPath(new URL("../../packages/signing-agent/src/main.ts", import.meta.url));

export interface AgentProcess {
  /** All that it wrote, to both of its outputs. */
  output(): string;
  /** Waits until it has written this. @throws Error with what it wrote when it ends before */
  said(words: string): Promise<void>;
  /** SIGTERM; fails unless it ends with 0. Does nothing when it has ended. */
  stop(): Promise<void>;
  /** SIGKILL, to this process by its id. */
  kill(): Promise<void>;
}

export interface Enrolment {
  /** Where key, policy and journal go. */
  readonly folder: string;
  /** By client_id, what `policy.yaml` allows. */
  readonly clients: Readonly<Record<string, string>>;
}

/** `signet-agent enroll --print`, and what an administrator makes of it. @returns the agent's id */
export async function enrolAgent(
  service: Service,
  { org, pool, baseUrl }: Pick<SovereignScene, "org" | "pool" | "baseUrl">,
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
 * The same by the commands that an agent's operator and an administrator type.
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

/** Writes what may be signed into the policy that an enrolment has left, and takes any free port for the metrics. */
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

/** So that those that are killed later start faster: what is compiled is written down only at an ordinary end. */
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

/** The same with a terminal of its own, which `script` makes (util-linux; Debian has it on every machine). */
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
