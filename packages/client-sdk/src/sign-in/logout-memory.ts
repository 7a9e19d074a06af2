/**
 * Which sessions have ended. The session is in the browser's cookie, so signing out elsewhere (back-channel logout), or here
 * with a copy of the cookie somewhere, is known only by being remembered at the application's side.
 */

/**
 * The default remembers in this process. An application of several processes gives its own, over a store that they share
 * (`logoutMemory` of `oauthFederated`): the provider tells only one of them. Keys hold no secrets: ids, and the `sub` of users.
 * Without it a session that was ended elsewhere goes on in the other processes until its access token runs out and the
 * provider refuses to refresh it.
 */
export interface LogoutMemory {
  /**
   * From now on the session is over.
   *
   * @param key names a session, or all sessions of a user
   * @param endedAt seconds since the epoch; a later one for the same key replaces an earlier one
   * @param forgetAfter seconds from now, after which no cookie can name the session any more
   */
  remember(key: string, endedAt: number, forgetAfter: number): void | Promise<void>;
  /** @returns the `endedAt` of each key, in their order; undefined for what has not ended */
  recall(keys: readonly string[]): readonly (number | undefined)[] | Promise<readonly (number | undefined)[]>;
}

/** About 20 MB at most. */
const MOST = 100_000;

/**
 * A memory of this process, until it ends: the default of the filters.
 *
 * @param options.clock milliseconds since the epoch
 * @param options.most past it, what was remembered first is forgotten first
 */
export function createLogoutMemory(
  options: { readonly clock?: () => number; readonly most?: number } = {},
): LogoutMemory {
  const { clock = Date.now, most = MOST } = options;
  const ended = new Map<string, { readonly at: number; readonly until: number }>();
  return {
    remember: (key, endedAt, forgetAfter) => {
      const at = Math.max(endedAt, ended.get(key)?.at ?? endedAt);
      ended.delete(key);
      ended.set(key, { at, until: clock() + forgetAfter * 1000 });
      for (const [oldest, { until }] of ended) {
        if (ended.size <= most && until > clock()) break;
        ended.delete(oldest);
      }
    },
    recall: (keys) =>
      keys.map((key) => {
        const found = ended.get(key);
        return found && found.until > clock() ? found.at : undefined;
      }),
  };
}

/** What a session can be ended by. */
export interface SessionNames {
  /** Of the application's own session, made at sign-in. */
  readonly id: string;
  /** Of the provider's session, where its ID tokens have one. */
  readonly sid: string | undefined;
  readonly sub: string;
  /** Seconds since the epoch, by the provider's clock: `iat` of the ID token of the sign-in. */
  readonly since: number;
}

export const ownSessionKey = (id: string): string => `session ${id}`;
export const providerSessionKey = (issuer: string, sid: string): string => `sid ${issuer} ${sid}`;
export const subjectKey = (issuer: string, sub: string): string => `sub ${issuer} ${sub}`;

/** @throws whatever the memory throws: who cannot tell whether a session has ended must not let it in */
export async function hasEnded(
  memory: LogoutMemory,
  issuer: string,
  session: SessionNames,
): Promise<boolean> {
  const { id, sid, sub, since } = session;
  const keys = [subjectKey(issuer, sub), ownSessionKey(id)];
  if (sid !== undefined) keys.push(providerSessionKey(issuer, sid));
  const [subjectEndedAt, ...sessionEndedAt] = await memory.recall(keys);
  // All sessions of a user end (Back-Channel Logout 1.0 §2.7), but not those that began afterwards.
  return (
    sessionEndedAt.some((at) => at !== undefined) || (subjectEndedAt !== undefined && since <= subjectEndedAt)
  );
}
