/** Who a request comes from, once a filter has let it in: the user properties of the specification, and what proves them. */

/** Specification, "User (as exposed to client applications)". */
export interface User {
  /** The permanent id of the user, a UUID: what records of an application should refer to. `sub` of other providers. */
  readonly permId: string;
  readonly email?: string;
  readonly firstname?: string;
  readonly surname?: string;
  readonly phone?: string;
  readonly organisationId?: string;
  readonly role?: "Standard" | "Administrator";
}

/** How the caller was authenticated. */
export type AuthenticatedBy =
  | "OAuthFederated"
  | "UserFederated"
  | "OAuthUserBearer"
  | "SystemAccountExternal";

export interface Principal {
  readonly authenticatedBy: AuthenticatedBy;
  /** `user`: a person. `service`: a client by its own right (client credentials), or a system account. */
  readonly kind: "user" | "service";
  /** PermId of a user, client_id of a service, public key of a system account. */
  readonly subject: string;
  /** Undefined for a service. */
  readonly user: User | undefined;
  /** The application that the token was issued to. */
  readonly clientId: string | undefined;
  /** Granted scopes; none where a mechanism has no scopes. */
  readonly scopes: ReadonlySet<string>;
  /** Verified claims: of the ID token and userinfo (OAuthFederated) or of the access token (OAuthUserBearer). */
  readonly claims: Readonly<Record<string, unknown>>;
  /** For calls to other APIs on the user's behalf (OAuthFederated), or the token that came (OAuthUserBearer). */
  readonly accessToken: string | undefined;
  /** For calls of the legacy API (UserFederated). */
  readonly sessionKey: string | undefined;
}
