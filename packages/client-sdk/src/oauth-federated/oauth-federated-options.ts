/** What an application can give to the filter beside its configuration. */
import type { ClientAuthentication } from "../grants/client-authentication.ts";
import type { SignInOptions } from "../sign-in/sign-in-context.ts";

/** What `oauthFederated` takes beside its configuration. */
export interface OAuthFederatedOptions extends SignInOptions {
  /** How the application proves itself to the provider. Default: by `oauthClientSecret`; without one it is a public client. */
  readonly clientAuthentication?: ClientAuthentication;
  /**
   * Further parameters of the authorization request, e.g. `{ ui_locales: "da" }` or `{ max_age: "3600" }`, which is then
   * checked. What the filter sets itself (`state`, `scope`, `redirect_uri` …) is refused at start.
   */
  readonly authorizationParameters?: Readonly<Record<string, string>>;
}
