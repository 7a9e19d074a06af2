/** The session that a request brings, looked at again when it is time. */
import { SignetError } from "../errors.ts";
import { fromOutside } from "../from-outside.ts";
import { ownSessionKey } from "../sign-in/logout-memory.ts";
import type { CurrentSession } from "../sign-in/mechanism.ts";
import { sha256Text } from "../sign-in/random-text.ts";
import { SESSION_SECONDS } from "../sign-in/sign-in-context.ts";
import { checkedSession } from "./check-session-key.ts";
import type { FederationContext } from "./federation-context.ts";
import { type LegacySession, sessionOf } from "./legacy-session.ts";

export async function currentSession(
  context: FederationContext,
  request: Request,
): Promise<CurrentSession<LegacySession>> {
  const session = sessionOf(await context.session.read(request), context.party);
  const none = (): CurrentSession<LegacySession> => ({
    kind: "none",
    cookies: context.session.clear(request),
  });
  if (!session || session.endsAt <= context.clock()) return none();
  try {
    if (await isSignedOut(context, session)) return none();
    if (!isDue(context, session, 1)) return { kind: "live", session, cookies: [] };
    return await lookedAtAgain(context, request, session);
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    if (error.code !== "session_key") return { kind: "unavailable", error };
    context.onError(error);
    return none();
  }
}

/** @param times of the interval after which the service is asked again */
function isDue(
  { clock, revalidateAfterMs }: FederationContext,
  { checkedAt }: LegacySession,
  times: number,
): boolean {
  const age = clock() - checkedAt;
  // A check from the future: the clock was set back, and nothing is known about the time between.
  return age < 0 || age >= times * revalidateAfterMs;
}

async function lookedAtAgain(
  context: FederationContext,
  request: Request,
  session: LegacySession,
): Promise<CurrentSession<LegacySession>> {
  const { sessionKey } = session;
  try {
    const work = () => checkedSession(context, sessionKey);
    const checked = await context.checks.run(await sha256Text(sessionKey), work);
    // It may have been signed out while this was under way; its cookie must not come back. By now the browser may have that
    // of another session, which must not be dropped: the next request drops what is still this one's.
    if (await isSignedOut(context, session)) return { kind: "none", cookies: [] };
    return { kind: "live", session: checked, cookies: await context.session.write(checked, request) };
  } catch (error) {
    const isAway = error instanceof SignetError && error.code === "provider_unreachable";
    // For one interval more: who is signed in does not notice that the service is away for a moment.
    if (!isAway || isDue(context, session, 2)) throw error;
    context.onError(error);
    return { kind: "live", session, cookies: [] };
  }
}

/** @throws SignetError when it cannot be told: then nobody is let in */
export async function isSignedOut(
  { memory }: FederationContext,
  { sessionKey }: LegacySession,
): Promise<boolean> {
  const name = await memoryKeyOf(sessionKey);
  const [endedAt] = await fromOutside("The memory of ended sessions", () => memory.recall([name]));
  return endedAt !== undefined;
}

/**
 * Ends the session here: a copy of its cookie, or a check that is just under way, must not bring it back.
 *
 * @throws whatever the memory throws
 */
export async function rememberEnd(
  { memory, clock }: FederationContext,
  { sessionKey }: LegacySession,
): Promise<void> {
  await memory.remember(await memoryKeyOf(sessionKey), Math.floor(clock() / 1000), SESSION_SECONDS);
}

const memoryKeyOf = async (sessionKey: string): Promise<string> =>
  ownSessionKey(await sha256Text(sessionKey));
