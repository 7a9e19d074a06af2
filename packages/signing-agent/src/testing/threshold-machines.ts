/** Machines of a threshold pool, each with its own folder, enrolled and run as an operator does it, by the command line. */
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { makePool } from "@signet/server/testing/fixtures/agent";
import { makeSystemAccount } from "@signet/server/testing/fixtures/system-account";
import { makeClient, type TestOrganisation, type TestService } from "@signet/server/testing/test-service";
import { type OpenAgent, openAgent } from "../agent/open-agent.ts";
import { runAgentCommandLine } from "../commands/agent-command-line.ts";
import { readConfiguration } from "../configuration/configuration.ts";

export interface Machine {
  readonly name: string;
  readonly folder: string;
  /** What the last command printed. */
  readonly printed: string[];
  /** What its agent logged. */
  readonly logged: string[];
  /** `threshold <words>`. @returns the exit code */
  threshold(...words: string[]): Promise<number>;
  /** As another machine's operator would read it. */
  transcript(): string;
  start(): Promise<OpenAgent>;
}

export type ThresholdWorld = Awaited<ReturnType<typeof makeThresholdWorld>>;

interface WorldOptions {
  readonly running: Pick<TestService, "service" | "baseUrl">;
  readonly org: TestOrganisation;
  readonly folder: string;
  readonly threshold: { readonly min: number; readonly max: number };
  /** Where the machines find the service: a double in front of it, say. */
  readonly address?: string;
  readonly tokenWaitSeconds?: number;
}

/** A pool, a client whose tokens it signs, and enrolled machines that have no key yet. */
export async function makeThresholdWorld(options: WorldOptions) {
  const { running, org, folder, threshold, address = running.baseUrl, tokenWaitSeconds = 20 } = options;
  const pool = await makePool(running.service, org, { algs: ["EdDSA"], threshold, tokenWaitSeconds });
  const client = await makeClient(running.service, org.organisation, {
    signingPoolId: pool.id,
    allowedScopes: ["jobs:run", "jobs:read"],
    grantTypes: ["client_credentials"],
  });
  const account = await makeSystemAccount(running.service, org, { administrator: true });
  await writeFile(path.join(folder, "secret"), `${account.secret}\n`, { mode: 0o600 });
  const enroll = async (name: string): Promise<Machine> => {
    const machine = machineIn(path.join(folder, name), name);
    await mkdir(machine.folder, { recursive: true, mode: 0o700 });
    const named = { service: running.baseUrl, organisation: org.organisation.id, pool: pool.id, name };
    const by = { account: account.publicKey, "account-secret-file": path.join(folder, "secret") };
    const words = Object.entries({ ...named, ...by, dir: machine.folder }).flatMap(([key, value]) => [
      `--${key}`,
      value,
    ]);
    const code = await run(machine, ["enroll", ...words, "--threshold"]);
    assert.equal(code, 0, machine.printed.join("\n"));
    await allow(machine, client.application.id);
    if (address !== running.baseUrl)
      await replaceIn(machine, "agent.yaml", `service: ${running.baseUrl}`, `service: ${address}`);
    return machine;
  };
  const machines: Machine[] = [];
  for (let index = 1; index <= threshold.max; index++) machines.push(await enroll(`machine-${index}`));
  return { pool, client, machines, enroll, issuer: `${org.issuer}/sovereign/pools/${pool.id}` };
}

async function allow(machine: Machine, clientId: string): Promise<void> {
  const allowed = `{ aud: [], scopes: ["jobs:run"], maxLifetime: 3600, grants: [client_credentials] }`;
  await replaceIn(machine, "policy.yaml", "clients: {}", `clients: { "${clientId}": ${allowed} }`);
  await replaceIn(machine, "agent.yaml", "metrics: { port: 9464 }", "metrics: { port: 0 }");
}

export async function replaceIn({ folder }: Machine, name: string, from: string, to: string): Promise<void> {
  const file = path.join(folder, name);
  const text = await readFile(file, "utf8");
  assert.ok(text.includes(from), `${name} has ${from}`);
  await writeFile(file, text.replace(from, to));
}

function machineIn(folder: string, name: string): Machine {
  const config = ["--config", path.join(folder, "agent.yaml")];
  const machine: Machine = {
    name,
    folder,
    printed: [],
    logged: [],
    threshold: (...words) => run(machine, ["threshold", ...words, ...config]),
    transcript: () => {
      const [, hash] = /Transcript: (\S+)/.exec(machine.printed.join("\n")) ?? [];
      assert.ok(hash, machine.printed.join("\n"));
      return hash;
    },
    start: async () =>
      openAgent(await readConfiguration(path.join(folder, "agent.yaml")), {
        log: (level, message, fields) =>
          machine.logged.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`),
        clock: Date.now,
      }),
  };
  return machine;
}

function run(machine: Machine, words: string[]): Promise<number> {
  machine.printed.length = 0;
  const print = (line: string) => machine.printed.push(line);
  const io = { print, printError: print, clock: Date.now, terminal: undefined, onSignal: () => {} };
  return runAgentCommandLine(words, io);
}

/** All machines join, and each operator confirms with what another machine shows. */
export async function holdCeremony(machines: readonly Machine[]): Promise<void> {
  const [first, ...others] = machines;
  assert.ok(first);
  const said = await Promise.all([
    first.threshold("create"),
    // They join as soon as it has begun.
    ...others.map((machine) => joinWhenBegun(machine)),
  ]);
  assert.deepEqual([...new Set(said)], [0], machines.map(({ printed }) => printed.join("\n")).join("\n"));
  const transcripts = machines.map((machine) => machine.transcript());
  for (const [index, machine] of machines.entries()) {
    const elsewhere = transcripts[(index + 1) % machines.length] ?? "";
    assert.equal(
      await machine.threshold("confirm", "--transcript", elsewhere),
      0,
      machine.printed.join("\n"),
    );
  }
}

async function joinWhenBegun(machine: Machine): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    const code = await machine.threshold("join");
    if (code === 0 || attempt >= 20 || !machine.printed.join("\n").includes("no key ceremony")) return code;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** @param members by name; the first one begins it. @returns the code of each command of `dealers` and `members` */
export async function holdReshare(
  all: readonly Machine[],
  { members, dealers }: { readonly members: readonly Machine[]; readonly dealers: readonly Machine[] },
): Promise<void> {
  const [first] = all;
  assert.ok(first);
  const must = async (machine: Machine, ...words: string[]) =>
    assert.equal(await machine.threshold(...words), 0, machine.printed.join("\n"));
  await must(first, "reshare", "--members", members.map(({ name }) => name).join(","), "--wait", "0");
  for (const machine of members) await must(machine, "join", "--wait", "0");
  const rosters = [];
  for (const machine of members) {
    await must(machine, "join", "--wait", "0");
    rosters.push(/Roster: (\S+)/.exec(machine.printed.join("\n"))?.[1]);
  }
  assert.deepEqual([...new Set(rosters)], [rosters[0]]);
  for (const machine of dealers) await must(machine, "deal", "--roster", rosters[0] ?? "");
  const transcripts = [];
  for (const machine of members) {
    await must(machine, "join");
    transcripts.push(machine.transcript());
  }
  for (const [index, machine] of members.entries())
    await must(machine, "confirm", "--transcript", transcripts[(index + 1) % members.length] ?? "");
}
