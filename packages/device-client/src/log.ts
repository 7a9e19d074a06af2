/** What `renew --daemon` tells: one JSON line for each thing that an operator may want to know. Never keys, codes or tokens. */
import { redactSecrets } from "@signet/protocol/redact-secrets";

export type LogLevel = "info" | "warn" | "error";
export type Log = (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;

export function jsonLog(write: (line: string) => void, clock: () => number): Log {
  return (level, message, fields = {}) => {
    const line = JSON.stringify({ time: new Date(clock()).toISOString(), level, message, ...fields });
    write(redactSecrets(line));
  };
}

/** The message of an error and of its cause, on one line. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message: own, cause } = error;
  const message =
    cause instanceof Error && !own.includes(cause.message.trim()) ? `${own}: ${cause.message}` : own;
  return message.replace(/\s+/g, " ").trim();
}
