/** What one of several workers gets of the limits that are meant for the whole machine. */
import type { Config } from "./config.ts";

/** At least one of each: a worker without a place for a password or a connection could not serve. */
export function workerShare(config: Config): Config {
  const { workers, passwordConcurrency, databasePoolSize } = config;
  return {
    ...config,
    passwordConcurrency: Math.max(1, Math.floor(passwordConcurrency / workers)),
    // A request that waits for a connection holds none, but the background work wants one beside it.
    databasePoolSize: Math.max(2, Math.floor(databasePoolSize / workers)),
  };
}
