/** What all browser filters share, and what each sign-in mechanism adds. */
import { errorReporter } from "../application-callbacks.ts";
import type { Settings } from "../configuration/settings.ts";
import { createSealedCookie } from "../cookies/sealed-cookie.ts";
import { configurationError } from "../errors.ts";
import type { FilterResult, Runtime } from "../filter.ts";
import type { Principal } from "../principal.ts";
import { type FrontPage, renderPage } from "./built-in-pages.ts";
import { createLoginAttempts, type LoginAttempt } from "./login-attempts.ts";
import { createLogoutMemory, type LogoutMemory, SESSION_SECONDS } from "./logout-memory.ts";

/** Options of every browser filter. */
export interface SignInOptions extends Runtime {
  /** Ended sessions. Default: those this process has been told of. See `LogoutMemory`. */
  readonly logoutMemory?: LogoutMemory;
  /** Renders the filter's pages in the application's look and language. Use `page.status`; the filter adds cookies. */
  readonly showPage?: (page: FrontPage, request: Request) => Response | Promise<Response>;
}

export type SignInContext = ReturnType<typeof createSignInContext>;

/** A parameter of the callback; undefined if missing or empty. */
export type CallbackParameter = (name: string) => string | undefined;

/** One sign-in mechanism. Everything else is shared: browser-filter.ts, callback.ts, current-session.ts, logout.ts. */
export interface SignIn<Session> extends SignInContext {
  /** Redirects to the sign-in page. @param returnTo anything but a path of the application becomes `/` */
  startLogin(
    request: Request,
    returnTo: string | null | undefined,
    cookies?: readonly string[],
  ): Promise<FilterResult>;
  /** The parameters in a signed response. @throws SignetError `token_…` if it is not the provider's; `provider_answer` if unsigned */
  readonly openResponse?: ((query: CallbackParameter) => Promise<CallbackParameter>) | undefined;
  /** Turns the callback's parameters into a session. @throws SignetError */
  finishLogin(attempt: LoginAttempt, parameter: CallbackParameter): Promise<Session>;
  /**
   * @returns a refreshed or revalidated session, the same object if not due, undefined if it has ended
   * @throws SignetError if its status is unknown
   */
  renew(session: Session): Promise<Session | undefined>;
  /** @param value the sealed cookie's, possibly of another provider, application or SDK version */
  parseSession(value: unknown): Session | undefined;
  principalOf(session: Session): Principal;
  /** Whether it needs no renewal to be believed. */
  isCurrent(session: Session): boolean;
  /** Whether it was ended, here or at the provider. @throws SignetError if unknown: then nobody is let in */
  hasEnded(session: Session): Promise<boolean>;
  /** Ends it here, so that a copied cookie or a pending check can't restore it. */
  rememberEnd(session: Session): Promise<void>;
  /** Ends it at the provider as far as possible. @returns the URL to continue at */
  endAtProvider(session: Session): Promise<string>;
  /** Handles the provider's logout notifications, if the mechanism has them. */
  readonly backChannelLogout?: (request: Request) => Promise<FilterResult>;
}

/**
 * @param party provider and client: values sealed for other ones are ignored
 * @param purpose of the session cookie, so that mechanisms don't share sessions
 */
export function createSignInContext(
  settings: Settings,
  options: SignInOptions,
  { party, purpose }: { readonly party: string; readonly purpose: string },
) {
  const { baseUrl: origin, basePath, isOptional, filterType } = settings;
  if (origin === undefined)
    throw configurationError(`${filterType} needs baseUrl, the application's origin.`);
  const { clock = Date.now, showPage = (page) => renderPage(page) } = options;
  const shared = { secrets: settings.cookieSecrets, isSecure: origin.startsWith("https:"), clock };
  // Two filters of one application have two base paths and must not overwrite each other's cookies.
  const name = basePath.slice(1).replaceAll("/", "!");
  const lifetimeSeconds = SESSION_SECONDS;
  return {
    ...{ party, isOptional, origin, basePath, clock },
    afterLogout: `${origin}${settings.afterLogoutPath}`,
    onError: errorReporter(options.onError),
    session: createSealedCookie({ ...shared, name: `${name}-session`, purpose, lifetimeSeconds }),
    attempts: createLoginAttempts({ ...shared, name: `${name}-login`, party }),
    memory: options.logoutMemory ?? createLogoutMemory({ clock }),
    showPage: async (page: FrontPage, request: Request): Promise<Response> => {
      const response = await showPage(page, request);
      // A copy, because headers are added and those of a fetched response are immutable.
      return new Response(response.body, response);
    },
  };
}

/** The routes the filter handles itself. */
export const filterPaths = (basePath: string) => ({
  login: `${basePath}/login`,
  callback: `${basePath}/callback`,
  logout: `${basePath}/logout`,
  backChannelLogout: `${basePath}/back-channel-logout`,
});

type Base = Pick<SignInContext, "origin" | "basePath">;

/** The redirect URI, as registered at the provider. */
export const callbackUrl = ({ origin, basePath }: Base): string =>
  `${origin}${filterPaths(basePath).callback}`;

/** @param returnTo path to return to after signing in */
export function loginUrl({ origin, basePath }: Base, returnTo?: string): string {
  const query = returnTo === undefined ? "" : `?${new URLSearchParams({ return_to: returnTo })}`;
  return `${origin}${filterPaths(basePath).login}${query}`;
}
