/** A user, and the membership in an organisation (specification, "User"). */

import type { ProfileDetails } from "./profile/details.ts";

export type Role = "Standard" | "Administrator";

/** Names are untrusted: look them up with `Object.hasOwn`. */
export type Attributes = Readonly<Record<string, unknown>>;

export interface User {
  /** The home organisation of the account. */
  readonly homeOrgId: string;
  /** The organisation whose member the user is here. */
  readonly orgId: string;
  /** PermId: the `sub` of every token. */
  readonly id: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly username: string | null;
  readonly firstname: string;
  readonly surname: string;
  readonly phone: string | null;
  /** A language tag; null for the browser's. */
  readonly locale: string | null;
  readonly details: ProfileDetails;
  readonly role: Role;
  /** Attributes of the account, by name; JSON values, for custom scopes. */
  readonly attributes: Attributes;
  readonly membership: {
    readonly groups: readonly string[];
    readonly attributes: Attributes;
    /** Of a guest who is disabled in this organisation, whatever their home says. */
    readonly disabledAt?: number;
  };
  readonly createdAt: number;
  /** When the account's claims last changed, milliseconds. */
  readonly profileChangedAt: number;
  readonly disabledAt: number | null;
}

/** The email address as compared: case and width don't matter. */
export function emailKey(email: string): string {
  return email.trim().normalize("NFKC").toLowerCase();
}

/** A pragmatic check: one @ with text on both sides, within SMTP's length (RFC 5321 §4.5.3.1). */
export function isEmail(email: string): boolean {
  return (
    email.length <= 254 &&
    /^[^\s@\p{Cc}\p{Cf}]{1,64}@[^\s@\p{Cc}\p{Cf}]+\.?[^\s@\p{Cc}\p{Cf}.]+$/u.test(email)
  );
}

/** A first name or surname; may be empty. */
export const isPersonName = (name: string): boolean => [...name].length <= 100 && !/\p{Cc}/u.test(name);
