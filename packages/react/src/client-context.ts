/** What the parts of a client share: settings, the browser, the session of all tabs, and the state that pages show. */
import { type BrowserWindow, type Channel, currentBrowser, openStore, type SharedStore } from "./browser.ts";
import { type DpopKey, loadDpopKey } from "./dpop.ts";
import { SignetClientError } from "./errors.ts";
import { acceptsDpop, loadMetadata, type Metadata } from "./issuer.ts";
import { type Session, type SignetUser, userOf } from "./session.ts";

/** Configuration of a single-page application. */
export interface SignetClientOptions {
  /** The organisation's issuer, e.g. `https://id.example.com/oauth/{organisation}`. */
  readonly issuer: string;
  /** The application's id. */
  readonly clientId: string;
  /** Registered for the application. Default: the origin with `/`. */
  readonly redirectUri?: string;
  /** Where to go after signing out, registered as well. Default: the origin with `/`. */
  readonly postLogoutRedirectUri?: string;
  /** Default: `openid profile email`. */
  readonly scope?: string;
  /** The API that access tokens are for (RFC 8707). Default: the application's own audience. */
  readonly resource?: string;
  /** Receives errors of renewals and sign-ins. Default: ignored. */
  readonly onError?: (error: Error) => void;
}

/** What the application shows. */
export type SignetState =
  | { readonly status: "loading"; readonly user?: undefined; readonly error?: undefined }
  | { readonly status: "signed-out"; readonly user?: undefined; readonly error?: Error }
  | {
      readonly status: "signed-in";
      readonly user: SignetUser;
      readonly accessToken: string;
      readonly error?: undefined;
    };

export interface ClientContext {
  readonly options: SignetClientOptions;
  /** @throws SignetClientError where there is no browser */
  window(): BrowserWindow;
  store(): SharedStore;
  /** Cached; asked again after a failure. @throws SignetClientError */
  metadata(): Promise<Metadata>;
  /** Undefined while the issuer takes no proofs of possession. */
  key(): Promise<DpopKey | undefined>;
  session(): Promise<Session | undefined>;
  /** Keeps the session, or its end, for all tabs, and tells them. */
  keep(session: Session | undefined): Promise<void>;
  state(): SignetState;
  show(state: SignetState): void;
  /** Shows the session that all tabs share. */
  showSession(session: Session | undefined, error?: Error): void;
  subscribe(changed: () => void): () => void;
  report(error: unknown): void;
  /** Listens to the other tabs. @returns stops that */
  listen(heard: () => void): () => void;
}

const SESSION = "session";
const loading: SignetState = { status: "loading" };

/** Of this issuer and client: another application of the origin has its own session, lock and channel. */
export const nameOf = ({ issuer, clientId }: SignetClientOptions): string => `signet ${issuer} ${clientId}`;

export function createContext(options: SignetClientOptions): ClientContext {
  const { issuer } = options;
  const name = nameOf(options);
  const states = createStates();
  const channels = new Set<Channel>();
  let store: SharedStore | undefined;
  let metadata: Promise<Metadata> | undefined;
  const window = () => {
    const browser = currentBrowser();
    if (!browser)
      throw new SignetClientError(
        "configuration",
        "There is no browser: call this in an effect or a handler.",
      );
    return browser;
  };
  const context: ClientContext = {
    options,
    window,
    store: () => {
      store ??= openStore(window().indexedDB, name);
      return store;
    },
    metadata: () => {
      metadata ??= loadMetadata(issuer).catch((error: unknown) => {
        metadata = undefined;
        throw error;
      });
      return metadata;
    },
    key: async () => (acceptsDpop(await context.metadata()) ? loadDpopKey(context.store()) : undefined),
    session: () => context.store().get<Session>(SESSION),
    keep: async (session) => {
      if (session) await context.store().put(SESSION, session);
      else await context.store().delete(SESSION);
      context.showSession(session);
      for (const channel of channels) channel.postMessage("changed");
    },
    ...states,
    showSession: (session, error) => states.show(stateOf(session, error)),
    report: (error) => options.onError?.(error instanceof Error ? error : new Error(String(error))),
    listen: (heard) => {
      const channel = new (window().BroadcastChannel)(name);
      channel.onmessage = heard;
      channels.add(channel);
      return () => {
        channels.delete(channel);
        channel.close();
      };
    },
  };
  return context;
}

function stateOf(session: Session | undefined, error: Error | undefined): SignetState {
  if (!session) return { status: "signed-out", ...(error ? { error } : {}) };
  return { status: "signed-in", user: userOf(session), accessToken: session.accessToken };
}

function createStates(): Pick<ClientContext, "state" | "show" | "subscribe"> {
  const listeners = new Set<() => void>();
  let state = loading;
  return {
    state: () => state,
    show: (next) => {
      // A page that shows the same need not be rendered again.
      if (JSON.stringify(next) === JSON.stringify(state) && next.error === state.error) return;
      state = next;
      for (const changed of listeners) changed();
    },
    subscribe: (changed) => {
      listeners.add(changed);
      return () => void listeners.delete(changed);
    },
  };
}
