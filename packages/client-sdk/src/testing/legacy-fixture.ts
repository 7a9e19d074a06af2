/** An application behind UserFederated, a service with scripted responses, and browsers with cookies. */
import type { ConfigurationProperties, UserFederatedConfiguration } from "../configuration/settings.ts";
import type { Filter } from "../filter.ts";
import { type UserFederatedOptions, userFederated } from "../user-federated/user-federated.ts";
import { jsonResponse, stubService } from "./stub-service.ts";

export const NOW = 1_790_000_000_000;
export const APP = "https://app.example";
export const APP_ID = "0198c7a3-0000-7222-8333-444455556666";
export const user = {
  Email: "ada@acme.example",
  Firstname: "Ada",
  Surname: "Lovelace",
  PermId: "0198c7a3-9999-4222-8333-444455556666",
  OrganisationId: "0198c7a3-8888-7222-8333-444455556666",
  Role: "Standard",
};
export const valid = (more: Record<string, unknown> = {}) => ({
  Valid: true,
  Kind: "Service",
  ApplicationId: APP_ID,
  ExpiresAt: new Date(NOW + 12 * 3_600_000).toISOString(),
  User: user,
  ...more,
});
export const NAVIGATION = {
  "sec-fetch-mode": "navigate",
  "sec-fetch-dest": "document",
  "sec-fetch-site": "none",
};

export interface LegacyFixture {
  now: number;
  /** Of `auth/validate`. */
  answer: () => Response | Error | Promise<Response | Error>;
  onLogout: () => Response;
  readonly service: ReturnType<typeof stubService>;
  readonly errors: Error[];
  readonly filter: Filter;
  browser(filter?: Filter): LegacyBrowser;
  validations(): number;
}

export interface LegacyBrowser {
  readonly cookies: Map<string, string>;
  send(path: string, init?: RequestInit): Promise<LegacyResponse>;
  go(path: string, headers?: Record<string, string>): Promise<LegacyResponse>;
  /** @returns the callback's path as the service writes it */
  begin(path?: string, key?: string): Promise<string>;
  signIn(): Promise<LegacyResponse>;
}

export interface LegacyResponse {
  readonly kind: string;
  readonly permId: string | undefined;
  readonly sessionKey: string | undefined;
  readonly status: number | undefined;
  readonly location: string | undefined;
  readonly body: string;
  readonly set: readonly string[];
  readonly headers: Headers | undefined;
}

export function legacyFixture(
  more: ConfigurationProperties = {},
  options: UserFederatedOptions = {},
): LegacyFixture {
  const errors: Error[] = [];
  const service = stubService(({ target }) =>
    target.startsWith("/legacy/api/auth/validate") ? here.answer() : here.onLogout(),
  );
  const configuration: UserFederatedConfiguration = {
    filterType: "UserFederated",
    federationServer: "https://id.example",
    applicationId: APP_ID,
    baseUrl: APP,
    cookieSecrets: ["AAMGCQwPEhUYGx4hJCcqLTAzNjk8P0JFSEtOUVRXWl0"],
    ...more,
  };
  const runtime = {
    fetch: service.fetch,
    clock: () => here.now,
    onError: (error: Error) => void errors.push(error),
  };
  const filter = userFederated(configuration, { ...runtime, ...options });
  const here: LegacyFixture = {
    now: NOW,
    answer: () => jsonResponse(valid()),
    onLogout: () => new Response(null, { status: 204 }),
    service,
    errors,
    filter,
    browser: (one = filter) => browserOf(one),
    validations: () =>
      service.asked.filter(({ target }) => target.startsWith("/legacy/api/auth/validate")).length,
  };
  return here;
}

function browserOf(filter: Filter): LegacyBrowser {
  const cookies = new Map<string, string>();
  const send = async (path: string, init: RequestInit = {}): Promise<LegacyResponse> => {
    const headers = new Headers(init.headers);
    if (cookies.size > 0) headers.set("cookie", [...cookies].map((pair) => pair.join("=")).join("; "));
    const result = await filter.authenticate(
      new Request(`http://internal.invalid${path}`, { ...init, headers }),
    );
    const set = result.kind === "answer" ? result.response.headers.getSetCookie() : result.cookies;
    for (const line of set) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/Max-Age=0/.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    const principal = result.kind === "authenticated" ? result.principal : undefined;
    const response = result.kind === "answer" ? result.response : undefined;
    return {
      kind: result.kind,
      permId: principal?.user?.permId,
      sessionKey: principal?.sessionKey,
      status: response?.status,
      location: response?.headers.get("location") ?? undefined,
      body: (await response?.text()) ?? "",
      set,
      headers: response?.headers,
    };
  };
  const go: LegacyBrowser["go"] = (path, headers = {}) =>
    send(path, { headers: { ...NAVIGATION, ...headers } });
  const begin: LegacyBrowser["begin"] = async (path = "/orders?page=2", key = "sgn_sk_ada") => {
    const { location = "" } = await go(path);
    const returnUrl = new URL(new URL(location).searchParams.get("returnUrl") ?? "");
    return `${returnUrl.pathname}${returnUrl.search}&service_key=${key}`;
  };
  return { cookies, send, go, begin, signIn: async () => go(await begin()) };
}
