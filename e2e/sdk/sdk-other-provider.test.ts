/** The SDK against oidc-provider 9: what protects an application with our service protects it with any other by `issuer`. */
import assert from "node:assert/strict";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import {
  clientCredentials,
  type Filter,
  type FilterResult,
  oauthFederated,
  oauthUserBearer,
  type Principal,
} from "@signet/client-sdk";
import { Provider } from "oidc-provider";
import { testBrowser } from "../../packages/server/src/testing/fakes/browser.ts";

const webClient = { client_id: "web", client_secret: "web-secret-0123456789abcdef0123456789" };
const machine = { client_id: "machine", client_secret: "machine-secret-0123456789abcdef012" };
/** What access tokens of the machine are made out to. */
const resource = "https://api.other.example";
/** Seconds. */
const accessTokenLifetime = 600;

const baseUrl = "http://127.0.0.1:9";

let provider: OtherProvider;
before(async () => {
  provider = await openOtherProvider(baseUrl);
});
after(() => provider.close());

/** One person's browser at the application: a filter, and the cookies that it has set. */
function visitor(filter: Filter) {
  const cookies = new Map<string, string>();
  return async (target: string, init: RequestInit = {}): Promise<FilterResult> => {
    const headers = new Headers({ accept: "text/html", "sec-fetch-mode": "navigate" });
    if (cookies.size > 0) headers.set("cookie", [...cookies].map((pair) => pair.join("=")).join("; "));
    headers.set("sec-fetch-site", "same-origin");
    const result = await filter.authenticate(new Request(new URL(target, baseUrl), { headers, ...init }));
    const set = result.kind === "answer" ? result.response.headers.getSetCookie() : result.cookies;
    for (const line of set) {
      const [pair = ""] = line.split(";");
      const [name = "", value = ""] = [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)];
      if (/max-age=0/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return result;
  };
}

function locationOf(result: FilterResult): string {
  assert.ok(result.kind === "answer", result.kind);
  assert.ok([302, 303].includes(result.response.status), `${result.response.status} ${result.error}`);
  return result.response.headers.get("location") ?? "";
}

function principalIn(result: FilterResult): Principal {
  assert.ok(result.kind === "authenticated", JSON.stringify(result));
  return result.principal;
}

/** The provider's pages, from the authorization request to where it sends the browser back to. */
async function signIn(url: string, login: string): Promise<string> {
  const browser = testBrowser();
  let page = await browser.get(url);
  for (let step = 0; step < 20; step += 1) {
    if (page.location?.startsWith(baseUrl)) return page.location;
    const { prompt } = page.hidden;
    if (page.location) page = await browser.get(page.location);
    else page = await browser.post(page.url, { prompt: prompt ?? "", login, password: "any" });
  }
  throw new Error(`it ends at ${page.status} ${page.url}: ${page.body}`);
}

test("OAuthFederated: sign-in, userinfo, refresh with a rotated token, sign-out at the provider", async () => {
  let now = Date.now();
  const filter = oauthFederated(
    {
      filterType: "OAuthFederated",
      issuer: provider.issuer,
      oauthClientId: webClient.client_id,
      oauthClientSecret: webClient.client_secret,
      oauthScopes: "openid email profile offline_access",
      baseUrl,
      cookieSecrets: [randomBytes(32).toString("base64url")],
    },
    { clock: () => now },
  );
  const visit = visitor(filter);
  const back = await signIn(locationOf(await visit("/account")), "olga");
  assert.equal(locationOf(await visit(back)), `${baseUrl}/account`);
  const first = principalIn(await visit("/account"));
  assert.deepEqual(
    [first.subject, first.user?.email, first.user?.firstname, first.user?.surname],
    ["olga", "olga@other.example", "Olga", "Other"],
  );
  assert.equal(principalIn(await visit("/account")).accessToken, first.accessToken);

  now += (accessTokenLifetime - 1) * 1000;
  const later = principalIn(await visit("/account"));
  assert.notEqual(later.accessToken, first.accessToken);
  const again = principalIn(await visit("/account"));
  assert.deepEqual([again.subject, again.accessToken], ["olga", later.accessToken]);

  const end = new URL(locationOf(await visit("/signet/logout", { method: "POST" })));
  assert.equal(end.origin, provider.issuer);
  assert.equal(end.searchParams.get("post_logout_redirect_uri"), `${baseUrl}/`);
  assert.ok(locationOf(await visit("/account")).startsWith(`${provider.issuer}/`));
});

test("OAuthUserBearer: verifies access tokens and rejects anything else", async () => {
  const token = await clientCredentials({
    issuer: provider.issuer,
    oauthClientId: machine.client_id,
    oauthClientSecret: machine.client_secret,
    oauthScopes: "read",
  }).token();
  const settings = { filterType: "OAuthUserBearer", issuer: provider.issuer } as const;
  const call = (bearer: string, oauthAudience: string, oauthScopes: string) =>
    oauthUserBearer({ ...settings, oauthClientId: "api", oauthAudience, oauthScopes }).authenticate(
      new Request(`${baseUrl}/orders`, { headers: { authorization: `Bearer ${bearer}` } }),
    );
  const principal = principalIn(await call(token, resource, "read"));
  assert.deepEqual(
    [principal.kind, principal.clientId, [...principal.scopes]],
    ["service", machine.client_id, ["read"]],
  );
  for (const [bearer, audience, scopes, status] of [
    [`${token}x`, resource, "read", 401],
    [token, "https://another.example", "read", 401],
    [token, resource, "write", 403],
  ] as const) {
    const refused = await call(bearer, audience, scopes);
    assert.equal(refused.kind === "answer" && refused.response.status, status, audience);
  }
});

/** oidc-provider on loopback: one web client, one machine, anybody may sign in. */
interface OtherProvider {
  readonly issuer: string;
  close(): Promise<void>;
}

/** @param application where the web client lives, e.g. `http://127.0.0.1:9000` */
async function openOtherProvider(application: string): Promise<OtherProvider> {
  let handle: ReturnType<Provider["callback"]> | undefined;
  const server = createServer((request, response) => handle?.(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  handle = new Provider(issuer, settings(application)).callback();
  return {
    issuer,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function settings(application: string): Record<string, unknown> {
  return {
    clients: [
      {
        ...webClient,
        redirect_uris: [`${application}/signet/callback`],
        post_logout_redirect_uris: [`${application}/`],
        grant_types: ["authorization_code", "refresh_token"],
        token_endpoint_auth_method: "client_secret_post",
      },
      {
        ...machine,
        redirect_uris: [],
        response_types: [],
        grant_types: ["client_credentials"],
        token_endpoint_auth_method: "client_secret_post",
      },
    ],
    jwks: { keys: [signingKey()] },
    cookies: { keys: ["e2e"] },
    scopes: ["openid", "offline_access", "read"],
    claims: { openid: ["sub"], email: ["email"], profile: ["given_name", "family_name"] },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@other.example`, given_name: "Olga", family_name: "Other" }),
    }),
    features: {
      // Forms that take any name; only for tests, as the library says itself.
      devInteractions: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_context: unknown, { clientId }: { clientId: string }) =>
          clientId === machine.client_id ? resource : undefined,
        getResourceServerInfo: () => ({
          scope: "read",
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    ttl: {
      AccessToken: accessTokenLifetime,
      ClientCredentials: accessTokenLifetime,
      Grant: 3600,
      IdToken: 3600,
      Interaction: 3600,
      RefreshToken: 3600,
      Session: 3600,
    },
  };
}

/** RS256, which every provider must know (OpenID Connect Core §15.1), and which our own does not use by default. */
function signingKey(): object {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), alg: "RS256", use: "sig", kid: "other" };
}
