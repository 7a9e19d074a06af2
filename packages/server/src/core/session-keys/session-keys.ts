/** Making session keys, taking them as a credential, converting them, and ending them. */

import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import type { Database, Db } from "../../db/open.ts";
import { mayUse } from "../application-access/application-access.ts";
import type { Application } from "../applications/application.ts";
import type { ApplicationDirectory } from "../applications/applications.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { Clock } from "../clock.ts";
import type { Organisation } from "../organisations/organisation.ts";
import type { OrganisationDirectory } from "../organisations/organisations.ts";
import type { User } from "../users/user.ts";
import { findUser } from "../users/users.store.ts";
import {
  FIRST_USE_MS,
  refusalOf,
  type SessionKey,
  type SessionKeyKind,
  type SessionKeyRefusal,
  TEMPORARY_KEY_MS,
} from "./session-key.ts";
import {
  findSessionKey,
  insertSessionKey,
  listLivingKeys,
  revokeSessionKeys,
  touchSessionKey,
} from "./session-keys.store.ts";

export interface SessionKeyDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly organisations: OrganisationDirectory;
  readonly applications: ApplicationDirectory;
}

/** Written at most this often: a call with a key must not cost a durable write. */
const TOUCH_EVERY_MS = 60_000;

export interface NewSessionKey {
  readonly orgId: string;
  readonly applicationId: string;
  readonly userId: string;
  /** The browser session that it is made in; null for a program's sign-in. */
  readonly sessionId: string | null;
  readonly authTime: number;
  readonly amr: readonly string[];
  readonly acr: string;
  /** Where the browser or the program is. */
  readonly address: string;
  readonly now: number;
}

export interface IssuedSessionKey {
  readonly key: SessionKey;
  /** The key itself, `sgn_sk_…`: shown once, kept by nobody here. */
  readonly secret: string;
}

/**
 * A `Service` key. Whether the user may use the application is the caller's to look at; a user who signs in with a
 * password is held (`holdPassword`) in the same transaction.
 */
export function issueSessionKey(tx: Db, input: NewSessionKey): Promise<IssuedSessionKey> {
  return insertNew(tx, input, "Service", input.now + FIRST_USE_MS, `user:${input.userId}`);
}

export interface ValidSessionKey {
  readonly key: SessionKey;
  readonly user: User;
  readonly organisation: Organisation;
  readonly application: Application;
}

/**
 * Who holds this key, if it lives and everybody concerned may still be here. The first call makes a `Service` key live
 * as long as its session.
 * @returns the reason for the log when it is not taken
 */
export async function validateSessionKey(
  deps: SessionKeyDeps,
  presented: string,
): Promise<ValidSessionKey | SessionKeyRefusal> {
  if (!isSessionKeyText(presented)) return "unknown key";
  const now = deps.clock();
  const db = deps.database.query;
  const found = await findSessionKey(db, sha256Base64url(presented));
  if (!found) return "unknown key";
  const refusal = refusalOf(found, now);
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
  const isFresh = found.validatedAt !== null && now - found.lastSeenAt < TOUCH_EVERY_MS;
  const key = isFresh ? found : await touchSessionKey(db, found, sessionEndOf(found, organisation), now);
  // Somebody ended it between the look and the write.
  return key ? { key, user, organisation, application } : "revoked key";
}

/** The form of a key: what has not got it is not looked up. */
export const isSessionKeyText = (text: string): boolean => /^sgn_sk_[A-Za-z0-9_-]{43}$/.test(text);

const sessionEndOf = ({ authTime }: Pick<SessionKey, "authTime">, { settings }: Organisation): number =>
  authTime + settings.sessionLifetimeSeconds * 1000;

/**
 * A new key of the same user and application; the old one stays as it was. A temporary one ends with the session at the
 * latest, a permanent one (which the application must allow: the caller's to look at) outlives it.
 * @returns undefined when the old one has ended meanwhile
 */
export function convertSessionKey(
  deps: Pick<SessionKeyDeps, "database" | "clock">,
  { key, organisation }: Pick<ValidSessionKey, "key" | "organisation">,
  kind: "UserTemp" | "UserPerm",
  act: { readonly address: string; readonly actor?: string },
): Promise<IssuedSessionKey | undefined> {
  const now = deps.clock();
  const sessionEnd = sessionEndOf(key, organisation);
  const temporaryEnd =
    key.kind === "UserPerm" ? now + TEMPORARY_KEY_MS : Math.min(now + TEMPORARY_KEY_MS, sessionEnd);
  return deps.database.transaction(async (tx) => {
    // Held: an end at the same time finds the new key, or keeps it from being made.
    if (!(await touchSessionKey(tx, key, sessionEnd, now))) return undefined;
    const isPermanent = kind === "UserPerm";
    const made = { ...key, sessionId: isPermanent ? null : key.sessionId, address: act.address, now };
    return insertNew(tx, made, kind, isPermanent ? null : temporaryEnd, act.actor ?? `user:${key.userId}`);
  });
}

async function insertNew(
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
  await recordAuditEvent(tx, { ...event, details: { kind, applicationId, userId } });
  return { key, secret };
}

/** Ends one key. @returns false when it has ended before */
export async function revokeSessionKey(
  tx: Db,
  key: Pick<SessionKey, "orgId" | "id">,
  act: { readonly reason: string; readonly actor: string; readonly address?: string; readonly now: number },
): Promise<boolean> {
  const { reason, actor, address, now } = act;
  if ((await revokeSessionKeys(tx, { ...key, reason, now })) === 0) return false;
  const from = address === undefined ? {} : { address };
  const event = { orgId: key.orgId, at: now, actor, action: "session-key.revoked" as const, target: key.id };
  await recordAuditEvent(tx, { ...event, ...from, details: { reason } });
  return true;
}

/** What a user is signed in to by session keys (one more than the limit), oldest first. */
export function listServiceSessions(
  deps: Pick<SessionKeyDeps, "database" | "clock">,
  of: { readonly orgId: string; readonly userId: string; readonly applicationIds?: readonly string[] },
  page: { readonly limit: number; readonly after: string | undefined },
): Promise<SessionKey[]> {
  return listLivingKeys(deps.database.query, { ...of, now: deps.clock() }, page);
}
