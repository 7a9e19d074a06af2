/** What the log tells of an error. */
import { redactSecrets } from "@signet/protocol/redact-secrets";

/** Message, code and stack only: other members of an error may contain row values. */
export function describeError(error: unknown): { error: string; code?: string; stack?: string } {
  if (!(error instanceof Error)) return { error: redactSecrets(String(error)) };
  const code = "code" in error ? { code: String(error.code) } : {};
  const stack = error.stack === undefined ? {} : { stack: redactSecrets(error.stack) };
  return { error: redactSecrets(error.message), ...code, ...stack };
}
