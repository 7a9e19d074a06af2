/**
 * A link in a mail: what it lets its bearer do, for whom, how long. Opening it does nothing: mail scanners follow links.
 * The act is completed by a form, or by a program that says what it does, once.
 */

export const actionTypes = [
  "VerifyEmail",
  "ResetPassword",
  "AcceptInvitation",
  "AcceptRoaming",
  "ChangeEmail",
] as const;
export type ActionType = (typeof actionTypes)[number];

/** Sealed under the master key beside the row. */
export interface ActionData {
  /** The address of the account that it is about: with another address since then it is void. */
  readonly email: string;
  /** The sealed sign-in that the link goes on with, when it was asked for on the way to an application. */
  readonly flow?: string;
  /** VerifyEmail of somebody who has registered: the account that there will be. */
  readonly registration?: Registration;
  /** AcceptRoaming: the organisation that owns the account. */
  readonly homeOrgId?: string;
  /** ChangeEmail: the new address, which the link was sent to. */
  readonly newEmail?: string;
}

/** An account before its address is shown to be its owner's: nobody can sign in to it, because it is not there. */
export interface Registration {
  readonly firstname: string;
  readonly surname: string;
  readonly phone: string | null;
  readonly passwordHash: string;
}

export interface UserAction {
  readonly orgId: string;
  readonly idHash: string;
  readonly type: ActionType;
  /** PermId; of a registration, `registrationSubject` of its address. */
  readonly userId: string;
  readonly data: ActionData;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Of whom there is no account yet: one open link for each address, by its hash. */
export const registrationSubject = (emailHash: string): string => `registration:${emailHash}`;

const HOUR_MS = 3_600_000;

/** wire-contract.md §4, "Actions". */
export const actionLifetimeMs: Readonly<Record<ActionType, number>> = {
  VerifyEmail: 24 * HOUR_MS,
  ResetPassword: HOUR_MS,
  AcceptInvitation: 24 * HOUR_MS,
  AcceptRoaming: 24 * HOUR_MS,
  ChangeEmail: 24 * HOUR_MS,
};

/** What the act needs besides the link. */
export const needsNewPassword = (type: ActionType): boolean =>
  type === "ResetPassword" || type === "AcceptInvitation";
