/** What every step of the filter works with: the checked configuration, the provider, cookies and memories. */
import type { SealedCookie } from "../cookies/sealed-cookie.ts";
import type { SignetError } from "../errors.ts";
import type { ClientAuthentication } from "../grants/client-authentication.ts";
import type { Provider } from "../provider/discovery.ts";
import type { Http } from "../provider/http.ts";
import type { KeySource } from "../tokens/key-source.ts";
import type { FederatedSession } from "./federated-session.ts";
import type { FrontPage } from "./front-page.ts";
import type { LoginAttempts } from "./login-attempts.ts";
import type { LogoutMemory } from "./logout-memory.ts";
import type { SingleFlight } from "./single-flight.ts";

/** What became of a refresh token that was used. */
export type RefreshOutcome =
  | {
      readonly kind: "refreshed";
      readonly session: FederatedSession;
      /** Whether there is another refresh token now. */
      readonly isRotated: boolean;
    }
  /** The provider does not go on with this session: the person signs in again. */
  | { readonly kind: "ended"; readonly error: SignetError }
  /** Nothing is known about the session: later again. */
  | { readonly kind: "failed"; readonly error: SignetError };

export interface FederatedContext {
  readonly provider: Provider;
  readonly http: Http;
  readonly environment: string;
  readonly clock: () => number;
  readonly onError: (error: Error) => void;
  /** Verify ID tokens and logout tokens: the provider's, or those that are pinned. */
  readonly keys: KeySource;
  /** What ID tokens and answers must name: the organisation's, or the signing pool's. */
  readonly issuer: string;
  readonly clientId: string;
  readonly authentication: ClientAuthentication;
  /** Issuer and client, for what is sealed. */
  readonly party: string;
  readonly isOptional: boolean;
  /** Tokens are signed by the organisation's agents: what is not signed counts for less. */
  readonly isSovereign: boolean;
  readonly scope: string;
  readonly origin: string;
  readonly basePath: string;
  /** Absolute. */
  readonly afterLogout: string;
  readonly authorizationParameters: Readonly<Record<string, string>>;
  readonly maxAgeSeconds: number | undefined;
  readonly session: SealedCookie;
  readonly attempts: LoginAttempts;
  readonly memory: LogoutMemory;
  /** Sign-ins whose answer has come: a page that is loaded again must not redeem its code twice. */
  readonly logins: SingleFlight<FederatedSession>;
  readonly refreshes: SingleFlight<RefreshOutcome>;
  readonly showPage: (page: FrontPage, request: Request) => Promise<Response>;
}

/** The paths that the filter answers itself. */
export const ownPathsOf = (basePath: string) => ({
  login: `${basePath}/login`,
  callback: `${basePath}/callback`,
  logout: `${basePath}/logout`,
  backChannelLogout: `${basePath}/back-channel-logout`,
});

/** Seconds for which a session cookie is good without being renewed; each refresh renews it. */
export const SESSION_SECONDS = 30 * 86_400;

type Own = Pick<FederatedContext, "origin" | "basePath">;

export const redirectUriOf = ({ origin, basePath }: Own): string =>
  `${origin}${ownPathsOf(basePath).callback}`;

/** Where a person begins to sign in. @param returnTo path to come back to */
export function loginAddressOf({ origin, basePath }: Own, returnTo: string | undefined): string {
  const query = returnTo === undefined ? "" : `?${new URLSearchParams({ return_to: returnTo })}`;
  return `${origin}${ownPathsOf(basePath).login}${query}`;
}
