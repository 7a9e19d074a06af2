import { execFile, spawn } from "node:child_process";
import { mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { killAtEnd } from "./child.ts";
import { entry, type RunningSignet } from "./contestants/signet-server.ts";

const agentEntry = fileURLToPath(new URL("../../packages/signing-agent/src/main.ts", import.meta.url));
const readyMs = 20_000;

/** A client whose tokens an agent signs, and that agent, running: set up by the commands that an operator types. */
export async function startPoolClient(
  { demo, port, settings }: RunningSignet,
  folder: string,
): Promise<{ clientId: string; clientSecret: string }> {
  const org = demo.issuer.split("/").at(-1) ?? "";
  const signet = async (...args: string[]) =>
    JSON.parse(await runs(entry, [...args, "--org", org, "--json"], settings)) as Record<string, string>;
  const { poolId = "" } = await signet("pool", "create", "--name", "Bench");
  const { clientId = "", clientSecret = "" } = await signet(
    ...["app", "create", "--name", "Bench", "--type", "confidential"],
    ...["--grant", "client_credentials", "--signing-pool", poolId],
  );
  mkdirSync(folder, { mode: 0o700 });
  const place = ["--service", `http://localhost:${port}`, "--organisation", org, "--pool", poolId];
  const presented = await runs(agentEntry, [
    "enroll",
    ...place,
    ...["--name", "bench", "--dir", folder, "--print"],
  ]);
  const keys = join(folder, "presented.json");
  writeFileSync(keys, presented);
  const { apiKey = "" } = await signet(
    ...["agent", "register", "--pool", poolId, "--name", "bench", "--keys", keys],
  );
  writeFileSync(join(folder, "api-key"), `${apiKey}\n`, { mode: 0o600 });
  const policy = readFileSync(join(folder, "policy.yaml"), "utf8");
  const client = `{ aud: [api], scopes: [], claims: [], maxLifetime: 3600, grants: [client_credentials] }`;
  writeFileSync(
    join(folder, "policy.yaml"),
    policy.replace("clients: {}", `clients:\n  ${clientId}: ${client}`),
  );
  // Its own port would be that of any other agent on this machine.
  const configuration = join(folder, "agent.yaml");
  const lines = readFileSync(configuration, "utf8").split("\n");
  writeFileSync(configuration, lines.filter((line) => !line.startsWith("metrics:")).join("\n"));
  const log = openSync(join(folder, "agent.log"), "a");
  killAtEnd(
    spawn(process.execPath, [agentEntry, "run", "--config", configuration], {
      env: { PATH: process.env["PATH"], NODE_ENV: "production" },
      stdio: ["ignore", log, log],
    }),
  );
  await firstToken(`${demo.issuer}/token`, { clientId, clientSecret }, join(folder, "agent.log"));
  return { clientId, clientSecret };
}

const execute = promisify(execFile);

async function runs(file: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const options = { env: { PATH: process.env["PATH"], ...env } };
  const { stdout } = await execute(process.execPath, [file, ...args], options);
  return stdout;
}

/** Waits until the agent signs. */
async function firstToken(
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
