/** A running witness: its key, its state, its server and its metrics. */
import type { Log } from "@signet/cli-runtime/log";
import { describeError } from "@signet/cli-runtime/redact";
import { Counter, Gauge, Registry } from "prom-client";
import { serveMetrics } from "../agent/metrics.ts";
import { openWitnessKey, witnessKeyText } from "./witness.ts";
import { logKeys, readWitnessConfiguration } from "./witness-configuration.ts";
import { startWitnessServer } from "./witness-server.ts";
import { openWitnessState } from "./witness-state.ts";

export interface OpenWitness {
  readonly port: number;
  readonly verifierKey: string;
  /** Reads the logs of the configuration anew; a faulty file changes nothing. */
  reload(): Promise<void>;
  stop(): Promise<void>;
}

/** @param file `witness.yaml` */
export async function openWitness(
  file: string,
  { log, clock }: { readonly log: Log; readonly clock: () => number },
): Promise<OpenWitness> {
  const configuration = await readWitnessConfiguration(file);
  const { name, keyFile, stateFile, listen } = configuration;
  const signer = await openWitnessKey(name, keyFile);
  const verifierKey = witnessKeyText(signer);
  const state = openWitnessState(stateFile, verifierKey);
  let logs = logKeys(configuration);
  const { registry, count } = createWitnessMetrics();
  try {
    const deps = { signer, state, clock, log, logs: () => logs };
    const server = await startWitnessServer({ ...deps, listen, onAnswer: count });
    const metrics =
      configuration.metrics && (await serveMetrics(configuration.metrics, registry, () => true));
    log("info", "witness started", { verifierKey, port: server.port, logs: logs.size });
    return {
      ...{ port: server.port, verifierKey },
      reload: async () => {
        try {
          logs = logKeys(await readWitnessConfiguration(file));
          log("info", "logs reloaded", { logs: logs.size });
        } catch (error) {
          log("error", "the logs stay as they were", { reason: describeError(error) });
        }
      },
      stop: async () => {
        await server.close();
        await metrics?.close();
        state.close();
      },
    };
  } catch (error) {
    state.close();
    throw error;
  }
}

function createWitnessMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const answers = new Counter({
    ...{ name: "signet_witness_answers_total", help: "Answers to add-checkpoint by HTTP status", registers },
    labelNames: ["status"],
  });
  const sizes = new Gauge({
    ...{ name: "signet_witness_tree_size", help: "Entries of the newest cosigned tree", registers },
    labelNames: ["origin"],
  });
  const count = (answer: { readonly status: number; readonly origin?: string; readonly size?: number }) => {
    answers.inc({ status: String(answer.status) });
    if (answer.origin !== undefined && answer.size !== undefined)
      sizes.set({ origin: answer.origin }, answer.size);
  };
  return { registry, count };
}
