/** `signet-agent enroll`: a key, the agent's registration, and the files that `run` wants. */
import { access, mkdir } from "node:fs/promises";
import path from "node:path";
import { isAgentAlg } from "@signet/protocol/agent-signature";
import { isUuid } from "@signet/protocol/hash";
import { isServiceAddress } from "@signet/protocol/service-address";
import type { KeyPlace } from "../configuration.ts";
import { presentKey, registerAgent, type SystemAccount } from "../enrolment.ts";
import { closeKeys, openKeys } from "../keys/open-keys.ts";
import { createPemKey } from "../keys/pem-key.ts";
import { createPrivateFile, readSecretFile } from "../private-file.ts";
import { openConnections } from "../service/json-call.ts";
import { type PoolPlace, poolAddress } from "../sovereign-address.ts";
import {
  type Call,
  type Command,
  type Io,
  optionalText,
  requiredText,
  UsageError,
  type Values,
} from "./command.ts";

export const accountOptions = {
  account: { type: "string", value: "PUBLIC_KEY", help: "public key of an administrator's system account" },
  "account-secret-file": { type: "string", value: "FILE", help: "a file of mode 0600 with its secret" },
} as const;

export const enrollCommand: Command = {
  name: "enroll",
  summary: "make a key, register this agent, write its files",
  usage:
    "--service URL --organisation ID --pool ID --name NAME (--account PUBLIC_KEY --account-secret-file FILE | --print)",
  options: {
    service: { type: "string", value: "URL", help: "the service's address", required: true },
    organisation: { type: "string", value: "ID", help: "the organisation", required: true },
    pool: { type: "string", value: "ID", help: "the signing pool", required: true },
    name: { type: "string", value: "NAME", help: "how administrators will know this agent", required: true },
    dir: { type: "string", value: "FOLDER", help: "where the files go: this folder when left out" },
    alg: { type: "string", value: "ALG", help: "ES256 (when left out), ES384, PS256, RS256 or EdDSA" },
    key: { type: "string", value: "FILE", help: "a private key in PEM that is there already" },
    chain: { type: "string", value: "FILE", help: "the key's certificates in PEM, its own first" },
    ...accountOptions,
    print: {
      type: "boolean",
      help: "print the registration for an administrator to send, and register nothing",
    },
  },
  run: async (call) => {
    const { values, io } = call;
    const place = placeOf(values);
    const folder = path.resolve(optionalText(values, "dir") ?? ".");
    const account = values["print"] === true ? undefined : await accountOf(values);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await refuseEnrolled(folder);
    const keyPlace = await keyPlaceOf(call, folder);
    const keys = await openKeys([keyPlace]);
    try {
      const presented = await Promise.all(keys.map((key) => presentKey(key, place, io.clock())));
      const name = requiredText(values, "name");
      await writeFiles(folder, place, keyPlace);
      if (!account) {
        io.print(JSON.stringify({ poolId: place.pool, name, keys: presented }, null, 2));
        io.printError(
          `Have it registered within five minutes, and put the API key in ${folder}/api-key (mode 0600)`,
        );
        return 0;
      }
      const connections = openConnections();
      const call = { connections, place, account, clock: io.clock };
      const registered = await registerAgent(call, { name, keys: presented }).finally(connections.close);
      await createPrivateFile(path.join(folder, "api-key"), `${registered.apiKey}\n`);
      tell(io, registered, folder);
      return 0;
    } finally {
      await closeKeys(keys);
    }
  },
};

function placeOf(values: Values): PoolPlace {
  const service = requiredText(values, "service");
  if (!isServiceAddress(service))
    throw new UsageError("--service must be an https address, or http on this machine");
  const [organisation, pool] = ["organisation", "pool"].map((name) => {
    const id = requiredText(values, name).toLowerCase();
    if (!isUuid(id)) throw new UsageError(`--${name} must be a UUID`);
    return id;
  });
  return { service, organisation: organisation ?? "", pool: pool ?? "" };
}

/** The account that registers. @throws UsageError when it is not named whole */
export async function accountOf(values: Values): Promise<SystemAccount> {
  const publicKey = requiredText(values, "account");
  return { publicKey, secret: await readSecretFile(requiredText(values, "account-secret-file")) };
}

async function refuseEnrolled(folder: string): Promise<void> {
  const file = path.join(folder, "api-key");
  const isThere = await access(file).then(
    () => true,
    () => false,
  );
  if (isThere) throw new UsageError(`${file} is there: this agent is registered already`);
}

/** The key that was named, else the one of the folder, else a new one. */
async function keyPlaceOf({ values, io }: Call, folder: string): Promise<KeyPlace> {
  const alg = optionalText(values, "alg");
  if (alg !== undefined && !isAgentAlg(alg)) throw new UsageError(`--alg cannot be ${alg}`);
  const named = optionalText(values, "key");
  const file = named === undefined ? path.join(folder, "key.pem") : path.resolve(named);
  const chain = optionalText(values, "chain");
  if (named === undefined)
    try {
      await createPemKey(file, alg ?? "ES256");
      io.printError(`Made ${file}`);
    } catch (error) {
      // Of an enrolment that was refused: the key is as good as a new one.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  return {
    file,
    ...(alg === undefined ? {} : { alg }),
    ...(chain === undefined ? {} : { chain: path.resolve(chain) }),
  };
}

async function writeFiles(folder: string, place: PoolPlace, { file, alg, chain }: KeyPlace): Promise<void> {
  const relative = (name: string) => path.relative(folder, name);
  const configuration = [
    `service: ${place.service}`,
    `organisation: ${place.organisation}`,
    `pool: ${place.pool}`,
    "apiKeyFile: api-key",
    "policyFile: policy.yaml",
    "journalFile: journal.jsonl",
    "keys:",
    `  - file: ${relative(file ?? "key.pem")}`,
    ...(alg === undefined ? [] : [`    alg: ${alg}`]),
    ...(chain === undefined ? [] : [`    chain: ${relative(chain)}`]),
    "metrics: { port: 9464 }",
    "",
  ];
  const policy = [
    "# What this agent signs. What is not written here is refused. The documentation has every member.",
    `issuer: ${poolAddress(place)}`,
    "clients: {}",
    "",
  ];
  await createUnlessThere(path.join(folder, "agent.yaml"), configuration.join("\n"));
  await createUnlessThere(path.join(folder, "policy.yaml"), policy.join("\n"));
}

async function createUnlessThere(file: string, text: string): Promise<void> {
  await createPrivateFile(file, text).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}

function tell(io: Io, { agentId, keys }: Awaited<ReturnType<typeof registerAgent>>, folder: string): void {
  io.print(`Registered as agent ${agentId}`);
  for (const { kid, state } of keys) io.print(`Key ${kid} is ${state}`);
  io.print(`Say in ${path.join(folder, "policy.yaml")} what may be signed, then:`);
  io.print(`  signet-agent run --config ${path.join(folder, "agent.yaml")}`);
}
