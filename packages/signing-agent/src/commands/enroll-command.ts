/** `signet-agent enroll`: creates a key, registers the agent, and writes the files that `run` needs. */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import {
  type Call,
  flag,
  type Io,
  optionalText,
  requiredText,
  textOption,
  UsageError,
  type Values,
} from "@signet/cli-runtime/command";
import { createPrivateFile } from "@signet/cli-runtime/private-file";
import { agentAlgs, isAgentAlg } from "@signet/protocol/agent-signature";
import { isUuid } from "@signet/protocol/hash";
import { isServiceAddress } from "@signet/protocol/service-address";
import type { KeyConfiguration } from "../configuration/configuration.ts";
import { closeKeys, openKeys } from "../keys/open-keys.ts";
import { createPemKey } from "../keys/pem-key.ts";
import { openJsonClient } from "../service/json-client.ts";
import { proveKey, type RegisteredKeys, registerAgent } from "../service/register-agent.ts";
import { type PoolAddress, poolUrl } from "../service/signing-service.ts";
import { createSealingKey } from "../threshold/sealed-folder.ts";
import { type AgentCommand, accountOptions, algOption, readAccount } from "./options.ts";

export const enrollCommand: AgentCommand = {
  name: "enroll",
  summary: "create a key, register this agent and write its files",
  usage:
    "--service URL --organisation ID --pool ID --name NAME (--account PUBLIC_KEY --account-secret-file FILE | --print)",
  options: {
    service: textOption("URL", "the service's address", { required: true }),
    organisation: textOption("ID", "the organisation", { required: true }),
    pool: textOption("ID", "the signing pool", { required: true }),
    name: textOption("NAME", "the agent's name in the console", { required: true }),
    dir: textOption("FOLDER", "folder for the files (default: the current folder)"),
    ...algOption,
    key: textOption("FILE", "an existing private key in PEM"),
    chain: textOption("FILE", "the key's certificate chain in PEM, leaf first"),
    threshold: flag("for a pool whose key exists nowhere: the key is this machine's identity (Ed25519)"),
    ...accountOptions,
  },
  run: async (call) => {
    const { values, io } = call;
    const pool = readPoolAddress(values);
    const name = requiredText(values, "name");
    const folder = path.resolve(optionalText(values, "dir") ?? ".");
    const account = await readAccount(values);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const apiKeyFile = path.join(folder, "api-key");
    if (existsSync(apiKeyFile))
      throw new UsageError(`${apiKeyFile} exists: this agent is already registered`);
    const key = await chooseKey(call, folder);
    const keys = await openKeys([key]);
    const client = openJsonClient();
    try {
      const proven = await Promise.all(keys.map((one) => proveKey(one, pool, io.clock())));
      await writeFiles(folder, pool, key, values["threshold"] === true);
      if (values["threshold"] === true)
        await createIfMissing(createSealingKey(path.join(folder, SEALING_KEY)));
      if (!account) {
        io.print(JSON.stringify({ poolId: pool.pool, name, keys: proven }, null, 2));
        io.printError(`An administrator must register this within five minutes.`);
        io.printError(`Then put the API key in ${apiKeyFile} (mode 0600).`);
        return 0;
      }
      const call = { client, pool, account, clock: io.clock };
      const registered = await registerAgent(call, { name, keys: proven });
      await createPrivateFile(apiKeyFile, `${registered.apiKey}\n`);
      printNextSteps(io, registered, folder);
      return 0;
    } finally {
      client.close();
      await closeKeys(keys);
    }
  },
};

function readPoolAddress(values: Values): PoolAddress {
  const service = requiredText(values, "service");
  if (!isServiceAddress(service))
    throw new UsageError("--service must be an https URL, or http on this machine");
  const readId = (option: string) => {
    const id = requiredText(values, option).toLowerCase();
    if (!isUuid(id)) throw new UsageError(`--${option} must be a UUID`);
    return id;
  };
  return { service, organisation: readId("organisation"), pool: readId("pool") };
}

/** The key from `--key`, the folder's own key, or a new one. */
async function chooseKey({ values, io }: Call, folder: string): Promise<KeyConfiguration> {
  const isThreshold = values["threshold"] === true;
  const alg = optionalText(values, "alg") ?? (isThreshold ? "EdDSA" : undefined);
  if (isThreshold && alg !== "EdDSA") throw new UsageError("--threshold needs --alg EdDSA");
  if (alg !== undefined && !isAgentAlg(alg))
    throw new UsageError(`--alg must be one of ${agentAlgs.join(", ")}`);
  const given = optionalText(values, "key");
  const file = given === undefined ? path.join(folder, "key.pem") : path.resolve(given);
  const chain = optionalText(values, "chain");
  if (given === undefined && (await createIfMissing(createPemKey(file, alg ?? "ES256"))))
    io.printError(`Created ${file}`);
  return { file, ...(alg && { alg }), ...(chain !== undefined && { chain: path.resolve(chain) }) };
}

/** @returns false for a file that an earlier, failed enrolment has left: it is as good as a new one */
async function createIfMissing(creation: Promise<void>): Promise<boolean> {
  try {
    await creation;
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

/** Better kept elsewhere, where the machine has a place for secrets: docs/signing-agent.md. */
const SEALING_KEY = "sealing-key";

async function writeFiles(
  folder: string,
  pool: PoolAddress,
  key: KeyConfiguration,
  isThreshold: boolean,
): Promise<void> {
  const { file = "key.pem", alg, chain } = key;
  const configuration = [
    `service: ${pool.service}`,
    `organisation: ${pool.organisation}`,
    `pool: ${pool.pool}`,
    "apiKeyFile: api-key",
    "policyFile: policy.yaml",
    "journalFile: journal.jsonl",
    "keys:",
    `  - file: ${path.relative(folder, file)}`,
    ...(alg === undefined ? [] : [`    alg: ${alg}`]),
    ...(chain === undefined ? [] : [`    chain: ${path.relative(folder, chain)}`]),
    ...(isThreshold ? [`threshold: { folder: threshold, sealingKeyFile: ${SEALING_KEY} }`] : []),
    "metrics: { port: 9464 }\n",
  ];
  const policy = [
    "# What this agent signs. Anything not listed here is refused. See docs/signing-agent.md.",
    `issuer: ${poolUrl(pool)}`,
    "clients: {}\n",
  ];
  for (const [name, lines] of Object.entries({ "agent.yaml": configuration, "policy.yaml": policy }))
    await createIfMissing(createPrivateFile(path.join(folder, name), lines.join("\n")));
}

function printNextSteps(io: Io, { agentId, keys }: RegisteredKeys, folder: string): void {
  io.print(`Registered as agent ${agentId}`);
  for (const { kid, state } of keys) io.print(`Key ${kid} is ${state}`);
  io.print(`Edit ${path.join(folder, "policy.yaml")} to allow what the agent may sign, then run:`);
  io.print(`  signet-agent run --config ${path.join(folder, "agent.yaml")}`);
}
