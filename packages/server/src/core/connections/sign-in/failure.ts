/** Why a sign-in at an identity provider failed (connections.md §5, "Reasons"): each has its text and its status. */

export const failureReasons = [
  ...(["state-unknown", "other-browser"] as const),
  ...(["upstream-denied", "upstream-error", "upstream-unreachable"] as const),
  ...(["upstream-timeout", "upstream-garbage"] as const),
  ...(["issuer-mismatch", "audience-mismatch", "nonce-mismatch", "subject-mismatch"] as const),
  ...(["signature-invalid", "algorithm-refused", "token-expired", "subject-missing"] as const),
  ...(["stale-authentication", "email-taken", "already-linked"] as const),
  ...(["account-disabled", "accounts-not-created"] as const),
  ...(["destination-mismatch", "assertion-unsigned", "assertion-replayed", "response-unsolicited"] as const),
  ...(["xml-refused", "decryption-failed", "status-not-success", "nameid-refused"] as const),
] as const;

export type FailureReason = (typeof failureReasons)[number];

const statuses: Partial<Readonly<Record<FailureReason, number>>> = {
  "upstream-error": 502,
  "upstream-unreachable": 502,
  "upstream-garbage": 502,
  "upstream-timeout": 504,
  "email-taken": 403,
  "already-linked": 403,
  "account-disabled": 403,
  "accounts-not-created": 403,
};

export const failureStatus = (reason: FailureReason): number => statuses[reason] ?? 400;

const MAX_DETAIL = 200;

export class ConnectionSignInFailure extends Error {
  readonly reason: FailureReason;
  /** For the organisation's administrators, in the log of sign-ins; never a credential. */
  readonly detail: string | undefined;
  /** As far as it was known, and its signature good. */
  readonly subject: string | undefined;
  readonly email: string | undefined;
  constructor(
    reason: FailureReason,
    more: {
      readonly detail?: string | undefined;
      readonly subject?: string | undefined;
      readonly email?: string | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(reason, { cause: more.cause });
    this.name = "ConnectionSignInFailure";
    this.reason = reason;
    this.detail = more.detail === undefined ? undefined : plain(more.detail);
    this.subject = more.subject;
    this.email = more.email;
  }
}

/** What others wrote, on one line and short. */
const plain = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").slice(0, MAX_DETAIL);
