/** What every filter is: a function from a Web `Request` to who it comes from, or to the answer that it gets instead. */
import type { Principal } from "./principal.ts";

/** Specification, "Mechanisms". */
export type FilterType =
  | "OAuthFederated"
  | "UserFederated"
  | "OAuthUserBearer"
  | "SystemAccountExternal"
  | "None";

export const filterTypes = [
  "OAuthFederated",
  "UserFederated",
  "OAuthUserBearer",
  "SystemAccountExternal",
  "None",
] as const satisfies readonly FilterType[];

/** What a request alone does not tell: adapters and servers hand it in. */
export interface RequestContext {
  /** DER of the certificate whose key the TLS connection has proven; never from a header that a client can write. */
  readonly clientCertificate?: Uint8Array | undefined;
}

/** Who a request comes from, or the answer that it gets instead. */
export type FilterResult =
  /** Go on; add each of `cookies` to the answer as a `Set-Cookie` of its own, and let no shared cache keep that answer. */
  | { readonly kind: "authenticated"; readonly principal: Principal; readonly cookies: readonly string[] }
  /** Nobody is known and that is fine (`isOptional`, or the filter None). */
  | { readonly kind: "anonymous"; readonly cookies: readonly string[] }
  /** The filter answers itself: a redirect, its own paths, a refusal. `error` for the log, when it is a refusal. */
  | { readonly kind: "answer"; readonly response: Response; readonly error?: Error };

/** What `createFilter` makes, and adapters take. */
export interface Filter {
  readonly filterType: FilterType;
  /** Never throws for what a request holds; throws only for faults of the program. */
  authenticate(request: Request, context?: RequestContext): Promise<FilterResult>;
}

/** What filters take from outside, so that tests and odd platforms can give their own. */
export interface Runtime {
  /** For every outgoing call. Default: the platform's, looked up at each call. */
  readonly fetch?: typeof fetch;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Told of refusals and of answers of the provider that were not understood; the default tells nobody. */
  readonly onError?: (error: Error) => void;
}
