/** A browser session at one organisation, shared by the organisation's applications. */
import type { PortalLink } from "../portal-links/portal-link.ts";
import type { User } from "../users/user.ts";

/** The supported acr values (wire-contract.md §2, "Step-up"). */
export const acrValues = {
  password: "urn:signet:acr:pwd",
  multiFactor: "urn:signet:acr:mfa",
  phishingResistant: "phr",
} as const;

/** Names these values where several systems of levels may be meant (CAEP 1.0 §3.4.1). */
export const ACR_NAMESPACE = "urn:signet:acr";

export interface Session {
  readonly orgId: string;
  /** The `sid` claim; no credential. */
  readonly id: string;
  readonly userId: string;
  /** Milliseconds: when the user last authenticated. */
  readonly authTime: number;
  /** RFC 8176 authentication method references. */
  readonly amr: readonly string[];
  readonly acr: string;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  readonly expiresAt: number;
  /** The machine that it began on, if that is known: it ends with the device's revocation. */
  readonly deviceId?: string | null;
  /** JWK of the browser's key that it is bound to: see session-bindings.ts. */
  readonly boundKey?: string | null;
  readonly boundAt?: number | null;
}

export interface SignedIn {
  readonly session: Session;
  readonly user: User;
  /** Nobody has signed in: somebody without an account has opened this link, and `user` is nobody's (page-kit/portal-visit.ts). */
  readonly portal?: PortalLink;
}

/** How recent an authentication must be to change credentials. */
export const FRESH_SIGN_IN_MS = 10 * 60 * 1000;

export const isFresh = ({ authTime }: Pick<Session, "authTime">, now: number): boolean =>
  authTime + FRESH_SIGN_IN_MS > now;

/** The supported acr values in ascending order. */
const ascending: readonly string[] = [acrValues.password, acrValues.multiFactor, acrValues.phishingResistant];

export const assurance = { none: 0, password: 1, multiFactor: 2, phishingResistant: 3 } as const;
export type Assurance = (typeof assurance)[keyof typeof assurance];

/** `none` for an unsupported acr. */
export const toAssurance = (acr: string): Assurance => (ascending.indexOf(acr) + 1) as Assurance;
