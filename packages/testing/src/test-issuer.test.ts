/** An issuer for tests: its tokens are accepted by an API that trusts the real service, and its faults are sentences. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { configurationFromEnvironment, middleware, oauthFederated } from "@signet/client-sdk";
import {
  createTestIssuer,
  expectSignedOut,
  signInAs,
  type TestIssuer,
  type TestIssuerOptions,
  tokenFor,
} from "./index.ts";

const AUDIENCE = "https://api.example.com";
const DAY_MS = 86_400_000;

const options = {
  users: [
    { email: "ada@acme.example", firstname: "Ada", surname: "Lovelace", role: "Administrator" },
    { email: "bob@acme.example", roles: ["shop/editor"], groups: ["Staff"], password: "plum tractor ninety" },
  ],
  groups: ["Staff"],
  roles: [{ key: "editor", application: "shop", permissions: ["orders:write"] }],
  applications: [
    {
      name: "Shop",
      url: "http://127.0.0.1:9",
      allowedScopes: ["openid", "email", "roles", "groups"],
      groupsClaim: "all",
    },
    { name: "Robot", grantTypes: ["client_credentials"], audience: AUDIENCE },
  ],
} satisfies TestIssuerOptions;

let now = Date.now();
let issuer: TestIssuer;
before(async () => {
  issuer = await createTestIssuer({ ...options, clock: () => now });
});
after(() => issuer.stop());

/** What an API says to a token: who it is from, or why it is refused. */
async function presented(token: string, oauthScopes?: string): Promise<string> {
  const filter = middleware(
    {
      filterType: "OAuthUserBearer",
      issuer: issuer.issuer,
      audience: AUDIENCE,
      ...(oauthScopes ? { oauthScopes } : {}),
    },
    { clock: () => now },
  );
  const request = new Request(AUDIENCE, { headers: { authorization: `Bearer ${token}` } });
  const result = await filter.authenticate(request);
  if (result.kind === "answer") return String(result.error && "code" in result.error && result.error.code);
  return result.kind === "authenticated"
    ? (result.principal.user?.email ?? result.principal.sub)
    : result.kind;
}

describe("tokenFor", () => {
  test("gives a token that an API accepts, of the first user or of another", async () => {
    assert.equal(
      await presented(await issuer.tokenFor({ audience: [AUDIENCE, issuer.issuer] })),
      "ada@acme.example",
    );
    const bob = issuer.user("BOB@acme.example");
    const token = await tokenFor({ user: bob, audience: AUDIENCE, scope: "openid email orders:read" });
    assert.equal(await presented(token, "orders:read"), bob.email);
    assert.equal(await presented(token, "orders:write"), "insufficient_scope");
  });

  test("gives a token that has expired, is for another API, or says what the test wants", async () => {
    assert.equal(
      await presented(await issuer.tokenFor({ audience: AUDIENCE, expiresIn: -120 })),
      "token_expired",
    );
    assert.equal(
      await presented(await issuer.tokenFor({ audience: "https://other.example" })),
      "token_audience",
    );
    const claims = { iss: "https://other.example" };
    assert.equal(await presented(await issuer.tokenFor({ audience: AUDIENCE, claims })), "token_issuer");
    const none = { client_id: undefined };
    assert.equal(
      await presented(await issuer.tokenFor({ audience: AUDIENCE, claims: none })),
      "token_claim_missing",
    );
  });

  test("gives an application's own token", async () => {
    const { clientId } = issuer.application("robot");
    assert.equal(await presented(await issuer.tokenFor({ client: "robot" })), clientId);
  });

  test("gives all tokens of a sign-in, which the service knows", async () => {
    const { accessToken, refreshToken, idToken } = await issuer.tokensFor({
      user: "bob@acme.example",
      client: "shop",
      scope: "roles groups email",
    });
    assert.ok(refreshToken && idToken);
    const headers = { authorization: `Bearer ${accessToken}` };
    const userinfo = (await (await fetch(`${issuer.issuer}/userinfo`, { headers })).json()) as Record<
      string,
      unknown
    >;
    assert.deepEqual(
      [userinfo["email"], userinfo["groups"], userinfo["roles"]],
      ["bob@acme.example", ["Staff"], ["editor"]],
    );
    await issuer.signOutEverywhere("bob@acme.example");
    assert.equal((await fetch(`${issuer.issuer}/userinfo`, { headers })).status, 401);
  });

  test("follows the clock that it was given", async () => {
    const token = await issuer.tokenFor({ audience: AUDIENCE });
    now += DAY_MS;
    try {
      assert.equal(await presented(token), "token_expired");
      assert.equal(
        await presented(await issuer.tokenFor({ audience: AUDIENCE, expiresIn: 60 })),
        "ada@acme.example",
      );
    } finally {
      now -= DAY_MS;
    }
  });

  test("names what is not there", async () => {
    await assert.rejects(issuer.tokenFor({ user: "eve@acme.example" }), {
      name: "TestIssuerError",
      message: /eve@acme/,
    });
    await assert.rejects(issuer.tokenFor({ client: "nothing" }), /no application nothing/);
  });
});

test("the environment of an application is what the SDK reads", () => {
  const environment = { ...issuer.environmentOf("Shop"), SIGNET_FILTER_TYPE: "OAuthFederated" };
  assert.equal(issuer.environmentOf("Shop")["SIGNET_BASE_URL"], "http://127.0.0.1:9");
  const secrets = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
  const configuration = configurationFromEnvironment({ ...environment, SIGNET_COOKIE_SECRETS: secrets });
  assert.equal(middleware(configuration).filterType, "OAuthFederated");
  assert.ok(!issuer.applications.some(({ name }) => name === "@signet/testing"));
});

/** A browser as far as cookies and redirects go. */
function fakePage() {
  const jar = new Map<string, string>();
  let shown = "about:blank";
  return {
    context: () => ({
      addCookies: async (cookies: readonly { name: string; value: string }[]) => {
        for (const { name, value } of cookies) jar.set(name, value);
      },
      cookies: async () => [...jar].map(([name, value]) => ({ name, value })),
    }),
    goto: async (url: string) => {
      shown = url;
    },
    url: () => shown,
    jar,
  };
}

test("signInAs makes a session of the user in the browser, and expectSignedOut sees when it has ended", async () => {
  const page = fakePage();
  await expectSignedOut(page);
  await signInAs(page, "bob@acme.example", "http://127.0.0.1:9/");
  assert.equal(page.url(), "http://127.0.0.1:9/");
  const cookie = [...page.jar].map(([name, value]) => `${name}=${value}`).join("; ");
  const account = await fetch(`${issuer.issuer}/account`, { headers: { cookie } });
  assert.match(await account.text(), /bob@acme\.example/);
  await assert.rejects(expectSignedOut(page, undefined, { timeout: 0 }), /still signed in to Acme/);
  await issuer.signOutEverywhere(issuer.user("bob@acme.example"));
  await expectSignedOut(page);
  await assert.rejects(
    expectSignedOut(page, "http://127.0.0.1:9/", { timeout: 0 }),
    /the application is still signed in/,
  );
  await expectSignedOut(page, `${issuer.issuer}/account`);
});

test("expectSignedOut waits for an application that hears of the sign-out later, and for nothing else", async () => {
  const shown = ["http://127.0.0.1:9/", "http://127.0.0.1:9/", `${issuer.issuer}/authorize`];
  const page = { ...fakePage(), url: () => shown.shift() ?? "about:blank" };
  await expectSignedOut(page, "http://127.0.0.1:9/");
  assert.deepEqual(shown, [], "opened until it asks for the sign-in");
  const closed = { ...fakePage(), goto: () => Promise.reject(new Error("the browser has closed")) };
  await assert.rejects(expectSignedOut(closed, "http://127.0.0.1:9/"), /the browser has closed/);
});

test("an issuer is updated while it runs: what stays keeps its ids and secrets", async () => {
  await using other = await createTestIssuer(options);
  const [shop, ada] = [other.application("shop"), other.user("ada@acme.example")];
  await other.update({ ...options, applications: [{ name: "Shop", url: "http://127.0.0.1:8" }] });
  assert.equal(other.application("shop").clientId, shop.clientId);
  assert.equal(other.application("shop").clientSecret, shop.clientSecret);
  assert.deepEqual(other.application("shop").redirectUris, ["http://127.0.0.1:8/signet/callback"]);
  assert.equal(other.user("ada@acme.example").password, ada.password);
  assert.throws(() => other.application("robot"), /no application robot/);
  await assert.rejects(tokenFor(), /several issuers run/);
});

test("an issuer that cannot be made says why in one sentence, and leaves nothing open", async () => {
  for (const [wrong, sentence] of [
    [{ users: [{ email: "nobody" }] }, "the email address is not valid"],
    [{ users: [{ email: "a@b.example", password: "short" }] }, /password/],
    [
      { users: [{ email: "a@b.example", roles: ["king"] }] },
      "organisations.0.users.0.roles.0 names no role of the organisation.",
    ],
    [
      { applications: [{ name: "Shop", redirectUrls: [] }] },
      /organisations\.0\.applications\.0\.redirectUrls/,
    ],
    [{ applications: [{ name: "Shop", redirectUris: ["javascript:1"] }] }, /redirectUris/],
  ] as const)
    await assert.rejects(createTestIssuer(wrong as TestIssuerOptions), ({ message }: Error) => {
      assert.match(message, typeof sentence === "string" ? new RegExp(RegExp.escape(sentence)) : sentence);
      assert.doesNotMatch(message, /\n/);
      return true;
    });
});

test("a web application of the SDK works with it as with any Signet", async () => {
  const { issuer: address, application } = issuer;
  const { clientId, clientSecret = "" } = application("shop");
  const filter = oauthFederated({
    ...{ issuer: address, clientId, clientSecret, baseUrl: "http://127.0.0.1:9" },
    cookieSecrets: ["AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"],
  });
  const headers = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
  const result = await filter.authenticate(new Request("http://127.0.0.1:9/", { headers }));
  assert.equal(result.kind === "answer" && result.response.status, 302);
});
