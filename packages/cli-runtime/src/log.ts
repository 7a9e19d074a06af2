/** One JSON line per event. Never claims, keys, codes or tokens. */
import { redact } from "./redact.ts";

export type LogLevel = "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, unknown>>;
export type Log = (level: LogLevel, message: string, fields?: LogFields) => void;

export function jsonLog(write: (line: string) => void, clock: () => number): Log {
  return (level, message, fields = {}) => {
    const safe = JSON.stringify({ level, message, ...fields }, (_, value) =>
      typeof value === "string" ? redact(value) : value,
    );
    write(`{"time":"${new Date(clock()).toISOString()}",${safe.slice(1)}`);
  };
}
