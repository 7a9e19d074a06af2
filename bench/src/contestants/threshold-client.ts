/** A client whose tokens a threshold pool signs: three agents with shares of a key, by the commands that their operators type. */
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { killAtEnd } from "../child.ts";
import { agentEntry, firstToken } from "./pool-client.ts";
import { runProgram, runSignet } from "./signet-command.ts";
import type { RunningSignet } from "./signet-server.ts";

export interface ThresholdClient {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly agentPids: readonly number[];
}

/** @param threshold like 2/3 */
export async function startThresholdClient(
  running: RunningSignet,
  folder: string,
  threshold: string,
): Promise<ThresholdClient> {
  const { demo, port, settings } = running;
  const signet = (...args: string[]) => runSignet(settings, [...args, "--org", demo.org]);
  const { poolId = "" } = await signet("pool", "create", "--name", "Together", "--threshold", threshold);
  const { clientId = "", clientSecret = "" } = await signet(
    ...["app", "create", "--name", "Together", "--type", "confidential"],
    ...["--grant", "client_credentials", "--signing-pool", poolId],
  );
  const folders = Array.from({ length: Number(threshold.split("/")[1]) }, (_, index) =>
    join(folder, `${index}`),
  );
  for (const [index, own] of folders.entries()) {
    mkdirSync(own);
    chmodSync(own, 0o700);
    const place = ["--service", `http://localhost:${port}`, "--organisation", demo.org, "--pool", poolId];
    const name = `together-${index}`;
    const enroll = ["enroll", ...place, "--name", name, "--dir", own, "--threshold", "--print"];
    const keys = join(own, "presented.json");
    writeFileSync(keys, await runProgram(agentEntry, enroll));
    const registered = await signet("agent", "register", "--pool", poolId, "--name", name, "--keys", keys);
    writeFileSync(join(own, "api-key"), `${registered["apiKey"]}\n`, { mode: 0o600 });
    allow(own, clientId);
  }
  await holdCeremony(folders);
  const agentPids = folders.map((own) => {
    const log = openSync(join(own, "agent.log"), "a");
    const agent = spawn(process.execPath, [agentEntry, "run", "--config", join(own, "agent.yaml")], {
      env: { PATH: process.env["PATH"], NODE_ENV: "production" },
      stdio: ["ignore", log, log],
    });
    return killAtEnd(agent).pid ?? 0;
  });
  const client = { clientId, clientSecret };
  await firstToken(`${demo.issuer}/token`, client, join(folders[0] ?? "", "agent.log"));
  return { ...client, agentPids };
}

function allow(folder: string, clientId: string): void {
  const policy = readFileSync(join(folder, "policy.yaml"), "utf8");
  const allowed = `{ aud: [api], scopes: [], claims: [], maxLifetime: 3600, grants: [client_credentials] }`;
  writeFileSync(
    join(folder, "policy.yaml"),
    policy.replace("clients: {}", `clients:\n  ${clientId}: ${allowed}`),
  );
  const configuration = join(folder, "agent.yaml");
  const lines = readFileSync(configuration, "utf8").split("\n");
  writeFileSync(configuration, lines.filter((line) => !line.startsWith("metrics:")).join("\n"));
}

/** The machines' operators are all here, and read each other's screens. */
async function holdCeremony(folders: readonly string[]): Promise<void> {
  const threshold = (own: string, ...words: string[]) =>
    runProgram(agentEntry, ["threshold", ...words, "--config", join(own, "agent.yaml")]);
  const [first = "", ...others] = folders;
  await threshold(first, "create", "--wait", "0");
  for (const own of others) await threshold(own, "join", "--wait", "0");
  const printed = await Promise.all(folders.map((own) => threshold(own, "join")));
  const [, transcript = ""] = /Transcript: (\S+)/.exec(printed.join("\n")) ?? [];
  for (const own of folders) await threshold(own, "confirm", "--transcript", transcript);
}
