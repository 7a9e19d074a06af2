/** The keys of a configuration: shown, made, and told to the service when one takes over from another. */
import path from "node:path";
import { agentAlgs, isAgentAlg } from "@signet/protocol/agent-signature";
import { readConfiguration } from "../configuration.ts";
import { presentKey, registerKeys } from "../enrolment.ts";
import { closeKeys, openKeys } from "../keys/open-keys.ts";
import { createPemKey } from "../keys/pem-key.ts";
import { openConnections } from "../service/json-call.ts";
import { type Command, configFile, configOption, optionalText, requiredText, UsageError } from "./command.ts";
import { accountOf, accountOptions } from "./enroll-command.ts";

export const keysListCommand: Command = {
  name: "keys list",
  summary: "open every key of the configuration and show its kid",
  usage: "[--config FILE]",
  options: configOption,
  run: async ({ values, io }) => {
    const keys = await openKeys((await readConfiguration(configFile(values))).keys);
    for (const { kid, alg, place, x5c } of keys)
      io.print(`${kid}  ${alg.padEnd(5)}  ${place}${x5c ? `  (${x5c.length} certificates)` : ""}`);
    await closeKeys(keys);
    return 0;
  },
};

export const keysCreateCommand: Command = {
  name: "keys create",
  summary: "make a private key in a new file of mode 0600",
  usage: "FILE [--alg ALG]",
  options: {
    alg: { type: "string", value: "ALG", help: "ES256 (when left out), ES384, PS256, RS256 or EdDSA" },
  },
  mostPositionals: 1,
  run: async ({ values, positionals, io }) => {
    const [file] = positionals;
    if (file === undefined) throw new UsageError("the FILE is missing");
    const alg = optionalText(values, "alg") ?? "ES256";
    if (!isAgentAlg(alg)) throw new UsageError(`--alg must be one of ${agentAlgs.join(", ")}`);
    await createPemKey(file, alg);
    io.print(`Made ${path.resolve(file)}`);
    return 0;
  },
};

export const keysRegisterCommand: Command = {
  name: "keys register",
  summary: "tell the service of a key that was added to the configuration",
  usage: "--kid KID (--agent ID --account PUBLIC_KEY --account-secret-file FILE | --print) [--config FILE]",
  options: {
    ...configOption,
    agent: { type: "string", value: "ID", help: "this agent, as enroll said" },
    kid: { type: "string", value: "KID", help: "the key, as keys list shows it", required: true },
    ...accountOptions,
    print: {
      type: "boolean",
      help: "print what an administrator sends for this agent, and register nothing",
    },
  },
  run: async ({ values, io }) => {
    const configuration = await readConfiguration(configFile(values));
    const account = values["print"] === true ? undefined : await accountOf(values);
    const keys = await openKeys(configuration.keys);
    const connections = openConnections();
    try {
      const key = keys.find(({ kid }) => kid === requiredText(values, "kid"));
      if (!key) throw new UsageError("--kid is no key of the configuration, see: signet-agent keys list");
      const presented = [await presentKey(key, configuration, io.clock())];
      if (!account) {
        io.print(JSON.stringify({ keys: presented }, null, 2));
        return 0;
      }
      const call = { connections, place: configuration, account, clock: io.clock };
      const { keys: registered } = await registerKeys(call, requiredText(values, "agent"), presented);
      for (const { kid, state } of registered) io.print(`Key ${kid} is ${state}`);
      return 0;
    } finally {
      connections.close();
      await closeKeys(keys);
    }
  },
};
