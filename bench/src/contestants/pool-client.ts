import { spawn } from "node:child_process";
import { chmodSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { killAtEnd } from "../child.ts";
import { runProgram, runSignet } from "./signet-command.ts";
import type { RunningSignet } from "./signet-server.ts";

export const agentEntry = fileURLToPath(
  new URL("../../../packages/signing-agent/src/main.ts", import.meta.url),
);
const readyMs = 20_000;

export interface PoolAgent {
  readonly client: { readonly clientId: string; readonly clientSecret: string };
  readonly apiKey: string;
}

/** A client whose tokens an agent has to sign, and that agent, not running: by the commands that an operator types. */
export async function createPoolAgent(
  { demo, port, settings }: RunningSignet,
  folder: string,
): Promise<PoolAgent> {
  const signet = (...args: string[]) => runSignet(settings, [...args, "--org", demo.org]);
  const { poolId = "" } = await signet("pool", "create", "--name", "Bench");
  const { clientId = "", clientSecret = "" } = await signet(
    ...["app", "create", "--name", "Bench", "--type", "confidential"],
    ...["--grant", "client_credentials", "--signing-pool", poolId],
  );
  chmodSync(folder, 0o700);
  const place = ["--service", `http://localhost:${port}`, "--organisation", demo.org, "--pool", poolId];
  const enroll = ["enroll", ...place, "--name", "bench", "--dir", folder, "--print"];
  const keys = join(folder, "presented.json");
  writeFileSync(keys, await runProgram(agentEntry, enroll));
  const { apiKey = "" } = await signet(
    ...["agent", "register", "--pool", poolId, "--name", "bench", "--keys", keys],
  );
  return { client: { clientId, clientSecret }, apiKey };
}

/** The same, with the agent running. */
export async function startPoolClient(
  signet: RunningSignet,
  folder: string,
): Promise<{ clientId: string; clientSecret: string; agentPid: number }> {
  const { client, apiKey } = await createPoolAgent(signet, folder);
  writeFileSync(join(folder, "api-key"), `${apiKey}\n`, { mode: 0o600 });
  const policy = readFileSync(join(folder, "policy.yaml"), "utf8");
  const allowed = `{ aud: [api], scopes: [], claims: [], maxLifetime: 3600, grants: [client_credentials] }`;
  writeFileSync(
    join(folder, "policy.yaml"),
    policy.replace("clients: {}", `clients:\n  ${client.clientId}: ${allowed}`),
  );
  // Its own port would be that of any other agent on this machine.
  const configuration = join(folder, "agent.yaml");
  const lines = readFileSync(configuration, "utf8").split("\n");
  writeFileSync(configuration, lines.filter((line) => !line.startsWith("metrics:")).join("\n"));
  const log = openSync(join(folder, "agent.log"), "a");
  const agent = killAtEnd(
    spawn(process.execPath, [agentEntry, "run", "--config", configuration], {
      env: { PATH: process.env["PATH"], NODE_ENV: "production" },
      stdio: ["ignore", log, log],
    }),
  );
  await firstToken(`${signet.demo.issuer}/token`, client, join(folder, "agent.log"));
  return { ...client, agentPid: agent.pid ?? 0 };
}

/** Waits until the agent signs. */
export async function firstToken(
  url: string,
  { clientId, clientSecret }: { clientId: string; clientSecret: string },
  logFile: string,
): Promise<void> {
  const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
  for (const deadline = Date.now() + readyMs; Date.now() < deadline; await pause(200)) {
    const answer = await fetch(url, { method: "POST", body: new URLSearchParams(form) });
    await answer.arrayBuffer();
    if (answer.status === 200) return;
  }
  throw new Error(`the agent does not sign:\n${readFileSync(logFile, "utf8").slice(-2000)}`);
}
