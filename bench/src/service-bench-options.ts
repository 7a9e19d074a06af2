/** Command line options of the benchmarks that measure Signet alone. */
import { parseArgs } from "node:util";

export interface ServiceBenchOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  /** As in DATABASE_URL (default: SQLite in a temporary folder). */
  readonly database: string | undefined;
}

/** @param seconds default length of a round. @throws Error naming the invalid option */
export function readServiceBenchOptions(args: readonly string[], seconds: number): ServiceBenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: "string", default: "5" },
      seconds: { type: "string", default: String(seconds) },
      connections: { type: "string", default: "32" },
      database: { type: "string" },
    },
  });
  const whole = (name: "rounds" | "seconds" | "connections") => {
    const value = Number(values[name]);
    if (!Number.isInteger(value) || value < 1 || value > 512)
      throw new Error(`--${name}: must be a whole number from 1 to 512`);
    return value;
  };
  return {
    rounds: whole("rounds"),
    seconds: whole("seconds"),
    connections: whole("connections"),
    database: values.database,
  };
}
