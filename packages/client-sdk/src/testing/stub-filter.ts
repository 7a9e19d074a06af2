/** A filter for the tests of adapters: it does as the request's path says, and tells what it has seen. */
import type { Filter, FilterResult, RequestContext } from "../filter.ts";
import type { Principal } from "../principal.ts";

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** Undefined when the filter did not look at it. */
  readonly body: string | undefined;
  readonly context: RequestContext | undefined;
}

export interface StubFilter extends Filter {
  readonly seen: SeenRequest[];
}

export const uma: Principal = {
  authenticatedBy: "OAuthFederated",
  kind: "user",
  subject: "uma",
  user: { permId: "uma", email: "uma@acme.example" },
  clientId: "app",
  scopes: new Set(["jobs:read"]),
  claims: {},
  accessToken: undefined,
  sessionKey: undefined,
};

/**
 * `/refused`: an answer of its own, with two cookies. `/anonymous`: nobody. Everything else: Uma, with two cookies. The body is
 * read where the query has `read`.
 */
export function stubFilter(): StubFilter {
  const seen: SeenRequest[] = [];
  return {
    filterType: "OAuthFederated",
    seen,
    authenticate: async (request, context): Promise<FilterResult> => {
      const { method, url, headers } = request;
      const { pathname, searchParams } = new URL(url);
      if (pathname === "/broken") throw new Error("a fault of the program");
      const body = searchParams.has("read") ? await request.text() : undefined;
      seen.push({ method, url, headers, body, context });
      if (pathname.endsWith("/refused")) return { kind: "answer", response: refusal() };
      if (pathname.endsWith("/anonymous")) return { kind: "anonymous", cookies: ["gone=; Max-Age=0"] };
      return { kind: "authenticated", principal: uma, cookies: ["one=1; Path=/", "two=2; Path=/"] };
    },
  };
}

function refusal(): Response {
  const headers = new Headers({ location: "/login", "content-type": "text/html; charset=utf-8" });
  headers.append("set-cookie", "three=3; Path=/");
  headers.append("set-cookie", "four=4; Path=/");
  return new Response("go and sign in: æ", { status: 302, headers });
}
