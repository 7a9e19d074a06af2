/**
 * The client behind the provider: a session that all tabs of the origin share, renewed by one of them at a time, and a sign-out that all
 * of them hear of. Nothing in it is React's.
 */
import {
  type ClientContext,
  createContext,
  type SignetClientOptions,
  type SignetState,
} from "./client-context.ts";
import { forgetDpopKey } from "./dpop.ts";
import { SignetClientError } from "./errors.ts";
import { ask, fetchWithProof } from "./issuer.ts";
import { keepRenewed, renewedSession } from "./renewal.ts";
import type { Session } from "./session.ts";
import { finishSignIn, isBound, type SignInOptions, startSignIn, withParameters } from "./sign-in.ts";

/** A single-page application's sign-in. */
export interface SignetClient {
  /** The current state; the same object until it changes. */
  state(): SignetState;
  /** Calls back at each change. @returns stops that */
  subscribe(changed: () => void): () => void;
  /** Finishes a sign-in whose response is in the address, or takes up the session of the other tabs. @returns stops renewing */
  start(): () => void;
  /** Leaves the page for the issuer's sign-in. @throws SignetClientError */
  signIn(options?: SignInOptions): Promise<void>;
  /** Ends the session here, in the other tabs, and at the issuer, whose page is next. */
  signOut(): Promise<void>;
  /** A token that is valid for a while, renewed if need be. @throws SignetClientError `signed_out`, `unreachable` */
  getAccessToken(): Promise<string>;
  /** Gets another token although this one is valid, e.g. after a change of roles. @throws SignetClientError */
  renew(): Promise<void>;
  /** `fetch` with the token, and with a proof of possession where tokens are bound. @throws SignetClientError */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
}

/** Creates a client. Nothing is asked before `start`. @throws SignetClientError `configuration` */
export function createSignetClient(options: SignetClientOptions): SignetClient {
  requireOptions(options);
  const context = createContext(options);
  return {
    state: context.state,
    subscribe: context.subscribe,
    start: () => start(context),
    signIn: (asked = {}) => startSignIn(context, asked),
    signOut: () => signOut(context),
    getAccessToken: async () => (await renewedSession(context)).accessToken,
    renew: async () => void (await renewedSession(context, await context.session())),
    fetch: (url, init = {}) => fetchAsUser(context, String(url), init),
  };
}

function requireOptions({ issuer, clientId, scope = "openid" }: SignetClientOptions): void {
  const faults = [
    typeof issuer === "string" && /^https?:\/\/[^?#]+$/.test(issuer)
      ? []
      : ["issuer must be the issuer's URL"],
    typeof clientId === "string" && clientId !== "" ? [] : ["clientId is missing: the application's id"],
    scope.split(" ").includes("openid") ? [] : ["scope must include openid"],
  ].flat();
  if (faults.length > 0) throw new SignetClientError("configuration", `${faults.join("; ")}.`);
}

function start(context: ClientContext): () => void {
  let stopped = false;
  let stopRenewing: (() => void) | undefined;
  const takeUp = () => context.session().then((session) => context.showSession(session), context.report);
  const stopListening = context.listen(takeUp);
  const begin = async () => {
    const signedIn = await finishSignIn(context);
    if (signedIn) await context.keep(signedIn);
    else await takeUp();
  };
  begin()
    .catch((error: unknown) => {
      context.report(error);
      context.showSession(undefined, error instanceof Error ? error : undefined);
    })
    .finally(() => {
      if (!stopped) stopRenewing = keepRenewed(context);
    });
  return () => {
    stopped = true;
    stopListening();
    stopRenewing?.();
  };
}

/** The user is signed out here whatever fails at the issuer. */
async function signOut(context: ClientContext): Promise<void> {
  const { options } = context;
  const { location } = context.window();
  const session = await context.session();
  await context.keep(undefined);
  const after = options.postLogoutRedirectUri ?? `${location.origin}/`;
  try {
    const { end_session_endpoint: endpoint } = await context.metadata();
    if (session) await revoke(context, session).catch(context.report);
    await forgetDpopKey(context.store());
    if (!session || endpoint === undefined) return;
    // OpenID Connect RP-Initiated Logout 1.0 §2.
    const hint = {
      id_token_hint: session.idToken,
      client_id: options.clientId,
      post_logout_redirect_uri: after,
    };
    location.assign(withParameters(endpoint, hint));
  } catch (error) {
    context.report(error);
  }
}

async function revoke(context: ClientContext, { refreshToken }: Session): Promise<void> {
  const { revocation_endpoint: url } = await context.metadata();
  if (url === undefined || refreshToken === undefined) return;
  const body = new URLSearchParams({ token: refreshToken, client_id: context.options.clientId });
  await ask(url, { method: "POST", body });
}

async function fetchAsUser(context: ClientContext, url: string, init: RequestInit): Promise<Response> {
  const address = new URL(url, context.window().location.href).href;
  const send = async (session: Session) => {
    const key = isBound(session) ? await context.key() : undefined;
    return fetchWithProof(address, init, { key, accessToken: session.accessToken });
  };
  const session = await renewedSession(context);
  const response = await send(session);
  // Revoked, or the API's clock is ahead: another token, once.
  if (response.status !== 401 || init.body instanceof ReadableStream) return response;
  return send(await renewedSession(context, session));
}
