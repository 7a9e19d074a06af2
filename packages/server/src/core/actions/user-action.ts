/**
 * A user action: what a link in an email permits, for whom, and how long. Opening a link does nothing, because mail
 * scanners follow links: a form or an API call completes the action, once.
 */

import { newUuid } from "@signet/protocol/uuid";

/** Of the legacy API too. */
export const actionTypes = [
  "VerifyEmail",
  "ResetPassword",
  "AcceptInvitation",
  "AcceptRoaming",
  "ChangeEmail",
] as const;
/** `SignUp` has a page of its own alone: neither an application nor the legacy API completes it. */
export type ActionType = (typeof actionTypes)[number] | "SignUp";

/** Stored encrypted under the master key. */
export interface ActionData {
  /** The email address of the account; the link is void after it changes. */
  readonly email: string;
  /** The encrypted sign-in that the link continues, when it was requested on the way to an application. */
  readonly flow?: string;
  /** VerifyEmail of a registration: the account to create. */
  readonly registration?: Registration;
  /** AcceptRoaming: the home organisation of the account. */
  readonly homeOrgId?: string;
  /** SignUp: the browser that has asked for it, as a hash; only there its sign-in goes on. */
  readonly holderHash?: string;
  /** AcceptInvitation: the provider where it is accepted, instead of by a password. */
  readonly connectionId?: string;
  /** ChangeEmail: the new address, which receives the link. */
  readonly newEmail?: string;
}

/** A registration before its email address is verified: no account exists yet, so nobody can sign in to it. */
export interface Registration {
  readonly firstname: string;
  readonly surname: string;
  readonly phone: string | null;
  /**
   * Of the password that came with the registration. It counts only where the organisation's own backend completes the link with
   * its signature (connections.md §5, "pre-hijack"): anybody can register anybody's address, and the owner's click must not
   * confirm a stranger's secret. The owner enters the password on the page behind the link.
   */
  readonly passwordHash?: string;
}

export interface UserAction {
  readonly orgId: string;
  readonly idHash: string;
  readonly type: ActionType;
  /** PermId; for a registration, its `registrationSubject`. */
  readonly userId: string;
  readonly data: ActionData;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Unique for each registration, so that a newer one of the same address, perhaps a stranger's, doesn't replace the link. */
export const registrationSubject = (): string => `registration:${newUuid()}`;

/** The same for a sign-up: of two, each link works until there is an account. */
export const signUpSubject = (): string => `sign-up:${newUuid()}`;

const HOUR_MS = 3_600_000;

/** wire-contract.md §4, "Actions". */
export const actionLifetimeMs: Readonly<Record<ActionType, number>> = {
  VerifyEmail: 24 * HOUR_MS,
  ResetPassword: HOUR_MS,
  AcceptInvitation: 24 * HOUR_MS,
  AcceptRoaming: 24 * HOUR_MS,
  ChangeEmail: 24 * HOUR_MS,
  SignUp: 24 * HOUR_MS,
};

export const needsNewPassword = ({ type, data }: Pick<UserAction, "type" | "data">): boolean =>
  type === "ResetPassword" ||
  (type === "AcceptInvitation" && data.connectionId === undefined) ||
  data.registration !== undefined;
