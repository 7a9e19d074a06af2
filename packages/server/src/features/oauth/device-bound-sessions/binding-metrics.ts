/** What became of the calls that bind sessions to keys. */
import { counter } from "../../../telemetry/families.ts";

const bindings = counter(
  {
    name: "signet_device_bound_sessions_total",
    help: "Device-bound sessions: keys registered, cookies refreshed, and proofs refused for another key",
  },
  ["outcome"],
);

export const countBinding = (outcome: "registered" | "refreshed" | "refused"): void => {
  bindings.at(outcome).value++;
};
