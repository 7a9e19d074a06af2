/** What every step of the filter works with: the checked configuration, the provider, cookies and memories. */
import type { SignetError } from "../errors.ts";
import type { ClientAuthentication } from "../grants/client-authentication.ts";
import type { Provider } from "../provider/discovery.ts";
import type { Http } from "../provider/http.ts";
import type { SignInContext } from "../sign-in/sign-in-context.ts";
import type { SingleFlight } from "../sign-in/single-flight.ts";
import type { KeySource } from "../tokens/key-source.ts";
import type { FederatedSession } from "./federated-session.ts";

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

export interface FederatedContext extends SignInContext {
  readonly provider: Provider;
  readonly http: Http;
  readonly environment: string;
  /** Verify ID tokens and logout tokens: the provider's, or those that are pinned. */
  readonly keys: KeySource;
  /** What ID tokens and answers must name: the organisation's, or the signing pool's. */
  readonly issuer: string;
  readonly clientId: string;
  readonly authentication: ClientAuthentication;
  /** Tokens are signed by the organisation's agents: what is not signed counts for less. */
  readonly isSovereign: boolean;
  readonly scope: string;
  readonly authorizationParameters: Readonly<Record<string, string>>;
  readonly maxAgeSeconds: number | undefined;
  /** Sign-ins whose answer has come: a page that is loaded again must not redeem its code twice. */
  readonly logins: SingleFlight<FederatedSession>;
  readonly refreshes: SingleFlight<RefreshOutcome>;
}
