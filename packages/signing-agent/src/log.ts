/** One JSON line for each thing that an operator may want to know. Never claims, keys or tokens. */
import { redactSecrets } from "@signet/protocol/redact-secrets";

export type LogLevel = "info" | "warn" | "error";
export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;

export function jsonLog(write: (line: string) => void, clock: () => number): Log {
  return (level, message, fields = {}) => {
    const line = JSON.stringify({ time: new Date(clock()).toISOString(), level, message, ...fields });
    write(redactSecrets(line));
  };
}

/** The message of an error and of its causes, for one field of a line. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== error.message
    ? `${error.message}: ${error.cause.message}`
    : error.message;
}
