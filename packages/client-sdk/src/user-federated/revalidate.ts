/** Revalidates a session key when due. Signing out elsewhere takes effect here. */
import { callApplication } from "../application-callbacks.ts";
import { sha256Base64url } from "../base64url.ts";
import { SignetError } from "../errors.ts";
import { localSessionKey, rememberEnd } from "../sign-in/logout-memory.ts";
import { type LegacySession, type UserFederatedContext, validateSessionKey } from "./session-key.ts";

/** Undefined if the session has ended. @throws SignetError if the service has been unavailable for too long */
export async function renewSession(
  context: UserFederatedContext,
  session: LegacySession,
): Promise<LegacySession | undefined> {
  const { clock, revalidateAfterMs, validations, onError } = context;
  const { sessionKey, endsAt, checkedAt } = session;
  // Negative if the clock was set back: nothing is known about the time in between.
  const isOlderThan = (ms: number) => clock() < checkedAt || clock() >= checkedAt + ms;
  if (endsAt <= clock()) return undefined;
  if (!isOlderThan(revalidateAfterMs)) return session;
  try {
    const key = await sha256Base64url(sessionKey);
    return await validations.run(key, () => validateSessionKey(context, sessionKey));
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    const isEnded = error.code === "session_key";
    // For one more interval, an outage of the service goes unnoticed.
    const isBridged = error.code === "provider_unreachable" && !isOlderThan(2 * revalidateAfterMs);
    if (!isEnded && !isBridged) throw error;
    onError(error);
    return isEnded ? undefined : session;
  }
}

/** @throws SignetError if unknown: then nobody is let in */
export async function hasSessionEnded(
  { memory }: UserFederatedContext,
  { sessionKey }: LegacySession,
): Promise<boolean> {
  const key = localSessionKey(await sha256Base64url(sessionKey));
  const [endedAt] = await callApplication("The logout memory", () => memory.recall([key]));
  return endedAt !== undefined;
}

export async function rememberSessionEnd(
  context: UserFederatedContext,
  { sessionKey }: LegacySession,
): Promise<void> {
  await rememberEnd(context, await sha256Base64url(sessionKey));
}
