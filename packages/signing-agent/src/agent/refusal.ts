/** Why a request is not signed: the reason for the service (sovereign-signing.md §5) and the check that failed. */
export type RejectReason =
  | "policy_denied"
  | "user_denied"
  | "challenge_failed"
  | "step_up_required"
  | "key_unavailable";

/** The message goes to the operator's log and to the service's audit log. */
export class Refusal extends Error {
  override name = "Refusal";
  /** A stable name of the failed check, for metrics and the journal, e.g. `audience`. */
  readonly check: string;
  readonly reason: RejectReason;
  /** Another agent may decide otherwise: its clock, limits or keys may differ. */
  readonly retryable: boolean;

  constructor(
    check: string,
    message: string,
    options: ErrorOptions & { readonly reason?: RejectReason; readonly retryable?: boolean } = {},
  ) {
    super(message, options);
    this.check = check;
    this.reason = options.reason ?? "policy_denied";
    this.retryable = options.retryable ?? false;
  }
}

/** Nothing is wrong with the request: another agent may sign it. */
export const unable = (check: string, message: string, cause?: unknown): Refusal =>
  new Refusal(check, message, { reason: "key_unavailable", retryable: true, cause });

/** Untrusted text in quotes: short, and unable to control a terminal or forge a log line. */
export function quoted(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  const printable = text.replace(/[^\x20-\x7e]/g, "?");
  return `"${printable.length > 80 ? `${printable.slice(0, 80)}…` : printable}"`;
}
