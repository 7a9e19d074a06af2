/** `signet-agent witness …`: a witness of other organisations' ledgers (C2SP tlog-witness). */
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { optionalText, requiredText, textOption, UsageError } from "@signet/cli-runtime/command";
import { jsonLog } from "@signet/cli-runtime/log";
import { createPrivateFile } from "@signet/cli-runtime/private-file";
import { isKeyName } from "@signet/protocol/ledger/note";
import { createPemKey } from "../keys/pem-key.ts";
import { type OpenWitness, openWitness } from "../witness/open-witness.ts";
import { openWitnessKey, witnessKeyText } from "../witness/witness.ts";
import { logKeys, readWitnessConfiguration } from "../witness/witness-configuration.ts";
import { createWitnessState, openWitnessState } from "../witness/witness-state.ts";
import type { AgentCommand } from "./options.ts";

const configOption = {
  config: textOption("FILE", "the witness's configuration (default: witness.yaml)"),
};
const configFile = (values: Parameters<typeof optionalText>[0]): string =>
  optionalText(values, "config") ?? "witness.yaml";

export const witnessCreateCommand: AgentCommand = {
  name: "witness create",
  summary: "create a witness of ledgers: its key, its state and its configuration",
  usage: "--name NAME [--dir FOLDER]",
  options: {
    name: textOption("NAME", "the witness's name, e.g. witness.example/w1", { required: true }),
    dir: textOption("FOLDER", "folder for the files (default: the current folder)"),
  },
  run: async ({ values, io }) => {
    const name = requiredText(values, "name");
    if (!isKeyName(name)) throw new UsageError("--name must be at most 255 characters without spaces and +");
    const folder = path.resolve(optionalText(values, "dir") ?? ".");
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const keyFile = path.join(folder, "witness-key.pem");
    await createPemKey(keyFile, "EdDSA");
    const verifierKey = witnessKeyText(await openWitnessKey(name, keyFile));
    await createWitnessState(path.join(folder, "witness.db"), verifierKey);
    const lines = [
      `name: ${JSON.stringify(name)}`,
      "keyFile: witness-key.pem",
      "stateFile: witness.db",
      "listen: { host: 127.0.0.1, port: 9475 }",
      "# The keys of the logs to witness, as `signet ledger show` prints them.",
      "logs: []\n",
    ];
    await createPrivateFile(path.join(folder, "witness.yaml"), lines.join("\n"));
    io.print(verifierKey);
    return 0;
  },
};

/** Until SIGTERM or SIGINT; SIGHUP reads the logs anew. */
export const witnessRunCommand: AgentCommand = {
  name: "witness run",
  summary: "cosign the checkpoints of the configured logs until stopped",
  usage: "[--config FILE]",
  options: configOption,
  run: async ({ values, io }) => {
    let witness: OpenWitness | undefined;
    // Before anything slow: by default SIGHUP would end the process.
    io.onSignal("SIGHUP", () => void witness?.reload());
    witness = await openWitness(configFile(values), {
      ...{ log: jsonLog(io.print, io.clock), clock: io.clock },
    });
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
    for (const signal of ["SIGTERM", "SIGINT"] as const) io.onSignal(signal, stop);
    await stopped;
    await witness.stop();
    return 0;
  },
};

export const witnessShowCommand: AgentCommand = {
  name: "witness show",
  summary: "show the witness's key, and the size of each log as it has cosigned it",
  usage: "[--config FILE]",
  options: configOption,
  run: async ({ values, io }) => {
    const configuration = await readWitnessConfiguration(configFile(values));
    const verifierKey = witnessKeyText(await openWitnessKey(configuration.name, configuration.keyFile));
    io.print(verifierKey);
    const state = openWitnessState(configuration.stateFile, verifierKey);
    try {
      for (const origin of logKeys(configuration).keys())
        io.print(`${origin}  ${state.latestOf(origin)?.size ?? "nothing cosigned"}`);
    } finally {
      state.close();
    }
    return 0;
  },
};
