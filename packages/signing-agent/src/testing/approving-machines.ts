/** Machines of a pool whose signatures several agents approve, enrolled as operators do it, each with the others' keys in its configuration. */
import assert from "node:assert/strict";
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { makePool } from "@signet/server/testing/fixtures/agent";
import { makeSystemAccount } from "@signet/server/testing/fixtures/system-account";
import { makeClient, type TestOrganisation, type TestService } from "@signet/server/testing/test-service";
import { type OpenAgent, openAgent } from "../agent/open-agent.ts";
import { runAgentCommandLine } from "../commands/agent-command-line.ts";
import { readConfiguration } from "../configuration/configuration.ts";
import { replaceIn } from "./threshold-machines.ts";

export interface ApprovingMachine {
  readonly folder: string;
  readonly logged: string[];
  start(): Promise<OpenAgent>;
}

interface WorldOptions {
  readonly running: TestService;
  readonly org: TestOrganisation;
  readonly folder: string;
  readonly approvals: number;
  readonly count: number;
  /** Lines of `agent.yaml`. */
  readonly more?: (machine: string) => string;
}

export async function makeApprovingWorld({ running, org, folder, approvals, count, more }: WorldOptions) {
  const pool = await makePool(running.service, org, { approvals, tokenWaitSeconds: 20 });
  const client = await makeClient(running.service, org.organisation, {
    signingPoolId: pool.id,
    allowedScopes: ["jobs:run", "jobs:read"],
    grantTypes: ["client_credentials"],
  });
  const account = await makeSystemAccount(running.service, org, { administrator: true });
  await writeFile(path.join(folder, "secret"), `${account.secret}\n`, { mode: 0o600 });
  const machines: Array<ApprovingMachine & { readonly jwk: string }> = [];
  for (let index = 1; index <= count; index++) {
    const own = path.join(folder, `machine-${index}`);
    await mkdir(own, { recursive: true, mode: 0o700 });
    const named = { service: running.baseUrl, organisation: org.organisation.id, pool: pool.id };
    const by = { account: account.publicKey, "account-secret-file": path.join(folder, "secret") };
    const options = { ...named, ...by, name: `machine-${index}`, dir: own };
    await run(["enroll", ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])]);
    const config = path.join(own, "agent.yaml");
    const [jwk = ""] = await run(["keys", "list", "--jwk", "--config", config]);
    const logged: string[] = [];
    const log = (level: string, message: string, fields?: object) =>
      logged.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`);
    const start = async () => openAgent(await readConfiguration(config), { log, clock: Date.now });
    machines.push({ folder: own, logged, jwk, start });
  }
  const allowed = `{ aud: [], scopes: ["jobs:run"], maxLifetime: 3600, grants: [client_credentials] }`;
  for (const machine of machines) {
    const named = { ...machine, name: "", printed: [], threshold: async () => 0, transcript: () => "" };
    await replaceIn(
      named,
      "policy.yaml",
      "clients: {}",
      `clients: { "${client.application.id}": ${allowed} }`,
    );
    await replaceIn(named, "agent.yaml", "metrics: { port: 9464 }", "metrics: { port: 0 }");
    const others = machines.filter((one) => one !== machine);
    const lines = others.map((one) => `    - { name: ${path.basename(one.folder)}, keys: [${one.jwk}] }`);
    const text = `approvals:\n  required: ${approvals}\n  agents:\n${lines.join("\n")}\n`;
    await appendFile(path.join(machine.folder, "agent.yaml"), `${text}${more?.(machine.folder) ?? ""}`);
  }
  return { pool, client, machines, issuer: `${org.issuer}/sovereign/pools/${pool.id}` };
}

async function run(words: string[]): Promise<string[]> {
  const printed: string[] = [];
  const print = (line: string) => printed.push(line);
  const io = { print, printError: print, clock: Date.now, terminal: undefined, onSignal: () => {} };
  assert.equal(await runAgentCommandLine(words, io), 0, printed.join("\n"));
  return printed;
}

export async function readJournal({ folder }: ApprovingMachine): Promise<Array<Record<string, unknown>>> {
  const text = await readFile(path.join(folder, "journal.jsonl"), "utf8").catch(() => "");
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}
