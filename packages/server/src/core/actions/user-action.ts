/**
 * A link in a mail: what it lets its bearer do, for whom, how long. Opening it does nothing: mail scanners follow links.
 * The act is completed by a form, once.
 */

export type ActionType = "VerifyEmail" | "ResetPassword";

/** Sealed under the master key beside the row. */
export interface ActionData {
  /** Where the link was sent: with another address since then it is void. */
  readonly email: string;
  /** The sealed sign-in that the link goes on with, when it was asked for on the way to an application. */
  readonly flow?: string;
}

export interface UserAction {
  readonly orgId: string;
  readonly idHash: string;
  readonly type: ActionType;
  readonly userId: string;
  readonly data: ActionData;
  readonly createdAt: number;
  readonly expiresAt: number;
}

const HOUR_MS = 3_600_000;

/** wire-contract.md §4, "Actions". */
export const actionLifetimeMs: Readonly<Record<ActionType, number>> = {
  VerifyEmail: 24 * HOUR_MS,
  ResetPassword: HOUR_MS,
};
