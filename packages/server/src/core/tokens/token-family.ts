/**
 * A token family: everything that one authorization has led to (RFC 9700 §4.14). The record, the status of its refresh
 * tokens, and the strings that name it: the refresh token and the `jti` of its access tokens.
 */
import { createHmac, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import type { RecordOf } from "../../db/records.ts";
import type { TokenFamilyTable } from "../../db/tables/tokens.ts";
import type { AuthorizationDetail } from "../authorization-details/detail-type.ts";
import { isOfRing, type KeyRing } from "../encryption/key-ring.ts";
import type { RequestedClaims } from "../scopes/requested-claims.ts";
import type { ScopeDefinitions } from "../scopes/scope-definitions.ts";

/** When and how the user authenticated. */
export interface Authentication {
  /** Milliseconds. */
  readonly authTime: number;
  readonly amr: readonly string[];
  readonly acr: string;
}

/** What a user granted, as authorization codes and token families hold it. */
export interface Grant {
  readonly scopes: readonly string[];
  /** Of its custom scopes, those of requested claims included; null in grants of older versions. */
  readonly definitions: ScopeDefinitions | null;
  readonly resources: readonly string[];
  readonly authorizationDetails: readonly AuthorizationDetail[];
  readonly authentication: Authentication;
  readonly requestedClaims: RequestedClaims;
}

/** The columns of a grant. */
export type GrantColumn =
  | "scope"
  | "scope_definitions"
  | "resources"
  | "authorization_details"
  | "auth_time"
  | "amr"
  | "acr"
  | "requested_claims";

type StoredFamily = RecordOf<
  Omit<TokenFamilyTable, GrantColumn | "generation" | "revoked_reason" | "ancestors" | "request_signed">
>;

/** What a family's token was exchanged from, the first first: it ends with any of them (modern-oauth.md §5). */
export interface Ancestors {
  readonly families: readonly string[];
  /** By `jti`. */
  readonly tokens: readonly string[];
  readonly clients: readonly string[];
  readonly devices: readonly string[];
  /** As its token says it: an agent that signs the token may not say anything else. */
  readonly act: Actor | null;
}

/** Who acts for the subject, the last first (RFC 8693 §4.1). */
export interface Actor {
  readonly iss: string;
  readonly sub: string;
  readonly act?: Actor;
}

export interface TokenFamily extends Grant, StoredFamily {
  /** Null: a user has granted it. */
  readonly ancestors: Ancestors | null;
  /** Whether the client signed the authorization request (RFC 9101); null where that is not known. */
  readonly requestSigned: boolean | null;
}

export type RefreshTokenStatus =
  | "current"
  /** The previous token, whose successor is still unused: it gets the same successor again. */
  | "grace"
  /** An older token, or the previous one where that is not accepted: somebody has a copy. */
  | "replayed"
  | "expired"
  | "revoked";

/** @param acceptsPrevious whether a token may come back until its successor is used: the response may have been lost */
export function refreshTokenStatus(
  family: TokenFamily,
  hash: string,
  now: number,
  acceptsPrevious: boolean,
): RefreshTokenStatus {
  if (family.revokedAt !== null) return "revoked";
  if (family.expiresAt <= now) return "expired";
  const isCurrent = hash === family.refreshHash;
  // The successor is still unused: using it would have made it the previous token.
  const isPrevious = acceptsPrevious && hash === family.previousHash;
  if (!isCurrent && !isPrevious) return "replayed";
  if ((family.refreshExpiresAt ?? 0) <= now) return "expired";
  return isCurrent ? "current" : "grace";
}

/** Each token's own lifetime, within the family's. */
export function refreshExpiry(
  family: Pick<TokenFamily, "expiresAt">,
  lifetimeSeconds: number,
  now: number,
): number {
  return Math.min(now + lifetimeSeconds * 1000, family.expiresAt);
}

/*
 * A refresh token is `sgn_rt_` and base64url of family (16 bytes), secret (32) and check value (8). The database holds the
 * SHA-256 of the whole token only. A successor's secret is derived from the token exchanged for it, so that a client that
 * lost the response gets the same successor again. The check value proves that Signet issued an unknown token: only then
 * is it a replay that revokes the family, so knowing a family's identifier ends nobody's session.
 */
const PREFIX = "sgn_rt_";
const UUID_BYTES = 16;
const BODY_BYTES = UUID_BYTES + 32;
const CHECK_BYTES = 8;
const ENCODED_LENGTH = Math.ceil(((BODY_BYTES + CHECK_BYTES) * 4) / 3);

export interface RefreshTokenKeys {
  /** Derived from the master keys for this purpose only. */
  readonly refreshTokenKeys: KeyRing;
}

export function newRefreshToken(keys: RefreshTokenKeys, orgId: string, familyId: string): string {
  return formatRefreshToken(
    keys.refreshTokenKeys.all()[0],
    orgId,
    familyId,
    randomBytes(BODY_BYTES - UUID_BYTES),
  );
}

/**
 * The successors of a presented token, always the same for the same token: one for each key, since another node, or a time
 * before, may have derived it under another one. The first is the one to write.
 */
export function deriveSuccessors(
  keys: RefreshTokenKeys,
  orgId: string,
  familyId: string,
  presented: string,
): [string, ...string[]] {
  const derive = (key: Buffer) =>
    formatRefreshToken(key, orgId, familyId, mac(key, `successor|${orgId}|${presented}`));
  const [first, ...others] = keys.refreshTokenKeys.all();
  return [derive(first), ...others.map(derive)];
}

/** The family of a token that Signet issued for this organisation; undefined for anything else. */
export function familyIdFromRefreshToken(
  keys: RefreshTokenKeys,
  orgId: string,
  token: string,
): string | undefined {
  if (!token.startsWith(PREFIX) || token.length !== PREFIX.length + ENCODED_LENGTH) return undefined;
  const encoded = token.slice(PREFIX.length);
  const bytes = Buffer.from(encoded, "base64url");
  // One spelling only: other characters that decode to the same bytes are not our token.
  if (bytes.length !== BODY_BYTES + CHECK_BYTES || bytes.toString("base64url") !== encoded) return undefined;
  const body = bytes.subarray(0, BODY_BYTES);
  const check = bytes.subarray(BODY_BYTES);
  if (!isOfRing(keys.refreshTokenKeys, (key) => timingSafeEqual(checkValue(key, orgId, body), check)))
    return undefined;
  return bytesToUuid(body.subarray(0, UUID_BYTES));
}

function formatRefreshToken(key: Buffer, orgId: string, familyId: string, secret: Buffer): string {
  const body = Buffer.concat([uuidToBytes(familyId), secret]);
  return PREFIX + Buffer.concat([body, checkValue(key, orgId, body)]).toString("base64url");
}

function checkValue(key: Buffer, orgId: string, body: Buffer): Buffer {
  return mac(key, `check|${orgId}|${body.toString("base64url")}`).subarray(0, CHECK_BYTES);
}

const mac = (key: Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/**
 * A `jti` is a random UUID, with the token family before it when there is one: revoking a family reaches its access
 * tokens without a list of them.
 * @param random a random UUID; Node prefetches their randomness, which matters once per token
 */
export function newTokenId(familyId: string, random: string = randomUUID()): string {
  return Buffer.concat([uuidToBytes(familyId), uuidToBytes(random)]).toString("base64url");
}

/** Random bits of an id; with a multiple of six, no such `jti` is as long as one with a family. */
const TAG_BYTES = 6;

const tagOf = (scopeId: string): Buffer => uuidToBytes(scopeId).subarray(-TAG_BYTES);

/** The `jti` of a client's own token: a random UUID, and a tag of each of its custom scopes as they are defined now. */
export function newClientTokenId(definitions: ScopeDefinitions): string {
  const tags = Object.values(definitions).map(tagOf);
  return Buffer.concat([uuidToBytes(randomUUID()), ...tags]).toString("base64url");
}

/** Another `jti` for the same tokens. */
export function renewTokenId(jti: string, random: string): string {
  const familyId = familyIdFromTokenId(jti);
  if (familyId !== undefined) return newTokenId(familyId, random);
  const tags = Buffer.from(jti, "base64url").subarray(UUID_BYTES);
  return Buffer.concat([uuidToBytes(random), tags]).toString("base64url");
}

/** Whether the `jti` of a client's own token has the tag of this custom scope; undefined for tokens of older versions. */
export function namesDefinition(jti: string, scopeId: string): boolean | undefined {
  const tags = Buffer.from(jti, "base64url").subarray(UUID_BYTES);
  if (tags.length === 0) return undefined;
  const tag = tagOf(scopeId);
  const starts = Array.from({ length: tags.length / TAG_BYTES }, (_, at) => at * TAG_BYTES);
  return starts.some((start) => tags.subarray(start, start + TAG_BYTES).equals(tag));
}

/** The token family that a `jti` names, as a UUID. */
export function familyIdFromTokenId(jti: string): string | undefined {
  const bytes = Buffer.from(jti, "base64url");
  return bytes.length === 2 * UUID_BYTES ? bytesToUuid(bytes.subarray(0, UUID_BYTES)) : undefined;
}

const uuidToBytes = (uuid: string): Buffer => Buffer.from(uuid.replaceAll("-", ""), "hex");

const bytesToUuid = (bytes: Buffer): string =>
  bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
