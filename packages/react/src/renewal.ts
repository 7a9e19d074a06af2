/** Renewal by rotation: one tab at a time, and every tab takes what another one got. */
import { type ClientContext, nameOf } from "./client-context.ts";
import { SignetClientError } from "./errors.ts";
import { requestTokens } from "./issuer.ts";
import { checkIdToken, type Session, sessionOf } from "./session.ts";
import { askUserinfo, withUserinfo } from "./sign-in.ts";

/** A token is renewed this long before it expires; a short-lived one at four fifths of its life. */
const MARGIN_MS = 60_000;
/** A tab that comes back asks the issuer at most so often whether the session goes on. */
const CHECK_EVERY_MS = 10_000;
const RETRY_MS = 10_000;
const MAX_DELAY_MS = 2 ** 31 - 1;

const marginOf = ({ expiresAt, renewedAt }: Session): number =>
  Math.min(MARGIN_MS, Math.max(0, expiresAt - renewedAt) / 5);

const isFresh = (session: Session): boolean => Date.now() < session.expiresAt - marginOf(session);

/** Without Web Locks the issuer's unused-successor rule still gives two tabs the same token. */
async function exclusively<T>(context: ClientContext, work: () => Promise<T>): Promise<T> {
  const { locks } = context.window().navigator;
  return locks === undefined ? work() : locks.request(nameOf(context.options), work);
}

/**
 * @param stale one to replace although it is fresh, unless another tab has done so meanwhile
 * @returns the session of all tabs with a token that is valid for a while
 * @throws SignetClientError `signed_out`, `unreachable`
 */
export async function renewedSession(context: ClientContext, stale?: Session): Promise<Session> {
  const current = await context.session();
  if (current && current.accessToken !== stale?.accessToken && isFresh(current)) return current;
  return exclusively(context, async () => {
    const session = await context.session();
    if (!session) throw signedOut();
    if (session.accessToken !== stale?.accessToken && isFresh(session)) return session;
    return redeemRefreshToken(context, session);
  });
}

const signedOut = () => new SignetClientError("signed_out", "Nobody is signed in.");

async function redeemRefreshToken(context: ClientContext, session: Session): Promise<Session> {
  const { clientId } = context.options;
  const { refreshToken } = session;
  if (refreshToken === undefined) {
    if (Date.now() < session.expiresAt) return session;
    await context.keep(undefined);
    throw signedOut();
  }
  const metadata = await context.metadata();
  const key = await context.key();
  const form = { grant_type: "refresh_token", client_id: clientId, refresh_token: refreshToken };
  try {
    const renewed = sessionOf(await requestTokens(metadata, form, key), session);
    checkIdToken(renewed.idToken, { issuer: metadata.issuer, clientId, sub: session.claims["sub"] });
    const told = await withUserinfo(metadata, renewed, key).catch(() => renewed);
    // Signed out, or somebody else signed in, while the answer was under way: it must not bring the session back.
    if ((await context.session())?.refreshToken !== refreshToken) throw signedOut();
    await context.keep(told);
    return told;
  } catch (error) {
    if (!(error instanceof SignetClientError) || error.oauthError !== "invalid_grant") throw error;
    // It was signed out elsewhere, or has ended.
    await context.keep(undefined);
    throw signedOut();
  }
}

/** Whether the issuer still knows the session: it may have ended in another browser. */
export async function checkSession(context: ClientContext): Promise<void> {
  const session = await context.session();
  if (!session) return context.showSession(undefined);
  const response = await askUserinfo(await context.metadata(), session, await context.key());
  if (response.status === 401) await renewedSession(context, session);
}

/** Renews before each expiry, and checks when the tab comes back. @returns stops that */
export function keepRenewed(context: ClientContext): () => void {
  const { document } = context.window();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let checkedAt = Date.now();
  const plan = (delayMs: number) => {
    clearTimeout(timer);
    timer = setTimeout(renew, Math.min(Math.max(delayMs, 1_000), MAX_DELAY_MS));
  };
  const planned = (session: Session | undefined) => {
    if (session) plan(session.expiresAt - marginOf(session) - Date.now());
    else clearTimeout(timer);
  };
  const renew = () => {
    renewedSession(context).then(planned, (error: unknown) => {
      if (error instanceof SignetClientError && error.code === "signed_out") return;
      context.report(error);
      plan(RETRY_MS);
    });
  };
  const comeBack = () => {
    if (document.visibilityState !== "visible" || Date.now() < checkedAt + CHECK_EVERY_MS) return;
    checkedAt = Date.now();
    checkSession(context).catch((error: unknown) => {
      if (!(error instanceof SignetClientError && error.code === "signed_out")) context.report(error);
    });
  };
  document.addEventListener("visibilitychange", comeBack);
  const unsubscribe = context.subscribe(() => void context.session().then(planned, context.report));
  void context.session().then(planned, context.report);
  return () => {
    clearTimeout(timer);
    unsubscribe();
    document.removeEventListener("visibilitychange", comeBack);
  };
}
