/** What every step of the filter UserFederated works with. Nothing is fetched, and no key derived, before the first request. */
import type { Settings } from "../configuration.ts";
import { createSealedCookie, type SealedCookie } from "../cookies/sealed-cookie.ts";
import { SignetError } from "../errors.ts";
import type { Runtime } from "../filter.ts";
import type { LegacyCalls } from "../legacy-api/legacy-calls.ts";
import { type FrontPage, showFrontPage } from "../oauth-federated/front-page.ts";
import { createLoginAttempts, type LoginAttempts } from "../oauth-federated/login-attempts.ts";
import { createLogoutMemory, type LogoutMemory } from "../oauth-federated/logout-memory.ts";
import { createSingleFlight, type SingleFlight } from "../oauth-federated/single-flight.ts";
import { serviceCalls } from "../system-account/service-calls.ts";
import { type TypedCalls, typedCalls } from "../system-account/typed-calls.ts";
import { teller } from "../teller.ts";
import type { LegacySession } from "./legacy-session.ts";

/** What `userFederated` takes beside its configuration. */
export interface UserFederatedOptions extends Runtime {
  /** Which sessions have been signed out; for an application of several processes. Default: in this process. */
  readonly logoutMemory?: LogoutMemory;
  /** Pages of the application's own in the place of the filter's few. Cookies are added to the answer. */
  readonly showPage?: (page: FrontPage, request: Request) => Response | Promise<Response>;
  /** `login` asks everybody for the password, also those who are signed in to another application. */
  readonly prompt?: "login" | "select_account";
}

export interface FederationContext {
  readonly federationServer: string;
  readonly applicationId: string;
  /** Server and application: a session of one of them is none of another. */
  readonly party: string;
  readonly prompt: UserFederatedOptions["prompt"];
  readonly isOptional: boolean;
  readonly origin: string;
  readonly basePath: string;
  /** Absolute. */
  readonly afterLogout: string;
  readonly revalidateAfterMs: number;
  readonly clock: () => number;
  readonly onError: (error: Error) => void;
  readonly calls: TypedCalls<LegacyCalls>;
  readonly session: SealedCookie;
  readonly attempts: LoginAttempts;
  readonly memory: LogoutMemory;
  /** Keys that are being looked at, or were just now. */
  readonly checks: SingleFlight<LegacySession>;
  readonly showPage: (page: FrontPage, request: Request) => Promise<Response>;
}

/** Seconds for which the cookie is kept; the session key inside ends far earlier, and says when. */
export const SESSION_SECONDS = 30 * 86_400;
const MOST_CHECKS = 10_000;
/** Somebody waits for a page. */
const patience = { attempts: 2, longestWaitMs: 1_000 };

/** @throws SignetError `configuration` */
export function createFederationContext(
  settings: Settings,
  options: UserFederatedOptions,
): FederationContext {
  const { federationServer, applicationId, baseUrl: origin, basePath, systemAccount } = settings;
  if (federationServer === undefined || applicationId === undefined || origin === undefined)
    throw new SignetError(
      "configuration",
      "UserFederated needs federationServer, applicationId and baseUrl.",
    );
  const { environment, revalidateAfterSeconds, isOptional, cookieSecrets: secrets } = settings;
  const { clock = Date.now } = options;
  const revalidateAfterMs = revalidateAfterSeconds * 1000;
  const service = { federationServer, environment, systemAccount };
  const party = `${federationServer} ${applicationId}`;
  const keptCookies = { secrets, isSecure: origin.startsWith("https:"), clock };
  // Two filters of one application have two base paths: they do not take each other's cookies away.
  const name = basePath.slice(1).replaceAll("/", "!");
  return {
    ...{ federationServer, applicationId, party, origin, basePath, isOptional, revalidateAfterMs },
    ...{ clock, onError: teller(options.onError), prompt: options.prompt },
    afterLogout: `${origin}${settings.afterLogoutPath}`,
    calls: typedCalls<LegacyCalls>(serviceCalls(service, options, patience)),
    session: createSealedCookie({
      ...keptCookies,
      name: `${name}-session`,
      purpose: "legacy-session",
      lifetimeSeconds: SESSION_SECONDS,
    }),
    attempts: createLoginAttempts({ ...keptCookies, name: `${name}-login`, party }),
    memory: options.logoutMemory ?? createLogoutMemory({ clock }),
    checks: createSingleFlight<LegacySession>({ clock, keepMs: () => revalidateAfterMs, most: MOST_CHECKS }),
    showPage: pagesOf(options),
  };
}

function pagesOf({ showPage }: UserFederatedOptions): FederationContext["showPage"] {
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
});
