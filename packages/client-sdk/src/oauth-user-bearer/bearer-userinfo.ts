/** The properties of an API's caller: access tokens rarely have them, userinfo does (specification, "User"). */
import { sha256Base64url } from "../base64url.ts";
import { SignetError } from "../errors.ts";
import { scopesOfClaims } from "../principal.ts";
import type { Provider } from "../provider/discovery.ts";
import type { Http } from "../provider/http.ts";
import { type FetchedUserinfo, fetchUserinfo, type UserinfoSignature } from "../provider/userinfo.ts";
import { createSingleFlight } from "../sign-in/single-flight.ts";
import type { SubjectClaims } from "../tokens/claims.ts";

/** A changed name or role shows after this time. */
const KEEP_MS = 60_000;
/** A hanging provider must not delay every request by its five seconds. */
const KEEP_FAILED_MS = 5_000;
const MAX_TOKENS = 10_000;

interface UserinfoOptions {
  readonly provider: Pick<Provider, "metadata">;
  readonly http: Http;
  /** What a signed answer must match, beside the client that the token was issued to. */
  readonly signed: Omit<UserinfoSignature, "clientId" | "clock">;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly onError: (error: Error) => void;
}

export type BearerUserinfo = (token: string, claims: SubjectClaims) => Promise<FetchedUserinfo | undefined>;

/**
 * A failure is reported, not thrown: the token is valid without it, and a user whose role is unknown has none.
 * @returns undefined for tokens that userinfo is not for: without `openid`, bound to the caller's key, or of a client
 */
export function createBearerUserinfo({ signed, clock, onError, ...source }: UserinfoOptions): BearerUserinfo {
  const calls = createSingleFlight<FetchedUserinfo | undefined>({
    clock,
    keepMs: (userinfo) => (userinfo === undefined ? KEEP_FAILED_MS : KEEP_MS),
    maxEntries: MAX_TOKENS,
  });
  let hasFailed = false;
  const call = async (token: string, claims: SubjectClaims): Promise<FetchedUserinfo | undefined> => {
    const clientId = claims["client_id"];
    const signature = typeof clientId === "string" ? { ...signed, clock, clientId } : undefined;
    try {
      const userinfo = await fetchUserinfo({ ...source, signed: signature }, token, claims.sub);
      hasFailed = false;
      return userinfo;
    } catch (error) {
      if (!(error instanceof SignetError)) throw error;
      hasFailed = error.code === "provider_unreachable";
      onError(error);
      return undefined;
    }
  };
  return async (token, claims) => {
    const isOfUser = claims["client_id"] !== claims.sub && scopesOfClaims(claims).includes("openid");
    if (!isOfUser || claims["cnf"] !== undefined) return undefined;
    const key = await sha256Base64url(token);
    const isWaitedFor = !hasFailed || calls.isKept(key);
    const userinfo = calls.run(key, () => call(token, claims));
    if (isWaitedFor) return userinfo;
    // After a failure nobody waits for the next attempts, with whichever token: the first success ends that.
    userinfo.catch(onError);
    return undefined;
  };
}
