/** What every filter needs that signs people in with a browser: where the application lives, its cookies and its memory. */
import type { Settings } from "../configuration.ts";
import { createSealedCookie, type SealedCookie } from "../cookies/sealed-cookie.ts";
import { SignetError } from "../errors.ts";
import type { Runtime } from "../filter.ts";
import { teller } from "../teller.ts";
import { type FrontPage, showFrontPage } from "./front-page.ts";
import { createLoginAttempts, type LoginAttempts } from "./login-attempts.ts";
import { createLogoutMemory, type LogoutMemory } from "./logout-memory.ts";

/** What such a filter takes beside its configuration. */
export interface SignInOptions extends Runtime {
  /** Which sessions have ended; the default knows of those that this process was told of. See `LogoutMemory`. */
  readonly logoutMemory?: LogoutMemory;
  /**
   * Shows the filter's few pages in the application's own look and language. `page.status` is to be the answer's status; cookies
   * are added to it.
   */
  readonly showPage?: (page: FrontPage, request: Request) => Response | Promise<Response>;
}

export interface SignInContext {
  /** Who signs people in, and for which application: what is sealed for others is not taken. */
  readonly party: string;
  readonly isOptional: boolean;
  /** Of the application. */
  readonly origin: string;
  readonly basePath: string;
  /** Absolute. */
  readonly afterLogout: string;
  readonly clock: () => number;
  readonly onError: (error: Error) => void;
  readonly session: SealedCookie;
  readonly attempts: LoginAttempts;
  readonly memory: LogoutMemory;
  readonly showPage: (page: FrontPage, request: Request) => Promise<Response>;
}

/** Seconds for which a session cookie is kept without being written anew. */
export const SESSION_SECONDS = 30 * 86_400;

/** @param purpose of the session cookie: sessions of one mechanism are none of another */
export function createSignInContext(
  settings: Settings,
  options: SignInOptions,
  { party, purpose }: { readonly party: string; readonly purpose: string },
): SignInContext {
  const { baseUrl: origin, basePath, isOptional } = settings;
  if (origin === undefined)
    throw new SignetError(
      "configuration",
      `${settings.filterType} needs baseUrl, the application's address.`,
    );
  const { clock = Date.now } = options;
  const keptCookies = { secrets: settings.cookieSecrets, isSecure: origin.startsWith("https:"), clock };
  // Two filters of one application have two base paths: they do not take each other's cookies away.
  const name = basePath.slice(1).replaceAll("/", "!");
  return {
    ...{ party, isOptional, origin, basePath, clock },
    afterLogout: `${origin}${settings.afterLogoutPath}`,
    onError: teller(options.onError),
    session: createSealedCookie({
      ...keptCookies,
      name: `${name}-session`,
      purpose,
      lifetimeSeconds: SESSION_SECONDS,
    }),
    attempts: createLoginAttempts({ ...keptCookies, name: `${name}-login`, party }),
    memory: options.logoutMemory ?? createLogoutMemory({ clock }),
    showPage: pagesOf(options),
  };
}

function pagesOf({ showPage }: SignInOptions): SignInContext["showPage"] {
  if (!showPage) return (page) => showFrontPage(page);
  // A copy: cookies are added to it, and the headers of an answer that was fetched cannot be changed.
  return async (page, request) => {
    const shown = await showPage(page, request);
    return new Response(shown.body, shown);
  };
}

/** The paths that the filter answers itself. */
export const ownPathsOf = (basePath: string) => ({
  login: `${basePath}/login`,
  callback: `${basePath}/callback`,
  logout: `${basePath}/logout`,
  backChannelLogout: `${basePath}/back-channel-logout`,
});

type Own = Pick<SignInContext, "origin" | "basePath">;

/** Where the answer to a sign-in comes to: what is registered at the service. */
export const callbackAddressOf = ({ origin, basePath }: Own): string =>
  `${origin}${ownPathsOf(basePath).callback}`;

/** Where a person begins to sign in. @param returnTo path to come back to */
export function loginAddressOf({ origin, basePath }: Own, returnTo: string | undefined): string {
  const query = returnTo === undefined ? "" : `?${new URLSearchParams({ return_to: returnTo })}`;
  return `${origin}${ownPathsOf(basePath).login}${query}`;
}
