/** The listener for metrics. */
import { type Env, text, wholeNumber } from "./config-values.ts";

export interface MetricsSettings {
  readonly port: number;
  readonly host: string;
  /** Also by organisation, of the 20 that send most. */
  readonly hasOrganisations: boolean;
}

/** @param taken ports of other listeners. @returns undefined: nothing is measured */
export function metricsSettings(
  env: Env,
  taken: readonly number[],
  faults: string[],
): MetricsSettings | undefined {
  const [name, host, organisations] = [
    "SIGNET_METRICS_PORT",
    text(env, "SIGNET_METRICS_HOST"),
    text(env, "SIGNET_METRICS_ORGANISATIONS"),
  ];
  if (organisations !== undefined && organisations !== "top20")
    faults.push("SIGNET_METRICS_ORGANISATIONS must be top20, or unset: metrics then name no organisation");
  if (text(env, name) === undefined) {
    for (const [one, value] of [
      ["SIGNET_METRICS_HOST", host],
      ["SIGNET_METRICS_ORGANISATIONS", organisations],
    ])
      if (value !== undefined) faults.push(`${one} goes with ${name}`);
    return undefined;
  }
  const port = wholeNumber(env, name, { fallback: 0, min: 1, max: 65_535 }, faults);
  // 0: none, or none that is valid.
  if (port !== 0 && taken.includes(port))
    faults.push(`${name} must differ from the ports of the other listeners`);
  return { port, host: host ?? "127.0.0.1", hasOrganisations: organisations === "top20" };
}
