/**
 * A session key of the legacy federation: made at sign-in, shown by the application's own calls (specification, "Session
 * key"; wire-contract.md §4). The key itself is known to its holder alone; the database has its SHA-256.
 */

export const sessionKeyKinds = ["Service", "UserTemp", "UserPerm"] as const;
export type SessionKeyKind = (typeof sessionKeyKinds)[number];

export interface SessionKey {
  readonly orgId: string;
  /** Names the key in lists and in the audit log; opens nothing. */
  readonly id: string;
  readonly kind: SessionKeyKind;
  readonly applicationId: string;
  readonly userId: string;
  /** The browser session that it lives by; null for one of a program's sign-in, and for a permanent one. */
  readonly sessionId: string | null;
  /** Milliseconds, like all of them: when the user last proved who they are. */
  readonly authTime: number;
  /** RFC 8176. */
  readonly amr: readonly string[];
  readonly acr: string;
  /** Where it was made. */
  readonly address: string;
  readonly createdAt: number;
  /** Null until it was shown for the first time. */
  readonly validatedAt: number | null;
  readonly lastSeenAt: number;
  /** Null for a key that lives until it is revoked. */
  readonly expiresAt: number | null;
}

const MINUTE_MS = 60_000;

/** A `Service` key that nobody shows in this time was lost on its way. */
export const FIRST_USE_DEADLINE_MS = 5 * MINUTE_MS;
/** A `Service` key that was not shown for so long has ended. */
export const SESSION_KEY_IDLE_MS = 60 * MINUTE_MS;
/** Enough to hand it to another application. */
export const TEMPORARY_KEY_MS = 15 * MINUTE_MS;

/** Why a key is not taken: for the log, never for the answer. */
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

/** What of a key ends it by itself. */
export function refusalOf(
  key: SessionKey & { readonly revokedAt: number | null; readonly isSessionEnded: boolean },
  now: number,
): SessionKeyRefusal | undefined {
  if (key.revokedAt !== null) return "revoked key";
  if (key.expiresAt !== null && key.expiresAt <= now) return "expired key";
  if (key.kind === "Service" && key.lastSeenAt <= now - SESSION_KEY_IDLE_MS) return "idle key";
  if (key.isSessionEnded) return "browser session ended";
  return undefined;
}
