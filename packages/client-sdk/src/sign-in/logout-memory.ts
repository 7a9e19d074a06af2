/** Ended sessions must be remembered by the application, because the sessions themselves are stored in browsers' cookies. */

/**
 * The default remembers in this process. Applications with several processes supply their own over a shared store
 * (`logoutMemory` of `oauthFederated`), because the provider notifies only one of them. Without it, a session that ended
 * elsewhere continues in the other processes until its access token expires and the provider refuses to refresh it. Keys contain
 * no secrets, only ids and users' `sub`.
 */
export interface LogoutMemory {
  /**
   * Marks sessions as ended.
   * @param key names a session, or all sessions of a user
   * @param endedAt seconds since the epoch; a later one for the same key replaces an earlier one
   * @param forgetAfter seconds from now after which no cookie can name the session any more
   */
  remember(key: string, endedAt: number, forgetAfter: number): void | Promise<void>;
  /** @returns the `endedAt` of each key, in order; undefined for what has not ended */
  recall(keys: readonly string[]): readonly (number | undefined)[] | Promise<readonly (number | undefined)[]>;
}

const DEFAULT_MAX_ENTRIES = 100_000;

/**
 * An in-process memory, the default of the filters.
 * @param options.clock milliseconds since the epoch
 * @param options.most maximum number of entries; the oldest are forgotten first
 */
export function createLogoutMemory(
  options: { readonly clock?: () => number; readonly most?: number } = {},
): LogoutMemory {
  const { clock = Date.now, most = DEFAULT_MAX_ENTRIES } = options;
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
        const entry = ended.get(key);
        return entry && entry.until > clock() ? entry.at : undefined;
      }),
  };
}

/** What a session can be ended by. */
interface SessionIds {
  /** Of the application's own session, created at sign-in. */
  readonly id: string;
  /** Of the provider's session, if its ID tokens have one. */
  readonly sid: string | undefined;
  readonly sub: string;
  /** Seconds since the epoch by the provider's clock: `iat` of the sign-in's ID token. */
  readonly since: number;
}

export const localSessionKey = (id: string): string => `session ${id}`;
export const providerSessionKey = (issuer: string, sid: string): string => `sid ${issuer} ${sid}`;
export const subjectKey = (issuer: string, sub: string): string => `sub ${issuer} ${sub}`;

/** Lifetime of a session cookie that isn't renewed. */
export const SESSION_SECONDS = 30 * 86_400;

/** Ends the application's own session. @throws whatever the memory throws */
export async function rememberEnd(
  { memory, clock }: { readonly memory: LogoutMemory; readonly clock: () => number },
  id: string,
): Promise<void> {
  await memory.remember(localSessionKey(id), Math.floor(clock() / 1000), SESSION_SECONDS);
}

/** @throws whatever the memory throws: if it is unknown whether a session has ended, the session must not be accepted */
export async function hasEnded(memory: LogoutMemory, issuer: string, session: SessionIds): Promise<boolean> {
  const { id, sid, sub, since } = session;
  const keys = [subjectKey(issuer, sub), localSessionKey(id)];
  if (sid !== undefined) keys.push(providerSessionKey(issuer, sid));
  const [subjectEndedAt, ...sessionEndedAt] = await memory.recall(keys);
  // All sessions of the user end (Back-Channel Logout 1.0 §2.7), except those that started afterwards.
  return (
    sessionEndedAt.some((at) => at !== undefined) || (subjectEndedAt !== undefined && since <= subjectEndedAt)
  );
}
