/** What stands in the tokens (RFC 9068; OpenID Connect Core §2; wire-contract.md §2). */
import { randomUUID } from "node:crypto";
import { formatScope } from "@signet/protocol/oauth/scope";
import type { Application } from "../applications/application.ts";
import { seconds } from "../clock.ts";
import type { Attestation } from "../devices/device.ts";
import type { Claims } from "../scopes/custom-claims.ts";
import type { RequestedClaims } from "../scopes/requested-claims.ts";
import { claimsOfScopes } from "../scopes/scopes.ts";
import type { User } from "../users/user.ts";

export interface AccessTokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string | readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly jti: string;
  readonly client_id: string;
  readonly org_id: string;
  readonly scope?: string;
  readonly auth_time?: number;
  readonly amr?: readonly string[];
  readonly acr?: string;
  /** The device that it was issued to, and whether a TPM vouched for it. */
  readonly device_id?: string;
  readonly device_attestation?: Attestation;
  /** Good with this certificate alone (RFC 8705 §3.1). */
  readonly cnf?: { readonly "x5t#S256": string };
}

export interface IdTokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string;
  readonly azp: string;
  readonly exp: number;
  readonly iat: number;
  readonly auth_time: number;
  readonly amr: readonly string[];
  readonly acr: string;
  readonly nonce?: string;
  readonly sid?: string;
  readonly [claim: string]: unknown;
}

/** When and how the user proved who they are. */
export interface Authentication {
  /** Milliseconds. */
  readonly authTime: number;
  readonly amr: readonly string[];
  readonly acr: string;
}

/** Whose certificate came with the request. */
export interface TokenDevice {
  readonly id: string;
  readonly attestation: Attestation;
  /** SHA-256 of the certificate that the token is bound to; undefined: it is bound to none. */
  readonly thumbprint?: string;
}

/** All that the tokens of one answer say. */
export interface TokenSubject {
  readonly issuer: string;
  readonly application: Application;
  readonly scopes: readonly string[];
  /** RFC 8707 resources that were asked for and are allowed. */
  readonly resources: readonly string[];
  /** Undefined for client credentials: the client speaks for itself. */
  readonly user?: {
    readonly user: User;
    readonly authentication: Authentication;
    readonly nonce: string | null;
    readonly sessionId: string | null;
    readonly familyId: string;
    /** The record that the grant rests on: it may limit what custom scopes tell. */
    readonly consentId: string | null;
    readonly requestedClaims: RequestedClaims;
  };
  readonly device?: TokenDevice;
  /** What the organisation's custom scopes and the `claims` parameter add, see added-claims.ts. */
  readonly added?: AddedClaims;
}

/** Nothing of it takes the place of a claim that the token's format defines. */
export interface AddedClaims {
  readonly accessToken: Claims;
  readonly idToken: Claims;
}

export function accessTokenClaims(subject: TokenSubject, now: number): AccessTokenClaims {
  const { application, user } = subject;
  const iat = seconds(now);
  // A scope that was made before these names were reserved must not speak of devices either.
  const { cnf, device_id, device_attestation, ...added } = subject.added?.accessToken ?? {};
  return {
    ...added,
    iss: subject.issuer,
    sub: user?.user.id ?? application.id,
    aud: audienceOf(subject),
    exp: iat + application.settings.accessTokenLifetimeSeconds,
    iat,
    jti: newTokenId(user?.familyId),
    client_id: application.id,
    org_id: application.orgId,
    ...(subject.scopes.length > 0 ? { scope: formatScope(subject.scopes) } : {}),
    ...(user
      ? {
          auth_time: seconds(user.authentication.authTime),
          amr: user.authentication.amr,
          acr: user.authentication.acr,
        }
      : {}),
    ...deviceClaims(subject.device),
  };
}

function deviceClaims(device: TokenDevice | undefined) {
  if (!device) return undefined;
  const { id, attestation, thumbprint } = device;
  return {
    device_id: id,
    device_attestation: attestation,
    ...(thumbprint === undefined ? {} : { cnf: { "x5t#S256": thumbprint } }),
  };
}

/** Undefined when `openid` was not granted: then there is no ID token. */
export function idTokenClaims(subject: TokenSubject, now: number): IdTokenClaims | undefined {
  const { application, user } = subject;
  if (!user || !subject.scopes.includes("openid")) return undefined;
  const iat = seconds(now);
  return {
    ...subject.added?.idToken,
    ...(application.settings.idTokenIncludesScopeClaims ? claimsOfScopes(user.user, subject.scopes) : {}),
    iss: subject.issuer,
    sub: user.user.id,
    aud: application.id,
    azp: application.id,
    exp: iat + application.settings.accessTokenLifetimeSeconds,
    iat,
    auth_time: seconds(user.authentication.authTime),
    amr: user.authentication.amr,
    acr: user.authentication.acr,
    ...(user.nonce === null ? {} : { nonce: user.nonce }),
    ...(user.sessionId === null ? {} : { sid: user.sessionId }),
  };
}

/** The resources, else the application's audience, else the issuer; with `openid` the issuer too, for userinfo. */
function audienceOf({ issuer, application, scopes, resources }: TokenSubject): string | readonly string[] {
  const { audience } = application.settings;
  const named = resources.length > 0 ? resources : audience === undefined ? [] : [audience];
  const all = named.length === 0 || scopes.includes("openid") ? [...new Set([...named, issuer])] : [...named];
  return all.length === 1 ? (all[0] ?? issuer) : all;
}

const FAMILY_BYTES = 16;
const UUID_BYTES = 16;

/**
 * The `jti`: a random UUID (Node draws its randomness ahead, which matters once per token), and before it the token
 * family when there is one, so that revoking a family reaches its access tokens without a list of them.
 */
export const newTokenId = (familyId: string | undefined): string => tokenIdOf(familyId, randomUUID());

/** @param random a random UUID */
export function tokenIdOf(familyId: string | undefined, random: string): string {
  const own = bytesOfUuid(random);
  const bytes = familyId === undefined ? own : Buffer.concat([bytesOfUuid(familyId), own]);
  return bytes.toString("base64url");
}

const bytesOfUuid = (uuid: string): Buffer => Buffer.from(uuid.replaceAll("-", ""), "hex");

/** The token family that a `jti` names, as a UUID. */
export function familyOfTokenId(jti: string): string | undefined {
  const bytes = Buffer.from(jti, "base64url");
  return bytes.length === FAMILY_BYTES + UUID_BYTES
    ? uuidOfBytes(bytes.subarray(0, FAMILY_BYTES))
    : undefined;
}

export function uuidOfBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
