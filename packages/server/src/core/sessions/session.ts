/** A browser's sign-in at one organisation, shared by every application of that organisation. */
import type { User } from "../users/user.ts";

/** Authentication context classes (wire-contract.md §2, "Step-up"). */
export const acrValues = {
  password: "urn:signet:acr:pwd",
  multiFactor: "urn:signet:acr:mfa",
  phishingResistant: "phr",
} as const;

export interface Session {
  readonly orgId: string;
  /** The `sid` claim; names the session, opens nothing. */
  readonly id: string;
  readonly userId: string;
  /** Milliseconds: when the user last proved who they are. */
  readonly authTime: number;
  /** RFC 8176 authentication method references. */
  readonly amr: readonly string[];
  readonly acr: string;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  readonly expiresAt: number;
}

export interface SignedIn {
  readonly session: Session;
  readonly user: User;
}

/** How long after proving themselves a user may change what they prove themselves with. */
export const FRESH_SIGN_IN_MS = 10 * 60 * 1000;

export const isFresh = ({ authTime }: Pick<Session, "authTime">, now: number): boolean =>
  authTime + FRESH_SIGN_IN_MS > now;
