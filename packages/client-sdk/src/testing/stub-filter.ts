/** A filter for the tests of adapters: the request's path determines the result. Records the requests. */
import type { Filter, FilterResult, RequestContext } from "../filter.ts";
import type { Principal } from "../principal.ts";

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  /** Undefined if the filter did not read it. */
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
  sub: "uma",
  user: { permId: "uma", email: "uma@acme.example" },
  clientId: "app",
  scopes: new Set(["jobs:read"]),
  claims: {},
  accessToken: undefined,
  sessionKey: undefined,
};

/** `/refused`: its own response. `/anonymous`: no principal. Otherwise Uma. Reads the body if the query has `read`. */
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
