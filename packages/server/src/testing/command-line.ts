/** Runs the command line under test: in this process, which is fast, or as a program. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { run } from "../cli/run.ts";
import { readClientSettings } from "../config/client-settings.ts";
import { readConfig } from "../config/config.ts";
import { nodeEnvironment } from "./node-environment.ts";
import { unauditedActs } from "./probes/audited-acts.ts";
import { watchActs } from "./probes/watched-acts.ts";
import { TEST_MASTER_KEY } from "./test-service.ts";

export interface CommandResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export type Environment = Readonly<Record<string, string>>;

/** As an operator starts it: the bundle, which is there in a quarter of the time of the sources (bundle.test.ts: it does the same). */
export const program = path.join(import.meta.dirname, "../../../../scripts/signet.mjs");

/**
 * Runs one command inside this process.
 * @param typed what is typed or piped in when a password is asked for, or at the terminal's question for a yes; when it
 * is empty, there is no terminal
 */
export async function runInProcess(
  args: readonly string[],
  env: Environment,
  typed = "",
): Promise<CommandResult> {
  const out: string[] = [];
  const err: string[] = [];
  const io = {
    print: (line: string) => void out.push(`${line}\n`),
    printError: (line: string) => void err.push(`${line}\n`),
    readSecret: async () => typed,
    confirm: async () => (typed === "" ? undefined : typed === "yes"),
  };
  const watch = watchActs();
  const outside = {
    io,
    readConfig: () => readConfig(env),
    readClientSettings: () => readClientSettings(env),
    around: watch.dialect,
  };
  const code = await watch.during("signet", args.join(" "), () => run(args, outside));
  // Local commands have no client address.
  const silent = unauditedActs(watch.acts(), { isHere: true });
  if (silent.length > 0) throw new Error(`nothing in the audit log says so:\n${silent.join("\n")}`);
  return { code, out: out.join(""), err: err.join("") };
}

/** The JSON output of a command that has to succeed. */
export async function runForJson<Answer = Record<string, unknown>>(
  args: readonly string[],
  env: Environment,
  typed = "",
): Promise<Answer> {
  const { code, out, err } = await runInProcess([...args, "--json"], env, typed);
  if (code !== 0) throw new Error(`signet ${args.join(" ")} ended with ${code}: ${err}${out}`);
  return JSON.parse(out) as Answer;
}

export interface OperatorSettings {
  readonly env: Environment;
  remove(): Promise<void>;
}

/** The environment of an operator of this database, with its own data folder. */
export async function operatorSettings(databaseUrl: string): Promise<OperatorSettings> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), "signet-operator-"));
  const env = { SIGNET_DATA_DIR: dataDir, DATABASE_URL: databaseUrl, SIGNET_MASTER_KEY: TEST_MASTER_KEY };
  return { env, remove: () => rm(dataDir, { recursive: true, force: true }) };
}

/** Starts the program. Nothing of this process's environment reaches it but PATH and Node's compile cache. */
export function startProgram(args: readonly string[], env: Environment, cwd?: string): ChildProcess {
  return spawn(process.execPath, [program, ...args], {
    env: { ...nodeEnvironment(), ...env },
    stdio: ["pipe", "pipe", "pipe"],
    ...(cwd === undefined ? {} : { cwd }),
  });
}

/** A program that should have ended, and serves instead, fails its test by this. */
const LONGEST_RUN_MS = 120_000;

/** Runs the program until it exits. @param piped standard input @returns code null when it had to be killed */
export async function runProgram(
  args: readonly string[],
  env: Environment,
  piped = "",
): Promise<CommandResult> {
  const child = startProgram(args, env);
  const output = collect(child);
  child.stdin?.end(piped);
  const late = setTimeout(() => child.kill("SIGKILL"), LONGEST_RUN_MS);
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(late);
  return { code, out: output.out(), err: output.err() };
}

/** The program's output so far. */
export function collect(child: ChildProcess): { out(): string; err(): string } {
  let out = "";
  let err = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  return { out: () => out, err: () => err };
}
