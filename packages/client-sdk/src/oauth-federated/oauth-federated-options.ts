/** What an application can give to the filter beside its configuration. */
import type { Runtime } from "../filter.ts";
import type { ClientAuthentication } from "../grants/client-authentication.ts";
import type { FrontPage } from "./front-page.ts";
import type { LogoutMemory } from "./logout-memory.ts";

/** What `oauthFederated` takes beside its configuration. */
export interface OAuthFederatedOptions extends Runtime {
  /** How the application proves itself to the provider. Default: by `oauthClientSecret`; without one it is a public client. */
  readonly clientAuthentication?: ClientAuthentication;
  /** Which sessions have ended; the default knows of those that this process was told of. See `LogoutMemory`. */
  readonly logoutMemory?: LogoutMemory;
  /**
   * Further parameters of the authorization request, e.g. `{ ui_locales: "da" }` or `{ max_age: "3600" }`, which is then
   * checked. What the filter sets itself (`state`, `scope`, `redirect_uri` …) is refused at start.
   */
  readonly authorizationParameters?: Readonly<Record<string, string>>;
  /** Shows the filter's few pages in the application's own look and language. `page.status` is to be the answer's status. */
  readonly showPage?: (page: FrontPage, request: Request) => Response | Promise<Response>;
}
