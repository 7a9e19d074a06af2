/** Starting, finding and ending sign-ins. The cookie holds a random token; the database its SHA-256. */

import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import type { Database, Db } from "../../db/open.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { Clock } from "../clock.ts";
import type { Organisation } from "../organisations/organisation.ts";
import { revokeTokenFamilies } from "../tokens/tokens.store.ts";
import type { User } from "../users/user.ts";
import { findUser } from "../users/users.store.ts";
import { endSessions } from "./end-sessions.ts";
import type { Session, SignedIn } from "./session.ts";
import { findSession, findSessionById, insertSession, renewSession, touchSession } from "./sessions.store.ts";

export interface SessionDeps {
  readonly database: Database;
  readonly clock: Clock;
}

/** Written at most this often: a page view must not cost a durable write. */
const TOUCH_EVERY_MS = 60_000;

/**
 * Who is signed in by this cookie, if the session lives and the user may still be here.
 * @param looking.isWatching a page that looks by itself: nobody is active by it, and a session idles on beside it
 */
export async function findSignedIn(
  deps: SessionDeps,
  organisation: Organisation,
  token: string | undefined,
  { isWatching = false }: { readonly isWatching?: boolean } = {},
): Promise<SignedIn | undefined> {
  if (token === undefined) return undefined;
  const now = deps.clock();
  const db = deps.database.query;
  const session = await findSession(db, organisation.id, sha256Base64url(token), now);
  if (!session || hasRunOut(session, organisation, now)) return undefined;
  const user = await findUser(db, organisation.id, session.userId);
  if (!user || user.disabledAt !== null) return undefined;
  if (!isWatching && now - session.lastSeenAt >= TOUCH_EVERY_MS) await touchSession(db, session, now);
  return { session, user };
}

const hasRunOut = (session: Session, { settings }: Organisation, now: number): boolean =>
  session.expiresAt <= now || session.lastSeenAt + settings.sessionIdleSeconds * 1000 <= now;

export interface SignIn {
  readonly organisation: Organisation;
  readonly user: User;
  readonly amr: readonly string[];
  readonly acr: string;
  readonly address: string;
  readonly userAgent: string;
  /** Who this browser was signed in as until now. */
  readonly before: SignedIn | undefined;
  /** Milliseconds: when the first of several proofs was given; now when absent. The session lives from then on. */
  readonly authTime?: number;
}

export interface StartedSession {
  readonly session: Session;
  /** The cookie's value. */
  readonly token: string;
}

/**
 * A new cookie at every sign-in (session fixation): the same user's session goes on under it, so that its `sid` stays
 * true for the applications; another user's session ends as if they had signed out.
 */
export function signIn(deps: SessionDeps, input: SignIn): Promise<StartedSession> {
  const now = deps.clock();
  return deps.database.transaction((tx) => signInWithin(tx, input, now));
}

/** The same, in the transaction of what proves the user, so that a proof is used with the session or not at all. */
export async function signInWithin(tx: Db, input: SignIn, now: number): Promise<StartedSession> {
  const token = randomSecret("sgn_bs_");
  const { organisation, user, before, authTime = now } = input;
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
  };
  const tokenHash = sha256Base64url(token);
  const kept = before?.user.id === user.id && (await renewSession(tx, { ...session, tokenHash }));
  const started = kept ? session : { ...session, id: newUuid(), createdAt: now };
  if (!kept) {
    if (before && before.user.id !== user.id)
      await endSession(tx, before.session, { now, actor: `user:${before.user.id}`, address: input.address });
    await insertSession(tx, {
      ...started,
      tokenHash,
      address: input.address,
      userAgent: input.userAgent.slice(0, 300),
    });
  }
  await recordAuditEvent(tx, {
    orgId: organisation.id,
    at: now,
    actor: `user:${user.id}`,
    action: kept ? "session.renewed" : "session.started",
    target: started.id,
    address: input.address,
    details: { amr: input.amr },
  });
  return { session: started, token };
}

/**
 * Ends the session and the refresh tokens that live by it. What was granted with `offline_access` is for the time when
 * the user is not there, and stays.
 */
export async function signOut(deps: SessionDeps, signedIn: SignedIn, address: string): Promise<void> {
  const now = deps.clock();
  const actor = `user:${signedIn.user.id}`;
  await deps.database.transaction((tx) => endSession(tx, signedIn.session, { now, actor, address }));
}

/**
 * A session that ran out with no sign-out: what went on after it (refresh tokens, the applications' own sessions) ends with
 * the sign-out that comes now. One that still lives is its own browser's to end.
 * @param which of a genuine ID token
 */
export async function signOutRunOut(
  deps: SessionDeps,
  organisation: Organisation,
  which: { sessionId: string; userId: string; actor: string; address: string },
): Promise<void> {
  const now = deps.clock();
  const { id: orgId } = organisation;
  const { sessionId, userId, actor, address } = which;
  await deps.database.transaction(async (tx) => {
    const session = await findSessionById(tx, orgId, sessionId);
    // Housekeeping has forgotten it, and with it whom it was used for.
    if (!session) {
      const revoked = await revokeTokenFamilies(tx, { orgId, sessionId, now, reason: "signed_out" });
      if (revoked > 0) await recordEnd(tx, { orgId, sessionId, now, actor, address });
    } else if (session.userId === userId && hasRunOut(session, organisation, now))
      await endSession(tx, session, { now, actor, address });
  });
}

async function endSession(
  tx: Db,
  { orgId, id: sessionId, userId }: Session,
  { now, actor, address }: { now: number; actor: string; address: string },
): Promise<void> {
  const ended = await endSessions(tx, { orgId, userId, sessionId, now, reason: "signed_out" });
  if (ended > 0) await recordEnd(tx, { orgId, sessionId, now, actor, address });
}

const recordEnd = (
  tx: Db,
  end: { orgId: string; sessionId: string; now: number; actor: string; address: string },
): Promise<void> => {
  const { orgId, sessionId: target, now: at, actor, address } = end;
  return recordAuditEvent(tx, { orgId, at, actor, action: "session.ended", target, address });
};
