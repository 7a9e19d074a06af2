/** The keys of a configuration: list, create, and register with the service. */
import path from "node:path";
import { optionalText, requiredText, textOption, UsageError } from "@signet/cli-runtime/command";
import { agentAlgs, isAgentAlg } from "@signet/protocol/agent-signature";
import { readConfiguration } from "../configuration/configuration.ts";
import { closeKeys, openKeys } from "../keys/open-keys.ts";
import { createPemKey } from "../keys/pem-key.ts";
import { openJsonClient } from "../service/json-client.ts";
import { proveKey, registerKeys } from "../service/register-agent.ts";
import {
  type AgentCommand,
  accountOptions,
  algOption,
  configFile,
  configOption,
  readAccount,
} from "./options.ts";

export const keysListCommand: AgentCommand = {
  name: "keys list",
  summary: "open every configured key and show its kid",
  usage: "[--jwk] [--config FILE]",
  options: { ...configOption, jwk: { type: "boolean", help: "as public JWKs, for other agents' approvals" } },
  run: async ({ values, io }) => {
    const keys = await openKeys((await readConfiguration(configFile(values))).keys);
    if (values["jwk"] === true)
      for (const { publicJwk, alg } of keys) io.print(JSON.stringify({ ...publicJwk, alg }));
    else
      for (const { kid, alg, location, x5c } of keys)
        io.print(`${kid}  ${alg.padEnd(9)}  ${location}${x5c ? `  (${x5c.length} certificates)` : ""}`);
    await closeKeys(keys);
    return 0;
  },
};

export const keysCreateCommand: AgentCommand = {
  name: "keys create",
  summary: "create a private key in a new file of mode 0600",
  usage: "FILE [--alg ALG]",
  options: algOption,
  maxPositionals: 1,
  run: async ({ values, positionals, io }) => {
    const [file] = positionals;
    if (file === undefined) throw new UsageError("FILE is missing");
    const alg = optionalText(values, "alg") ?? "ES256";
    if (!isAgentAlg(alg)) throw new UsageError(`--alg must be one of ${agentAlgs.join(", ")}`);
    await createPemKey(file, alg);
    io.print(`Created ${path.resolve(file)}`);
    return 0;
  },
};

export const keysRegisterCommand: AgentCommand = {
  name: "keys register",
  summary: "register a key that was added to the configuration",
  usage: "--kid KID (--agent ID --account PUBLIC_KEY --account-secret-file FILE | --print) [--config FILE]",
  options: {
    ...configOption,
    agent: textOption("ID", "this agent's id, as shown by enroll"),
    kid: textOption("KID", "the key, as shown by keys list", { required: true }),
    ...accountOptions,
  },
  run: async ({ values, io }) => {
    const configuration = await readConfiguration(configFile(values));
    const account = await readAccount(values);
    const keys = await openKeys(configuration.keys);
    const client = openJsonClient();
    try {
      const key = keys.find(({ kid }) => kid === requiredText(values, "kid"));
      if (!key) throw new UsageError("--kid is not a configured key: see signet-agent keys list");
      const proven = [await proveKey(key, configuration, io.clock())];
      if (!account) {
        io.print(JSON.stringify({ keys: proven }, null, 2));
        return 0;
      }
      const call = { client, pool: configuration, account, clock: io.clock };
      const { keys: registered } = await registerKeys(call, requiredText(values, "agent"), proven);
      for (const { kid, state } of registered) io.print(`Key ${kid} is ${state}`);
      return 0;
    } finally {
      client.close();
      await closeKeys(keys);
    }
  },
};
