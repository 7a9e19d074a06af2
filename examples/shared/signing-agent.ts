/**
 * The organisation's signing agent, for sovereign-api.ts: `packages/signing-agent` as a separate process. Its private key is
 * created in its folder and stays there: the service gets the public key, and the API its thumbprint.
 */
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";

const program = fileURLToPath(new URL("../../packages/signing-agent/src/main.ts", import.meta.url));
const run = async (...words: string[]) =>
  (await promisify(execFile)(process.execPath, [program, ...words])).stdout;

/**
 * Makes and registers the agent's key, unless an earlier start has.
 * @returns the key's thumbprint (RFC 7638), which the agent's operator hands to whoever is to trust it
 */
export async function enrolAgent(demo: DemoFile, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFiles(demo, folder);
  if (!existsSync(path.join(folder, "api-key"))) await register(demo, folder);
  const keys = await run("keys", "list", "--config", path.join(folder, "agent.yaml"));
  return keys.slice(0, keys.indexOf(" "));
}

/** As an administrator of the organisation, whose account is needed this once. */
async function register({ baseUrl, org, examples, administratorAccount }: DemoFile, folder: string) {
  const secretFile = path.join(folder, "account-secret");
  await writeFile(secretFile, administratorAccount.secretKey, { mode: 0o600 });
  const place = ["--service", baseUrl, "--organisation", org, "--pool", examples.sovereign.poolId];
  const account = ["--account", administratorAccount.publicKey, "--account-secret-file", secretFile];
  await run("enroll", ...place, "--name", "Example agent", "--dir", folder, ...account).finally(() =>
    rm(secretFile),
  );
}

/** What the agent serves, and all that it may sign: access tokens of one client, for one API, with one scope. */
async function writeFiles({ baseUrl, org, issuer, examples }: DemoFile, folder: string): Promise<void> {
  const { poolId, clientId } = examples.sovereign;
  const configuration = `service: ${baseUrl}
organisation: ${org}
pool: ${poolId}
apiKeyFile: api-key
policyFile: policy.yaml
journalFile: journal.jsonl
keys:
  - file: key.pem
`;
  const allowed = `{ aud: ["${examples.notesApp.audience}"], scopes: ["notes:read"], maxLifetime: 3600, grants: [client_credentials] }`;
  const policy = `issuer: ${issuer}/sovereign/pools/${poolId}\nclients:\n  ${clientId}: ${allowed}\n`;
  await writeFile(path.join(folder, "agent.yaml"), configuration, { mode: 0o600 });
  await writeFile(path.join(folder, "policy.yaml"), policy, { mode: 0o600 });
}

/** Runs it beside this program, and ends it with this program. Resolves when it has reached the service. */
export async function startAgent(folder: string): Promise<void> {
  const child = spawn(process.execPath, [program, "run", "--config", path.join(folder, "agent.yaml")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  process.once("exit", () => child.kill());
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit());
  for await (const line of createInterface(child.stdout)) {
    const { message, reason } = JSON.parse(line) as { message: string; reason?: string };
    if (reason !== undefined) console.error(`The signing agent says: ${message}: ${reason}`);
    if (message === "the service answers") break;
  }
  if (child.exitCode !== null) throw new Error("the signing agent has ended");
  child.stdout.resume();
}
