/** The session of a request, revalidated when due. */
import { callApplication } from "../application-callbacks.ts";
import { sha256Base64url } from "../base64url.ts";
import { SignetError } from "../errors.ts";
import { localSessionKey } from "../sign-in/logout-memory.ts";
import { type CurrentSession, SESSION_SECONDS } from "../sign-in/sign-in.ts";
import {
  type LegacySession,
  parseSession,
  type UserFederatedContext,
  validateSessionKey,
} from "./session-key.ts";

export async function currentSession(
  context: UserFederatedContext,
  request: Request,
): Promise<CurrentSession<LegacySession>> {
  const session = parseSession(await context.session.read(request), context.party);
  const none = (): CurrentSession<LegacySession> => ({
    kind: "none",
    cookies: context.session.clear(request),
  });
  if (!session || session.endsAt <= context.clock()) return none();
  try {
    if (await hasEnded(context, session)) return none();
    if (!isOlderThan(context, session, 1)) return { kind: "active", session, cookies: [] };
    return await revalidate(context, request, session);
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    if (error.code !== "session_key") return { kind: "unavailable", error };
    context.onError(error);
    return none();
  }
}

/** @param intervals multiples of `revalidateAfterSeconds` */
function isOlderThan(
  { clock, revalidateAfterMs }: UserFederatedContext,
  { checkedAt }: LegacySession,
  intervals: number,
): boolean {
  const age = clock() - checkedAt;
  // Negative if the clock was set back: nothing is known about the time in between.
  return age < 0 || age >= intervals * revalidateAfterMs;
}

async function revalidate(
  context: UserFederatedContext,
  request: Request,
  session: LegacySession,
): Promise<CurrentSession<LegacySession>> {
  const { sessionKey } = session;
  try {
    const key = await sha256Base64url(sessionKey);
    const checked = await context.validations.run(key, () => validateSessionKey(context, sessionKey));
    // It may have been signed out meanwhile; its cookie must not come back. The browser may already have another session's
    // cookie, which must not be deleted: the next request deletes what is still this one's.
    if (await hasEnded(context, session)) return { kind: "none", cookies: [] };
    return { kind: "active", session: checked, cookies: await context.session.write(checked, request) };
  } catch (error) {
    const isUnreachable = error instanceof SignetError && error.code === "provider_unreachable";
    // For one more interval, an outage of the service goes unnoticed.
    if (!isUnreachable || isOlderThan(context, session, 2)) throw error;
    context.onError(error);
    return { kind: "active", session, cookies: [] };
  }
}

/** @throws SignetError if unknown: then nobody is let in */
export async function hasEnded(
  { memory }: UserFederatedContext,
  { sessionKey }: LegacySession,
): Promise<boolean> {
  const key = localSessionKey(await sha256Base64url(sessionKey));
  const [endedAt] = await callApplication("The logout memory", () => memory.recall([key]));
  return endedAt !== undefined;
}

/** A copied cookie, or a pending revalidation, must not restore the session. @throws whatever the memory throws */
export async function rememberEnd(
  { memory, clock }: UserFederatedContext,
  { sessionKey }: LegacySession,
): Promise<void> {
  const key = localSessionKey(await sha256Base64url(sessionKey));
  await memory.remember(key, Math.floor(clock() / 1000), SESSION_SECONDS);
}
