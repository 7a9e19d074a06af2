/** Starting, finding and ending sign-ins. The cookie holds a random token; the database its SHA-256. */
import { randomUUIDv7 } from "node:crypto";
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import type { Database, Db } from "../../db/open.ts";
import { recordAuditEvent } from "../audit/store.ts";
import type { Clock } from "../clock.ts";
import type { Organisation } from "../organisations/organisation.ts";
import { findUser } from "../users/store.ts";
import type { User } from "../users/user.ts";
import { endSessions } from "./end-sessions.ts";
import type { Session, SignedIn } from "./session.ts";
import { findSession, insertSession, renewSession, touchSession } from "./store.ts";

export interface SessionDeps {
  readonly database: Database;
  readonly clock: Clock;
}

/** Written at most this often: a page view must not cost a durable write. */
const TOUCH_EVERY_MS = 60_000;

/** Who is signed in by this cookie, if the session lives and the user may still be here. */
export async function findSignedIn(
  deps: SessionDeps,
  organisation: Organisation,
  token: string | undefined,
): Promise<SignedIn | undefined> {
  if (token === undefined) return undefined;
  const now = deps.clock();
  const db = deps.database.query;
  const session = await findSession(db, organisation.id, sha256Base64url(token), now);
  if (!session || session.lastSeenAt + organisation.settings.sessionIdleSeconds * 1000 <= now)
    return undefined;
  const user = await findUser(db, organisation.id, session.userId);
  if (!user || user.disabledAt !== null) return undefined;
  if (now - session.lastSeenAt >= TOUCH_EVERY_MS) await touchSession(db, session, now);
  return { session, user };
}

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
    id: before?.session.id ?? randomUUIDv7(),
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
  const started = kept ? session : { ...session, id: randomUUIDv7(), createdAt: now };
  if (!kept) {
    if (before && before.user.id !== user.id) await endSession(tx, before, now, input.address);
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
  await deps.database.transaction((tx) => endSession(tx, signedIn, now, address));
}

async function endSession(tx: Db, { session, user }: SignedIn, now: number, address: string): Promise<void> {
  const { orgId, id: sessionId } = session;
  const ended = await endSessions(tx, { orgId, userId: user.id, sessionId, now, reason: "signed_out" });
  if (ended === 0) return;
  await recordAuditEvent(tx, {
    orgId,
    at: now,
    actor: `user:${user.id}`,
    action: "session.ended",
    target: sessionId,
    address,
  });
}
