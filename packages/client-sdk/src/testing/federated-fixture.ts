/** An application behind OAuthFederated, a provider whose responses tests can change, and browsers with cookies. */
import assert from "node:assert/strict";
import { sha256Base64url } from "../base64url.ts";
import type { ConfigurationProperties, OAuthFederatedConfiguration } from "../configuration/settings.ts";
import { SignetError, type SignetErrorCode } from "../errors.ts";
import type { Filter, FilterResult } from "../filter.ts";
import type { OAuthFederatedOptions } from "../oauth-federated/federated-context.ts";
import { oauthFederated } from "../oauth-federated/oauth-federated.ts";
import type { Principal } from "../principal.ts";
import {
  CLIENT_ID,
  createTestProvider,
  ISSUER,
  type TestProvider,
  type TokenChanges,
} from "./test-provider.ts";

export const APP = "https://app.example";
export const COOKIE_SECRET = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

export interface FederatedFixture {
  readonly provider: TestProvider;
  readonly filter: Filter;
  /** Reported by the filter. */
  readonly errors: Error[];
  /** Of the next ID token of a sign-in. */
  idTokenChanges: TokenChanges;
  /** Added to the next responses of the token endpoint; undefined removes a member. */
  tokenChanges: Record<string, unknown>;
  /** Responds to refreshes; the default returns `rt-2`, `rt-3` … with a new ID token. */
  onRefresh: ((form: URLSearchParams) => Response | Promise<Response>) | undefined;
  /** Used refresh tokens, in order. */
  readonly refreshed: string[];
  /** Another application process with the same configuration. */
  anotherProcess(): Filter;
  browser(filter?: Filter): TestBrowser;
}

export interface TestBrowser {
  readonly cookies: Map<string, string>;
  go(path: string, headers?: Readonly<Record<string, string>>): Promise<TestResponse>;
  send(path: string, init: RequestInit): Promise<TestResponse>;
  /** The provider's response to an authorization request, as the path of the callback. */
  answerTo(sentTo: URL, changes?: Readonly<Record<string, string | undefined>>): string;
  /** From the page to the provider and back. @returns the response of the callback */
  signIn(path?: string): Promise<TestResponse>;
}

export interface TestResponse {
  readonly result: FilterResult;
  readonly status: number | undefined;
  readonly location: URL | undefined;
  readonly body: string;
  readonly headers: Headers;
  readonly cookies: readonly string[];
}

/** Fetch Metadata of a navigation. */
export const NAVIGATION = {
  "sec-fetch-mode": "navigate",
  "sec-fetch-dest": "document",
  "sec-fetch-site": "none",
};

export async function federatedFixture(
  changes: {
    readonly [Name in keyof ConfigurationProperties]?: ConfigurationProperties[Name] | undefined;
  } = {},
  options: OAuthFederatedOptions = {},
): Promise<FederatedFixture> {
  const provider = await createTestProvider();
  const errors: Error[] = [];
  const configuration = {
    filterType: "OAuthFederated",
    issuer: ISSUER,
    oauthClientId: CLIENT_ID,
    oauthClientSecret: "a secret/with+signs",
    baseUrl: APP,
    cookieSecrets: [COOKIE_SECRET],
    ...changes,
  } as OAuthFederatedConfiguration;
  const runtime = {
    fetch: provider.fetch,
    clock: provider.clock,
    onError: (error: Error) => void errors.push(error),
  };
  const make = () => oauthFederated(configuration, { ...runtime, ...options });
  const filter = make();
  const fixture: FederatedFixture = {
    provider,
    filter,
    errors,
    idTokenChanges: {},
    tokenChanges: {},
    onRefresh: undefined,
    refreshed: [],
    anotherProcess: make,
    browser: (other = filter) => createBrowser(other),
  };
  provider.answers.set("/token", async (request) =>
    answerTokens(fixture, new URLSearchParams(await request.text())),
  );
  return fixture;
}

async function answerTokens(fixture: FederatedFixture, form: URLSearchParams): Promise<Response> {
  const { provider, idTokenChanges, refreshed } = fixture;
  provider.forms.push(form);
  if (form.get("grant_type") === "refresh_token") {
    refreshed.push(form.get("refresh_token") ?? "");
    if (fixture.onRefresh) return fixture.onRefresh(form);
    return tokens(fixture, {
      refresh_token: `rt-${refreshed.length + 1}`,
      id_token: await provider.idToken(idTokenChanges),
    });
  }
  const { challenge, nonce } = JSON.parse(atob(form.get("code") ?? "")) as Record<string, string>;
  if ((await sha256Base64url(form.get("code_verifier") ?? "")) !== challenge)
    return Response.json({ error: "invalid_grant" }, { status: 400 });
  const changes = {
    ...idTokenChanges,
    claims: { nonce, auth_time: provider.clock() / 1000, ...idTokenChanges.claims },
  };
  return tokens(fixture, { refresh_token: "rt-1", id_token: await provider.idToken(changes) });
}

let counted = 0;
const tokens = ({ tokenChanges }: FederatedFixture, members: Record<string, unknown>): Response =>
  Response.json({
    token_type: "Bearer",
    expires_in: 3600,
    access_token: `at-${++counted}`,
    ...members,
    ...tokenChanges,
  });

function createBrowser(filter: Filter): TestBrowser {
  const cookies = new Map<string, string>();
  const send = async (path: string, init: RequestInit): Promise<TestResponse> => {
    const headers = new Headers(init.headers);
    headers.set("cookie", [...cookies].map(([name, value]) => `${name}=${value}`).join("; "));
    // An untrusted host, which the filter must not use.
    const request = new Request(`https://host-header.example${path}`, { ...init, headers });
    const result = await filter.authenticate(request);
    const answer = result.kind === "answer" ? result.response : undefined;
    const set = result.kind === "answer" ? result.response.headers.getSetCookie() : result.cookies;
    keep(cookies, set);
    const location = answer?.headers.get("location");
    return {
      result,
      status: answer?.status,
      location: location ? new URL(location) : undefined,
      body: answer ? await answer.text() : "",
      headers: answer?.headers ?? new Headers(),
      cookies: set,
    };
  };
  const go = (path: string, headers: Readonly<Record<string, string>> = NAVIGATION) =>
    send(path, { headers });
  const browser: TestBrowser = {
    cookies,
    go,
    send,
    answerTo: (sentTo, changes = {}) => {
      const { state, nonce, code_challenge: challenge } = Object.fromEntries(sentTo.searchParams);
      const members = { code: btoa(JSON.stringify({ nonce, challenge })), state, iss: ISSUER, ...changes };
      const present = Object.entries(members).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      );
      return `/signet/callback?${new URLSearchParams(present)}`;
    },
    signIn: async (path = "/") => {
      const { location } = await go(path);
      assert.ok(location, "sent to the provider");
      return go(browser.answerTo(location));
    },
  };
  return browser;
}

function keep(cookies: Map<string, string>, set: readonly string[]): void {
  for (const line of set) {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (/; Max-Age=0(?:;|$)/.test(line)) cookies.delete(name);
    else cookies.set(name, value);
  }
}

export function principalIn({ result }: TestResponse): Principal {
  assert.equal(result.kind, "authenticated");
  return (result as FilterResult & { kind: "authenticated" }).principal;
}

/** The filter rejected the request with this code. */
export function refusedWith({ result }: TestResponse, code: SignetErrorCode): SignetError {
  assert.equal(result.kind, "answer");
  const { error } = result as FilterResult & { kind: "answer" };
  assert.ok(error instanceof SignetError, String(error));
  assert.equal(error.code, code, error.message);
  return error;
}
