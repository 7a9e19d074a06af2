/** Starts, finds and ends browser sessions. The cookie holds a random token, the database its SHA-256. */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import { type Act, auditFields, recordAuditEvent } from "../audit/audit.store.ts";
import { recordOnce } from "../audit/unauthenticated-events.ts";
import type { CoreDeps } from "../core-deps.ts";
import { lockActiveDevice } from "../devices/devices.store.ts";
import type { Organisation } from "../organisations/organisation.ts";
import { revokeTokenFamilies } from "../tokens/tokens.store.ts";
import type { User } from "../users/user.ts";
import { findUser } from "../users/users.store.ts";
import { endSessions } from "./end-sessions.ts";
import type { Session, SignedIn } from "./session.ts";
import type { SessionBindings } from "./session-bindings.ts";
import {
  findSession,
  findSessionById,
  insertSession,
  renewSession,
  setSessionDevice,
  touchSession,
} from "./sessions.store.ts";

/** The interval of writes: a page view must not cost a durable write. */
const TOUCH_EVERY_MS = 60_000;

export interface SessionDeps extends CoreDeps {
  readonly sessionBindings: SessionBindings;
}

/**
 * The session of this cookie, if it is active and the user enabled.
 * @param options.isBackground a request by a polling page, which doesn't reset the idle timeout
 * @param options.proof the cookie of a session that is bound to a key: without it, the session's own is nobody's
 */
export async function findCurrentSession(
  deps: SessionDeps,
  organisation: Organisation,
  token: string | undefined,
  {
    isBackground = false,
    proof,
  }: { readonly isBackground?: boolean; readonly proof?: string | undefined } = {},
): Promise<SignedIn | undefined> {
  if (token === undefined) return undefined;
  const now = deps.clock();
  const db = deps.database.query;
  const session = await findSession(db, organisation.id, sha256Base64url(token), now);
  if (!session || hasExpired(session, organisation, now)) return undefined;
  const user = await findUser(db, organisation.id, session.userId);
  if (!user || user.disabledAt !== null) return undefined;
  if (!deps.sessionBindings.isProven(session, proof)) {
    await recordUnproven(deps, session, "no-proof");
    return undefined;
  }
  if (!isBackground && now - session.lastSeenAt >= TOUCH_EVERY_MS) await touchSession(db, session, now);
  return { session, user };
}

/** A stolen cookie, or a browser that has lost its key: once a minute for each session. */
export const recordUnproven = (
  deps: CoreDeps,
  { orgId, id, userId }: Session,
  reason: "no-proof" | "another-key",
): Promise<void> =>
  recordOnce(deps, { orgId, subject: `session-unproven|${id}|${reason}` }, () => ({
    actor: "anonymous",
    action: "session.unproven",
    target: userId,
    details: { sessionId: id, reason },
  }));

export const hasExpired = (session: Session, { settings }: Organisation, now: number): boolean =>
  session.expiresAt <= now || session.lastSeenAt + settings.sessionIdleSeconds * 1000 <= now;

export interface SignIn {
  readonly organisation: Organisation;
  readonly user: User;
  readonly amr: readonly string[];
  readonly acr: string;
  readonly address: string;
  readonly userAgent: string;
  readonly before: SignedIn | undefined;
  /** Milliseconds: when the first factor was verified, now by default. The session's lifetime starts then. */
  readonly authTime?: number;
  /** The machine that the browser runs on, if that is known. */
  readonly deviceId?: string | undefined;
  /** What the sign-in was for, for the audit log. */
  readonly applicationId?: string | undefined;
}

export const DEVICE_REVOKED = "This device has been revoked.";

export interface StartedSession {
  readonly session: Session;
  /** The cookie's value. */
  readonly token: string;
}

/**
 * Sets a new cookie at every sign-in (session fixation). The same user's session continues, so that its `sid` stays valid
 * for the applications; another user's session ends.
 */
export function signIn(deps: CoreDeps, input: SignIn): Promise<StartedSession> {
  const now = deps.clock();
  return deps.database.transaction((tx) => startSession(tx, input, now));
}

/**
 * Within the transaction that consumes the proof.
 * @throws OAuthError access_denied when the machine's device has been revoked
 */
export async function startSession(tx: Db, input: SignIn, now: number): Promise<StartedSession> {
  const token = randomSecret("sgn_bs_");
  const { organisation, user, before, authTime = now, applicationId, deviceId } = input;
  const session: Session = {
    orgId: organisation.id,
    id: before?.session.id ?? newUuid(),
    userId: user.id,
    authTime,
    amr: input.amr,
    acr: input.acr,
    createdAt: before?.session.createdAt ?? now,
    lastSeenAt: now,
    expiresAt: authTime + organisation.settings.sessionLifetimeSeconds * 1000,
    deviceId: deviceId ?? before?.session.deviceId ?? null,
    boundKey: before?.session.boundKey ?? null,
    boundAt: before?.session.boundAt ?? null,
  };
  // Locked, so that a revocation of the device finds the session.
  if (session.deviceId && !(await lockActiveDevice(tx, organisation.id, session.deviceId)))
    throw new OAuthError("access_denied", DEVICE_REVOKED, { status: 403 });
  const tokenHash = sha256Base64url(token);
  const isRenewed = before?.user.id === user.id && (await renewSession(tx, { ...session, tokenHash }));
  const unbound = { boundKey: null, boundAt: null };
  const started = isRenewed ? session : { ...session, ...unbound, id: newUuid(), createdAt: now };
  if (!isRenewed) {
    if (before && before.user.id !== user.id)
      await endSession(tx, before.session, { now, actor: `user:${before.user.id}`, address: input.address });
    const browser = { address: input.address, userAgent: input.userAgent.slice(0, 300) };
    await insertSession(tx, { ...started, tokenHash, ...browser });
  }
  const act = { orgId: organisation.id, at: now, actor: `user:${user.id}`, address: input.address };
  const action = isRenewed ? "session.renewed" : "session.started";
  const previousAcr = isRenewed ? before?.session.acr : undefined;
  await recordAuditEvent(tx, {
    ...{ ...act, action, target: started.id, applicationId },
    details: {
      ...{ amr: input.amr, ...(started.deviceId ? { deviceId: started.deviceId } : {}) },
      // Receivers of shared signals are told (core/event-streams).
      ...(previousAcr === undefined || previousAcr === input.acr ? {} : { acr: input.acr, previousAcr }),
    },
  });
  return { session: started, token };
}

/**
 * A session that is known to be on a machine ends with its device from now on. Nothing happens to one that has a device.
 * @param tx in which the device is locked (`lockActiveDevice`)
 */
export async function linkSessionToDevice(
  tx: Db,
  { deviceId, sessionId, ...act }: Act & { readonly deviceId: string; readonly sessionId: string },
  now: number,
): Promise<void> {
  if (!(await setSessionDevice(tx, { orgId: act.orgId, id: sessionId, deviceId }))) return;
  const event = { ...auditFields(act, now), action: "session.device-linked", target: sessionId } as const;
  await recordAuditEvent(tx, { ...event, details: { deviceId } });
}

/** Ends the session and its refresh tokens, except those with `offline_access`. */
export async function signOut(deps: CoreDeps, signedIn: SignedIn, address: string): Promise<void> {
  const now = deps.clock();
  const actor = `user:${signedIn.user.id}`;
  await deps.database.transaction((tx) => endSession(tx, signedIn.session, { now, actor, address }));
}

/**
 * Ends the session that a valid ID token names, without its cookie: browsers and backends of applications send the token
 * where the cookie is not. Also an expired one, whose refresh tokens and application sessions may continue.
 */
export async function signOutHintedSession(
  deps: CoreDeps,
  organisation: Organisation,
  which: { sessionId: string; userId: string; actor: string; address: string },
): Promise<void> {
  const now = deps.clock();
  const { sessionId, userId, ...by } = which;
  const act = { ...by, orgId: organisation.id };
  await deps.database.transaction(async (tx) => {
    const session = await findSessionById(tx, act.orgId, sessionId);
    // Housekeeping has removed it, with the record of its applications.
    if (!session) {
      const end = { orgId: act.orgId, sessionId, now, reason: "signed_out" };
      if ((await revokeTokenFamilies(tx, end)) > 0) await recordEnd(tx, sessionId, act, now);
    } else if (session.userId === userId) await endSession(tx, session, { ...by, now });
  });
}

async function endSession(
  tx: Db,
  { orgId, id: sessionId, userId }: Session,
  { now, actor, address }: { now: number; actor: string; address: string },
): Promise<void> {
  const ended = await endSessions(tx, { orgId, userId, sessionId, now, reason: "signed_out" });
  if (ended > 0) await recordEnd(tx, sessionId, { orgId, actor, address }, now);
}

const recordEnd = (tx: Db, sessionId: string, act: Act, now: number): Promise<void> =>
  recordAuditEvent(tx, { ...auditFields(act, now), action: "session.ended", target: sessionId });
