/** Sign-ins by identity providers: what was said there is told on demand, and what came from them ends together. */
import { sha256Base64url } from "@signet/protocol/hash";
import type { Db } from "../../../db/open.ts";
import { type Act, auditFields, recordAuditEvents } from "../../audit/audit.store.ts";
import type { Encryption } from "../../encryption/encryption.ts";
import { sealedColumn } from "../../encryption/sealed-columns.ts";
import { endGivenSessions, type SessionEnd } from "../../sessions/end-sessions.ts";
import type { Claims } from "./mapping.ts";
import { isStorable } from "./mapping.ts";
import {
  FEDERATED,
  type FromConnection,
  findSessionsFrom,
  findUpstreamSignIn,
  insertUpstreamSignIn,
  revokeFamiliesFrom,
  revokeKeysFrom,
  takeUpstreamSignIns,
  type UpstreamSignIn,
  type UpstreamSignInKey,
} from "./upstream-sign-ins.store.ts";

/** What an ID token or an assertion says about the sign-in behind it, as far as it can be kept. */
export interface UpstreamAuthentication {
  readonly issuer: string;
  readonly sid: string | null;
  readonly acr: string | null;
  readonly amr: readonly string[] | null;
  /** Seconds since 1970. */
  readonly authTime: number | null;
  /** What the provider recognises its session by when somebody signs out here: the ID token as it came, of SAML the NameID. */
  readonly logoutHint?: string;
  /** Of SAML: whom it names when somebody signs out there. */
  readonly nameIdHash?: string;
}

const MAX_TEXT = 255;
const MAX_METHODS = 20;
/** A longer one makes the address of the sign-out there too long for many servers. */
const MAX_HINT = 4_096;

const textOrNull = (value: unknown): string | null =>
  typeof value === "string" && value !== "" && value.length <= MAX_TEXT && isStorable(value) ? value : null;

export function upstreamAuthentication(
  claims: Claims,
  issuer: string,
  { logoutHint, nameId }: { readonly logoutHint?: string; readonly nameId?: string } = {},
): UpstreamAuthentication {
  const { sid, acr, amr, auth_time: authTime } = claims;
  const methods = Array.isArray(amr)
    ? amr.slice(0, MAX_METHODS).flatMap((method: unknown) => textOrNull(method) ?? [])
    : null;
  return {
    ...{ issuer, sid: textOrNull(sid), acr: textOrNull(acr), amr: methods },
    authTime: Number.isSafeInteger(authTime) && Number(authTime) >= 0 ? Number(authTime) : null,
    ...(logoutHint !== undefined && logoutHint.length <= MAX_HINT ? { logoutHint } : {}),
    ...(nameId === undefined ? {} : { nameIdHash: nameIdHash(nameId) }),
  };
}

/** Of any length: one that is transient is no subject, and may have hundreds of characters. */
export const nameIdHash = (nameId: string): string => sha256Base64url(nameId);

const rowName = ({ orgId, userId, signedInAt }: UpstreamSignInKey) =>
  `upstream-sign-in|${orgId}|${userId}|${signedInAt}`;

export const sealedIdTokens = sealedColumn({
  table: "upstream_sign_in",
  column: "id_token",
  key: ["org_id", "user_id", "signed_in_at"],
  rowName: ({ org_id, user_id, signed_in_at }) =>
    rowName({ orgId: String(org_id), userId: String(user_id), signedInAt: Number(signed_in_at) }),
});

/** Longer than any session and any refresh token of it. */
const KEPT_MS = 500 * 86_400_000;

/**
 * @returns when the user signed in: the session's, and that of all tokens and keys that come from it. No other sign-in of the user
 * by a provider has it.
 */
export async function recordUpstreamSignIn(
  db: Db,
  encryption: Encryption,
  {
    upstream: { logoutHint, nameIdHash: hash, ...said },
    now,
    sessionLifetimeSeconds,
    ...of
  }: {
    readonly orgId: string;
    readonly userId: string;
    readonly connectionId: string;
    readonly subject: string;
    readonly upstream: UpstreamAuthentication;
    readonly now: number;
    /** Of the organisation: as long as somebody may sign out there. */
    readonly sessionLifetimeSeconds: number;
  },
): Promise<number> {
  for (let signedInAt = now; ; signedInAt++) {
    const key = { orgId: of.orgId, userId: of.userId, signedInAt };
    const sealed = logoutHint === undefined ? null : encryption.seal(Buffer.from(logoutHint), rowName(key));
    const kept = { idToken: sealed, idTokenUntil: now + sessionLifetimeSeconds * 1000 };
    const signIn = {
      ...{ ...of, ...said, nameIdHash: hash ?? null, signedInAt },
      ...{ ...kept, expiresAt: now + KEPT_MS },
    };
    if (await insertUpstreamSignIn(db, signIn)) return signedInAt;
  }
}

/** @returns undefined for one that came without, or whose master key is gone */
export function openLogoutHint(encryption: Encryption, signIn: UpstreamSignIn): string | undefined {
  if (signIn.idToken === null) return undefined;
  try {
    return encryption.open(signIn.idToken, rowName(signIn)).toString();
  } catch {
    return undefined;
  }
}

/** @returns undefined for what came from no provider */
export const findUpstreamOf = async (
  db: Db,
  {
    amr,
    authTime,
    ...of
  }: {
    readonly orgId: string;
    readonly userId: string;
    readonly amr: readonly string[];
    readonly authTime: number;
  },
): Promise<UpstreamSignIn | undefined> =>
  amr.includes(FEDERATED) ? findUpstreamSignIn(db, { ...of, signedInAt: authTime }) : undefined;

/** The claims `idp` and `upstream` (connections.md §4). */
export const upstreamClaims = ({ connectionId, issuer, acr, amr, authTime }: UpstreamSignIn): Claims => ({
  idp: connectionId,
  upstream: {
    iss: issuer,
    ...(acr === null ? {} : { acr }),
    ...(amr === null ? {} : { amr }),
    ...(authTime === null ? {} : { auth_time: authTime }),
  },
});

/**
 * Ends the sessions that came from sign-ins by a connection, with their refresh tokens (those of `offline_access` too) and session
 * keys. A session in which the user has signed in by own factors since then stands by those.
 * @returns how many sessions there were
 */
export async function endUpstreamSessions(
  tx: Db,
  from: FromConnection,
  { act, reason, now }: { readonly act: Act; readonly reason: SessionEnd["reason"]; readonly now: number },
): Promise<number> {
  const { orgId } = from;
  const all = await takeUpstreamSignIns(tx, from);
  let count = 0;
  // Of a connection there may be a hundred thousand: by statements of many, and not of each.
  for (let at = 0; at < all.length; at += MAX_MOMENTS) {
    const moments = all.slice(at, at + MAX_MOMENTS);
    const ids = await findSessionsFrom(tx, { orgId, moments });
    const ended = await endGivenSessions(tx, { orgId, ids, reason, now });
    const event = { ...auditFields(act, now), action: "user.session-ended" as const };
    await recordAuditEvents(
      tx,
      ended.map(({ id, userId }) => ({ ...event, target: userId, details: { sessionId: id } })),
    );
    await revokeFamiliesFrom(tx, { orgId, moments, now, reason });
    await revokeKeysFrom(tx, { orgId, moments, now, reason });
    count += ended.length;
  }
  return count;
}

const MAX_MOMENTS = 5_000;
