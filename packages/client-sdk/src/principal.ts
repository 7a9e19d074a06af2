/** Who a request comes from, once a filter has let it in: the user properties of the specification, and what proves them. */
import { SignetError } from "./errors.ts";

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

/** Who a request comes from: the same for every filter. */
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

export interface VerifiedClaims {
  readonly authenticatedBy: "OAuthFederated" | "OAuthUserBearer";
  /** Of tokens that have been verified, and of userinfo with the same `sub`. */
  readonly claims: Readonly<Record<string, unknown>>;
  readonly accessToken?: string | undefined;
  /** Default: what `scope` or `scp` of the claims says. */
  readonly scopes?: Iterable<string> | undefined;
  /** Default: `client_id` or `azp` of the claims. */
  readonly clientId?: string | undefined;
}

/**
 * The principal of verified claims. A token whose subject is the client itself is one of client credentials (RFC 9068 §2.2).
 * Throws `SignetError` `token_claim_missing` when the claims have no `sub`.
 */
export function principalOfClaims(verified: VerifiedClaims): Principal {
  const { authenticatedBy, claims } = verified;
  const subject = text(claims["sub"]);
  if (subject === undefined) throw new SignetError("token_claim_missing", "The token has no claim sub.");
  const clientId = verified.clientId ?? text(claims["client_id"]) ?? text(claims["azp"]);
  const isService = authenticatedBy === "OAuthUserBearer" && subject === clientId;
  return {
    authenticatedBy,
    kind: isService ? "service" : "user",
    subject,
    user: isService ? undefined : userOfClaims(subject, claims),
    clientId,
    scopes: new Set(verified.scopes ?? scopesOf(claims)),
    claims,
    accessToken: verified.accessToken,
    sessionKey: undefined,
  };
}

function userOfClaims(permId: string, claims: Readonly<Record<string, unknown>>): User {
  return present({
    permId,
    email: text(claims["email"]),
    firstname: text(claims["given_name"]),
    surname: text(claims["family_name"]),
    phone: text(claims["phone_number"]),
    organisationId: text(claims["org_id"]) ?? organisationOf(text(claims["iss"])),
    role: roleOf(claims["role"]),
  });
}

/** Only access tokens have `org_id`; the organisation's id is part of its issuer and of those of its signing pools. */
function organisationOf(issuer: string | undefined): string | undefined {
  return /\/oauth\/([0-9a-f-]{36})(?:\/sovereign\/pools\/[0-9a-f-]{36})?$/.exec(issuer ?? "")?.[1];
}

/** RFC 9068 §2.2.3; some providers write a list, or call it `scp`. */
function scopesOf(claims: Readonly<Record<string, unknown>>): string[] {
  const scope = claims["scope"] ?? claims["scp"] ?? [];
  const list: unknown[] = typeof scope === "string" ? scope.split(" ") : Array.isArray(scope) ? scope : [];
  return list.filter((item): item is string => typeof item === "string" && item !== "");
}

export interface ValidatedSessionKey {
  /** As the legacy API writes it: `PermId`, `Email`, `Firstname`, `Surname`, `Phone`, `OrganisationId`, `Role`. */
  readonly user: Readonly<Record<string, unknown>>;
  readonly sessionKey: string;
  readonly applicationId: string;
}

/** The principal of a session key that the service has validated. Throws `SignetError` `provider_answer` without a `PermId`. */
export function principalOfLegacyUser({ user, sessionKey, applicationId }: ValidatedSessionKey): Principal {
  const permId = text(user["PermId"]);
  if (permId === undefined) throw new SignetError("provider_answer", "The service names no user.");
  return {
    authenticatedBy: "UserFederated",
    kind: "user",
    subject: permId,
    user: present({
      permId,
      email: text(user["Email"]),
      firstname: text(user["Firstname"]),
      surname: text(user["Surname"]),
      phone: text(user["Phone"]),
      organisationId: text(user["OrganisationId"]),
      role: roleOf(user["Role"]),
    }),
    clientId: applicationId,
    scopes: new Set(),
    claims: {},
    accessToken: undefined,
    sessionKey,
  };
}

function roleOf(role: unknown): User["role"] {
  return role === "Standard" || role === "Administrator" ? role : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** What is not known has no member, so that it does not look like an empty answer in JSON. */
function present(user: { readonly [Name in keyof User]: User[Name] | undefined }): User {
  return Object.fromEntries(
    Object.entries(user).filter(([, value]) => value !== undefined),
  ) as unknown as User;
}
