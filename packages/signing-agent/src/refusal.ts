/** Why a request is not signed: what the service is told (sovereign-signing.md §5), and which check it was. */
export const rejectReasons = [
  "policy_denied",
  "user_denied",
  "challenge_failed",
  "step_up_required",
  "key_unavailable",
] as const;
export type RejectReason = (typeof rejectReasons)[number];

export interface RefusalOptions {
  readonly reason?: RejectReason;
  /** Another agent may see it otherwise: its clock, its limits, its keys. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

/** The agent will not sign. The message is for the operator's log and the service's audit log. */
export class Refusal extends Error {
  /** A stable name of what did not hold, for metrics and the journal, e.g. `audience`. */
  readonly check: string;
  readonly reason: RejectReason;
  readonly retryable: boolean;

  constructor(check: string, message: string, options: RefusalOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.name = "Refusal";
    this.check = check;
    this.reason = options.reason ?? "policy_denied";
    this.retryable = options.retryable ?? false;
  }
}

/** What somebody else wrote, in quotes, short, and unable to steer a terminal or a log. */
export function quoted(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  const printable = text.replace(/[^\x20-\x7e]/g, "?");
  return `"${printable.length > 80 ? `${printable.slice(0, 80)}…` : printable}"`;
}
