/** The contract of every filter: from a Web `Request` to its principal, or to the response it gets instead. */
import type { AuthenticatedBy, Principal } from "./principal.ts";

/** Specification, "Mechanisms". */
export type FilterType = AuthenticatedBy | "None";

export const filterTypes: readonly FilterType[] = [
  "OAuthFederated",
  "UserFederated",
  "OAuthUserBearer",
  "SystemAccountExternal",
  "None",
];

/** What a `Request` doesn't carry; adapters and servers provide it. */
export interface RequestContext {
  /** DER of the client certificate proven in the TLS handshake. Never take it from a header that clients can set. */
  readonly clientCertificate?: Uint8Array | undefined;
  /** Instead of the configuration's, for this request of a browser filter: some pages are for everybody. */
  readonly isOptional?: boolean | undefined;
}

/** Whom a request comes from, or the response it gets instead. */
export type FilterResult =
  /** Continue. Add each of `cookies` to the response as a separate `Set-Cookie`, and keep it out of shared caches. */
  | { readonly kind: "authenticated"; readonly principal: Principal; readonly cookies: readonly string[] }
  /** Continue without a principal (`isOptional`, or the filter None). */
  | { readonly kind: "anonymous"; readonly cookies: readonly string[] }
  /** Send `response`: a redirect, one of the filter's own routes, a rejection. `error` is for the log. */
  | { readonly kind: "answer"; readonly response: Response; readonly error?: Error };

export const principalOfResult = (result: FilterResult): Principal | undefined =>
  result.kind === "authenticated" ? result.principal : undefined;

/** What `createFilter` returns and adapters take. */
export interface Filter {
  readonly filterType: FilterType;
  /** Never throws because of a request's content, only for programming errors. */
  authenticate(request: Request, context?: RequestContext): Promise<FilterResult>;
  /**
   * Whom the session cookie of a request is of, without renewing it: where no cookie can be set, behind a filter that has been asked
   * for the same request. Browser filters only. Undefined for nobody, and for a session that has expired or ended.
   */
  peek?(request: Request): Promise<Principal | undefined>;
}

/** Platform functions that tests and unusual platforms can replace. */
export interface Runtime {
  /** For every outgoing call. Default: the global `fetch`, looked up per call. */
  readonly fetch?: typeof fetch;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
  /** Receives rejections and unexpected provider responses. Default: ignored. */
  readonly onError?: (error: Error) => void;
}
