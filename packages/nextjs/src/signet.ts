/** The application's filter: made once for a process, of its environment, when a request first needs it. */
import {
  configurationFromEnvironment,
  type Filter,
  type OAuthFederatedConfiguration,
  oauthFederated,
  SignetError,
} from "@signet/client-sdk";

/** Bundles of one process (pages, middleware) share it, and with it the refreshes under way. */
const KEY = Symbol.for("@signet/nextjs");

interface Shared {
  readonly filter: Filter;
  readonly basePath: string;
}

const shared = globalThis as unknown as { [KEY]?: Shared };

const LOG = (error: Error) => console.warn(error);

export function signet(): Shared {
  shared[KEY] ??= create();
  return shared[KEY];
}

function create(): Shared {
  const { filterType = "OAuthFederated", ...configuration } = configurationFromEnvironment<
    OAuthFederatedConfiguration & { readonly filterType?: string }
  >(process.env);
  if (filterType !== "OAuthFederated")
    throw new SignetError(
      "configuration",
      `@signet/nextjs is for OAuthFederated, and SIGNET_FILTER_TYPE is ${filterType}.`,
    );
  const { basePath = "/signet" } = configuration;
  return { filter: oauthFederated(configuration, { onError: LOG }), basePath };
}
