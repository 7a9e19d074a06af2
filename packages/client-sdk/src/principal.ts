/** The principal of a request, and how it is derived from verified claims or from a validated session key. */
import { SignetError } from "./errors.ts";
import { withoutUndefined } from "./tokens/claims.ts";

/** Specification, "User (as exposed to client applications)". */
export interface User {
  /** The user's permanent id, a UUID: refer to users by it. Other providers: `sub`. */
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

/** Whom a request comes from; the same shape for every filter. */
export interface Principal {
  readonly authenticatedBy: AuthenticatedBy;
  /** `user`: a person. `service`: a client acting for itself (client credentials), or a system account. */
  readonly kind: "user" | "service";
  /** PermId of a user, client_id of a service, public key of a system account. */
  readonly subject: string;
  /** The same as `subject`, by the name of its claim (RFC 7519 §4.1.2). */
  readonly sub: string;
  /** Undefined for a service. */
  readonly user: User | undefined;
  /** With `organisations`: whose token it is. Users and services are known by this and their `sub` together. */
  readonly organisationId?: string;
  /** The application the token was issued to. */
  readonly clientId: string | undefined;
  /** Granted scopes; empty for mechanisms without scopes. */
  readonly scopes: ReadonlySet<string>;
  /** Verified claims: of ID token and userinfo (OAuthFederated), or of the access token (OAuthUserBearer). */
  readonly claims: Readonly<Record<string, unknown>>;
  /**
   * With sovereign signing, what the service says without a signature of the organisation's agents: for display, never for a
   * decision. `user`, `scopes` and `claims` then come from what agents have signed alone: tokens, and userinfo as a JWT, which leaves
   * nothing here. Absent without sovereign signing.
   */
  readonly unsignedUserinfo?: Readonly<Record<string, unknown>>;
  /** As `unsignedUserinfo`: the scopes of the token response. */
  readonly unsignedScopes?: ReadonlySet<string>;
  /** For calls to other APIs on the user's behalf (OAuthFederated), or the request's own token (OAuthUserBearer). */
  readonly accessToken: string | undefined;
  /**
   * Calls an API with an access token that is bound to a key or certificate, and with the proof of it (OAuthFederated with a
   * `securityProfile`). Absent otherwise: a bearer token needs nothing but its header.
   */
  readonly fetch?: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** For calls to the legacy API (UserFederated). */
  readonly sessionKey: string | undefined;
}

/** Created per principal: what a handler adds to one must not show up in another. */
const nothingKnown = () => ({
  user: undefined,
  scopes: new Set<string>(),
  claims: {},
  accessToken: undefined,
  sessionKey: undefined,
});

interface VerifiedClaims {
  readonly authenticatedBy: "OAuthFederated" | "OAuthUserBearer";
  /** Of verified tokens, and of userinfo with the same `sub` where the provider's word is enough. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** Of userinfo with the same `sub`: properties of the user that the claims lack. */
  readonly userinfo?: Readonly<Record<string, unknown>> | undefined;
  /** With sovereign signing: what no trusted key has signed. */
  readonly unsigned?:
    | { readonly userinfo: Readonly<Record<string, unknown>>; readonly scopes?: readonly string[] }
    | undefined;
  readonly accessToken?: string | undefined;
  readonly fetch?: Principal["fetch"] | undefined;
  /** Default: the claims' `scope` or `scp`. */
  readonly scopes?: Iterable<string> | undefined;
  /** Default: the claims' `client_id` or `azp`. */
  readonly clientId?: string | undefined;
  /** Of an application of several: the issuer's own, whatever claims and userinfo say. */
  readonly organisationId?: string | undefined;
}

/** A client's own token has it as subject (RFC 9068 §2.2). @throws SignetError `token_claim_missing` without `sub` */
export function principalOfClaims(verified: VerifiedClaims): Principal {
  const { authenticatedBy, claims, userinfo, unsigned, accessToken, fetch } = verified;
  const subject = text(claims["sub"]);
  if (subject === undefined) throw new SignetError("token_claim_missing", "The token has no sub claim.");
  const clientId = verified.clientId ?? text(claims["client_id"]) ?? text(claims["azp"]);
  const isService = authenticatedBy === "OAuthUserBearer" && subject === clientId;
  const described = { ...userinfo, ...claims };
  const organisationId = verified.organisationId ?? organisationOfClaims(described);
  return {
    ...nothingKnown(),
    authenticatedBy,
    kind: isService ? "service" : "user",
    subject,
    sub: subject,
    user: isService ? undefined : userFromClaims(subject, described, organisationId),
    ...(verified.organisationId === undefined ? {} : { organisationId: verified.organisationId }),
    clientId,
    scopes: new Set(verified.scopes ?? scopesOfClaims(claims)),
    claims,
    ...(unsigned ? { unsignedUserinfo: unsigned.userinfo } : {}),
    ...(unsigned?.scopes ? { unsignedScopes: new Set(unsigned.scopes) } : {}),
    accessToken,
    ...(fetch ? { fetch } : {}),
  };
}

function userFromClaims(
  permId: string,
  claims: Readonly<Record<string, unknown>>,
  organisationId: string | undefined,
): User {
  return withoutUndefined({
    permId,
    email: text(claims["email"]),
    firstname: text(claims["given_name"]),
    surname: text(claims["family_name"]),
    phone: text(claims["phone_number"]),
    organisationId,
    role: roleOrUndefined(claims["role"]),
  });
}

/** Only access tokens have `org_id`. */
function organisationOfClaims(claims: Readonly<Record<string, unknown>>): string | undefined {
  return text(claims["org_id"]) ?? organisationInIssuer(text(claims["iss"]));
}

/** The issuers of an organisation and of its signing pools contain its id. */
function organisationInIssuer(issuer: string | undefined): string | undefined {
  return /\/oauth\/([0-9a-f-]{36})(?:\/sovereign\/pools\/[0-9a-f-]{36})?$/.exec(issuer ?? "")?.[1];
}

/** RFC 9068 §2.2.3. Some providers use a list, or call it `scp`. */
export function scopesOfClaims(claims: Readonly<Record<string, unknown>>): string[] {
  const scope = claims["scope"] ?? claims["scp"] ?? [];
  const list: unknown[] = typeof scope === "string" ? scope.split(" ") : Array.isArray(scope) ? scope : [];
  return list.filter((item): item is string => typeof item === "string" && item !== "");
}

interface ValidatedSessionKey {
  /** As in the legacy API: `PermId`, `Email`, `Firstname`, `Surname`, `Phone`, `OrganisationId`, `Role`. */
  readonly user: Readonly<Record<string, unknown>>;
  readonly sessionKey: string;
  readonly applicationId: string;
}

/** @throws SignetError `provider_answer` without a `PermId` */
export function principalOfLegacyUser({ user, sessionKey, applicationId }: ValidatedSessionKey): Principal {
  const permId = text(user["PermId"]);
  if (permId === undefined) throw new SignetError("provider_answer", "The service's response has no PermId.");
  return {
    ...nothingKnown(),
    authenticatedBy: "UserFederated",
    kind: "user",
    subject: permId,
    sub: permId,
    user: withoutUndefined({
      permId,
      email: text(user["Email"]),
      firstname: text(user["Firstname"]),
      surname: text(user["Surname"]),
      phone: text(user["Phone"]),
      organisationId: text(user["OrganisationId"]),
      role: roleOrUndefined(user["Role"]),
    }),
    clientId: applicationId,
    sessionKey,
  };
}

/** @param publicKey of the system account */
export const principalOfSystemAccount = (publicKey: string, clientId: string | undefined): Principal => ({
  ...nothingKnown(),
  authenticatedBy: "SystemAccountExternal",
  kind: "service",
  subject: publicKey,
  sub: publicKey,
  clientId,
});

function roleOrUndefined(role: unknown): User["role"] {
  return role === "Standard" || role === "Administrator" ? role : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The authenticated principal; undefined for an anonymous request (`isOptional`, or the filter None). */
export function principalOf(request: object): Principal | undefined {
  return (request as { readonly principal?: Principal | undefined }).principal;
}

/**
 * For handlers that need a principal behind a filter that lets anonymous requests through.
 * @throws SignetError `token_missing`, status 401, for an anonymous request
 * @example
 * app.get("/me", (request, response) => response.json(requirePrincipal(request).user));
 */
export function requirePrincipal(request: object): Principal {
  return authenticated(principalOf(request));
}

/** @throws SignetError `token_missing` */
export function authenticated(principal: Principal | undefined): Principal {
  if (principal === undefined)
    throw new SignetError("token_missing", "Sign in first.", { headers: { "www-authenticate": "Bearer" } });
  return principal;
}
