/** Session keys: issuing, validating, converting, revoking. */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import { mayUse } from "../application-access/application-access.ts";
import type { Application } from "../applications/application.ts";
import type { ApplicationDirectory } from "../applications/applications.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { Organisation } from "../organisations/organisation.ts";
import type { OrganisationDirectory } from "../organisations/organisations.ts";
import type { User } from "../users/user.ts";
import { findUser } from "../users/users.store.ts";
import {
  FIRST_USE_DEADLINE_MS,
  type SessionKey,
  type SessionKeyKind,
  type SessionKeyRefusal,
  sessionKeyRefusal,
  TEMPORARY_KEY_MS,
} from "./session-key.ts";
import {
  findSessionKey,
  insertSessionKey,
  listActiveSessionKeys,
  revokeSessionKeys,
  touchSessionKey,
} from "./session-keys.store.ts";

export interface SessionKeyDeps extends CoreDeps {
  readonly organisations: OrganisationDirectory;
  readonly applications: ApplicationDirectory;
}

/** The last use is written at most this often: a call must not cost a durable write. */
const TOUCH_INTERVAL_MS = 60_000;

export interface NewSessionKey extends Omit<SessionKey, "id" | "kind" | KeyTimes> {
  readonly now: number;
}

type KeyTimes = "createdAt" | "validatedAt" | "lastSeenAt" | "expiresAt";

export interface IssuedSessionKey {
  readonly key: SessionKey;
  /** The key itself, `sgn_sk_…`: returned once, never stored. */
  readonly secret: string;
}

/**
 * Issues a `Service` key. The caller checks that the user may use the application, and locks the password (`lockIfPasswordUnchanged`)
 * in the same transaction.
 */
export function issueSessionKey(tx: Db, input: NewSessionKey): Promise<IssuedSessionKey> {
  return insertNewKey(tx, input, "Service", input.now + FIRST_USE_DEADLINE_MS, `user:${input.userId}`);
}

export interface ValidSessionKey {
  readonly key: SessionKey;
  readonly user: User;
  readonly organisation: Organisation;
  readonly application: Application;
}

/**
 * Validates a key, its user, application and organisation. The first use extends a `Service` key to the lifetime of its
 * session.
 * @returns the key and its owner, or the reason for the log
 */
export async function validateSessionKey(
  deps: SessionKeyDeps,
  presented: string,
): Promise<ValidSessionKey | SessionKeyRefusal> {
  if (!/^sgn_sk_[A-Za-z0-9_-]{43}$/.test(presented)) return "unknown key";
  const now = deps.clock();
  const db = deps.database.query;
  const found = await findSessionKey(db, sha256Base64url(presented));
  if (!found) return "unknown key";
  const refusal = sessionKeyRefusal(found, now);
  if (refusal) return refusal;
  const organisation = await deps.organisations.find(found.orgId);
  if (!organisation) return "organisation disabled";
  const application = await deps.applications.find(found.orgId, found.applicationId);
  if (!application) return "application disabled";
  if (found.kind === "UserPerm" && !application.settings.allowPermanentKeys)
    return "permanent keys not allowed";
  const user = await findUser(db, found.orgId, found.userId);
  if (!user || user.disabledAt !== null) return "user disabled or gone";
  if (!(await mayUse(db, application, user.id))) return "user not assigned to the application";
  const isFresh = found.validatedAt !== null && now - found.lastSeenAt < TOUCH_INTERVAL_MS;
  const key = isFresh ? found : await touchSessionKey(db, found, sessionEndTime(found, organisation), now);
  // Revoked between the read and the write.
  return key ? { key, user, organisation, application } : "revoked key";
}

const sessionEndTime = ({ authTime }: Pick<SessionKey, "authTime">, { settings }: Organisation): number =>
  authTime + settings.sessionLifetimeSeconds * 1000;

/**
 * Issues another key for the same user and application; the old key stays valid. A temporary key ends with the session at
 * the latest, a permanent key outlives it; the caller checks that the application allows permanent keys.
 * @returns undefined when the old key has ended meanwhile
 */
export function convertSessionKey(
  deps: CoreDeps,
  { key, organisation }: Pick<ValidSessionKey, "key" | "organisation">,
  kind: "UserTemp" | "UserPerm",
  act: { readonly address: string; readonly actor?: string },
): Promise<IssuedSessionKey | undefined> {
  const now = deps.clock();
  const sessionEnd = sessionEndTime(key, organisation);
  const temporaryEnd =
    key.kind === "UserPerm" ? now + TEMPORARY_KEY_MS : Math.min(now + TEMPORARY_KEY_MS, sessionEnd);
  return deps.database.transaction(async (tx) => {
    // Locks the old key: a concurrent revocation finds the new key, or prevents it.
    if (!(await touchSessionKey(tx, key, sessionEnd, now))) return undefined;
    const isPermanent = kind === "UserPerm";
    const input = { ...key, sessionId: isPermanent ? null : key.sessionId, address: act.address, now };
    const expiresAt = isPermanent ? null : temporaryEnd;
    return insertNewKey(tx, input, kind, expiresAt, act.actor ?? `user:${key.userId}`);
  });
}

async function insertNewKey(
  tx: Db,
  input: NewSessionKey,
  kind: SessionKeyKind,
  expiresAt: number | null,
  actor: string,
): Promise<IssuedSessionKey> {
  const { orgId, applicationId, userId, sessionId, authTime, amr, acr, address, now } = input;
  const secret = randomSecret("sgn_sk_");
  const times = { createdAt: now, validatedAt: null, lastSeenAt: now, expiresAt };
  const owner = { orgId, id: newUuid(), kind, applicationId, userId, sessionId };
  const key: SessionKey = { ...owner, authTime, amr, acr, address, ...times };
  await insertSessionKey(tx, { ...key, keyHash: sha256Base64url(secret) });
  const event = { orgId, at: now, actor, action: "session-key.issued" as const, target: key.id, address };
  await recordAuditEvent(tx, { ...event, applicationId, details: { kind, applicationId, userId } });
  return { key, secret };
}

/** @returns false when it was revoked before */
export async function revokeSessionKey(
  tx: Db,
  key: Pick<SessionKey, "orgId" | "id">,
  act: { readonly reason: string; readonly actor: string; readonly address?: string; readonly now: number },
): Promise<boolean> {
  const { reason, actor, address, now } = act;
  if ((await revokeSessionKeys(tx, { ...key, reason, now })) === 0) return false;
  const event = { orgId: key.orgId, at: now, actor, action: "session-key.revoked", target: key.id } as const;
  await recordAuditEvent(tx, { ...event, address, details: { reason } });
  return true;
}

/** The user's active session keys, oldest first; one more than the limit, to tell that there is a next page. */
export function listServiceSessions(
  deps: CoreDeps,
  of: { readonly orgId: string; readonly userId: string; readonly applicationIds?: readonly string[] },
  page: { readonly limit: number; readonly after: string | undefined },
): Promise<SessionKey[]> {
  return listActiveSessionKeys(deps.database.query, { ...of, now: deps.clock() }, page);
}
