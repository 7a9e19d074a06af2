/** Metrics of the database: how long connections are waited for, and statements take. */
import { histogram } from "../../telemetry/families.ts";
import type { StatementObserver } from "./statement-observer.ts";

const acquired = histogram({
  name: "signet_database_acquire_seconds",
  help: "Time to get a connection of the pool",
});
const statements = histogram(
  {
    name: "signet_database_statement_seconds",
    help: "Time of statements by the function of the store, and of beginning and committing transactions",
  },
  ["function"],
  [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15],
);

export const measuredStatements: StatementObserver = {
  observe: async (name, run) => {
    const since = performance.now();
    try {
      return await run();
    } finally {
      statements.observe((performance.now() - since) / 1_000, name);
    }
  },
  onAcquired: (seconds) => acquired.observe(seconds),
};
