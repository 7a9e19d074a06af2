/** What a kind of identity provider has to know: how a browser is sent there, and what it brings back. A kind is one folder. */
import type { UpstreamIdentity } from "../../../core/connections/sign-in/link-identity.ts";
import type { Claims } from "../../../core/connections/sign-in/mapping.ts";
import type { SignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";

/** Bound to one start: nobody else can make them of the `state`. */
export interface StartSecrets {
  readonly state: string;
  readonly nonce: string;
  /** RFC 7636. */
  readonly verifier: string;
}

export interface UpstreamBegin extends StartSecrets {
  readonly redirectUri: string;
  readonly loginHint: string | undefined;
  /** Who is signed in there signs in again. */
  readonly mustReauthenticate: boolean;
  readonly maxAgeSeconds: number | undefined;
}

export interface UpstreamReturn extends StartSecrets {
  /** The redirect URI, with what came in its query. */
  readonly address: URL;
  readonly maxAgeSeconds: number | undefined;
  /** Milliseconds: an earlier authentication there is stale. */
  readonly authenticatedSince: number | undefined;
}

export interface UpstreamReturned {
  readonly identity: UpstreamIdentity;
  /** As they arrived: of the ID token, and of userinfo where it was asked. */
  readonly claims: Claims;
}

export interface UpstreamSignOut {
  /** What was kept of the sign-in there: see `UpstreamAuthentication`. */
  readonly hint: string | undefined;
  readonly returnTo: string;
  readonly state: string;
}

/** Who has signed out there: of a session, a `sub`, or a session of a `sub`. */
export interface UpstreamLogout {
  readonly jti: string;
  /** Milliseconds: as long as it could come again. */
  readonly usedUntil: number;
  readonly sid?: string;
  readonly subject?: string;
}

export class InvalidLogoutToken extends Error {
  override readonly name = "InvalidLogoutToken";
}

export interface Upstream {
  /** @returns where the browser goes. @throws ConnectionSignInFailure */
  begin(connection: SignInConnection, asked: UpstreamBegin): Promise<string>;
  /** Undefined where it comes back to another address than `callback`. @throws ConnectionSignInFailure */
  receive?(connection: SignInConnection, back: UpstreamReturn): Promise<UpstreamReturned>;
  /** @returns where the browser signs out there; undefined for a provider without. @throws ConnectionSignInFailure */
  logoutAddress?(connection: SignInConnection, signOut: UpstreamSignOut): Promise<string | undefined>;
  /** Of a kind with Back-Channel Logout. @throws InvalidLogoutToken, ConnectionSignInFailure */
  readLogout?(connection: SignInConnection, token: string): Promise<UpstreamLogout>;
}
