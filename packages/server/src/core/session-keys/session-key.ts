/**
 * The session key of the legacy federation: issued at sign-in, presented by the application's calls (specification, "Session
 * key"; wire-contract.md §4). The database stores its SHA-256 only.
 */

export const sessionKeyKinds = ["Service", "UserTemp", "UserPerm"] as const;
export type SessionKeyKind = (typeof sessionKeyKinds)[number];

export interface SessionKey {
  readonly orgId: string;
  /** Identifies the key in lists and the audit log; not a credential. */
  readonly id: string;
  readonly kind: SessionKeyKind;
  readonly applicationId: string;
  readonly userId: string;
  /** The browser session that the key ends with; null after a sign-in by API and for a permanent key. */
  readonly sessionId: string | null;
  /** When the user last authenticated; milliseconds, like all times. */
  readonly authTime: number;
  /** RFC 8176. */
  readonly amr: readonly string[];
  readonly acr: string;
  /** The network address that it was issued to. */
  readonly address: string;
  readonly createdAt: number;
  /** Null until the first use. */
  readonly validatedAt: number | null;
  readonly lastSeenAt: number;
  /** Null for a key that is valid until it is revoked. */
  readonly expiresAt: number | null;
}

const MINUTE_MS = 60_000;

/** A `Service` key that is not used within this time expires: it was lost on its way. */
export const FIRST_USE_DEADLINE_MS = 5 * MINUTE_MS;
/** A `Service` key expires after this time without use. */
export const SESSION_KEY_IDLE_MS = 60 * MINUTE_MS;
export const TEMPORARY_KEY_MS = 15 * MINUTE_MS;

/** For the log, never for the response. */
export type SessionKeyRefusal =
  | "unknown key"
  | "revoked key"
  | "expired key"
  | "idle key"
  | "browser session ended"
  | "organisation disabled"
  | "application disabled"
  | "permanent keys not allowed"
  | "user disabled or gone"
  | "user not assigned to the application";

/** @returns why the key itself is not valid; its user and application are checked elsewhere */
export function sessionKeyRefusal(
  key: SessionKey & { readonly revokedAt: number | null; readonly isSessionEnded: boolean },
  now: number,
): SessionKeyRefusal | undefined {
  if (key.revokedAt !== null) return "revoked key";
  if (key.expiresAt !== null && key.expiresAt <= now) return "expired key";
  if (key.kind === "Service" && key.lastSeenAt <= now - SESSION_KEY_IDLE_MS) return "idle key";
  if (key.isSessionEnded) return "browser session ended";
  return undefined;
}
