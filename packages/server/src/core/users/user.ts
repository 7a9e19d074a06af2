/** A user and the membership that lets them into an organisation (specification, "User"). */

export type Role = "Standard" | "Administrator";

/** Names come from administrators: look them up with `Object.hasOwn`. */
export type Attributes = Readonly<Record<string, unknown>>;

export interface User {
  /** The organisation that owns the account. */
  readonly homeOrgId: string;
  /** The organisation in whose light the user is seen here. */
  readonly orgId: string;
  /** PermId: the `sub` of every token. */
  readonly id: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly username: string | null;
  readonly firstname: string;
  readonly surname: string;
  readonly phone: string | null;
  readonly locale: string | null;
  readonly role: Role;
  /** What the home organisation keeps about the account, by name; JSON values, for custom scopes. */
  readonly attributes: Attributes;
  /** What the organisation visited keeps about the member. */
  readonly membership: { readonly groups: readonly string[]; readonly attributes: Attributes };
  readonly createdAt: number;
  readonly disabledAt: number | null;
}

/** The address as it is compared: people type case and width differently, and mean the same mailbox. */
export function emailKey(email: string): string {
  return email.trim().normalize("NFKC").toLowerCase();
}

/** A pragmatic check: one @, something on both sides, a length that SMTP allows (RFC 5321 §4.5.3.1). */
export function isEmail(email: string): boolean {
  return (
    email.length <= 254 &&
    /^[^\s@\p{Cc}\p{Cf}]{1,64}@[^\s@\p{Cc}\p{Cf}]+\.?[^\s@\p{Cc}\p{Cf}.]+$/u.test(email)
  );
}

/** A first name or surname; empty is one too. */
export const isPersonName = (name: string): boolean => [...name].length <= 100 && !/\p{Cc}/u.test(name);
