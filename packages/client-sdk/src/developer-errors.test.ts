/** What goes wrong in the first hour: each fault tells the developer, in one sentence, which setting it is; the user a reference. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { checkConfiguration } from "./configuration/check-configuration.ts";
import type { SignetError, SignetErrorCode } from "./errors.ts";
import { oauthUserBearer } from "./oauth-user-bearer/oauth-user-bearer.ts";
import { requireScopes } from "./oauth-user-bearer/unauthorized-response.ts";
import { requireUser } from "./require-user.ts";
import { bearer, federated } from "./testing/configurations.ts";
import {
  type FederatedFixture,
  federatedFixture,
  NAVIGATION,
  principalIn,
  refusedWith,
  type TestResponse,
} from "./testing/federated-fixture.ts";
import { uma } from "./testing/stub-filter.ts";
import { createTestProvider, ISSUER } from "./testing/test-provider.ts";

/** The developer's sentence has these words; the page has none of them, only the reference of the same error. */
function told(
  shown: TestResponse,
  code: SignetErrorCode,
  ...words: readonly (string | RegExp)[]
): SignetError {
  const error = refusedWith(shown, code);
  for (const word of words) {
    assert.match(error.message, word instanceof RegExp ? word : new RegExp(RegExp.escape(word)));
    if (typeof word === "string") assert.ok(!shown.body.includes(word), `the page says ${word}`);
  }
  assert.match(error.reference, /^[\w-]{8}$/);
  assert.ok(shown.body.includes(error.reference), shown.body);
  return error;
}

const LOCAL = { baseUrl: "http://localhost:3000" };

async function signInWith(change: (fixture: FederatedFixture) => void): Promise<TestResponse> {
  const fixture = await federatedFixture();
  change(fixture);
  return fixture.browser().signIn();
}

describe("a sign-in that a setting makes fail", () => {
  test("the wrong issuer", async () => {
    const fixture = await federatedFixture();
    fixture.provider.metadata["issuer"] = "https://id.example/oauth/other";
    const shown = await fixture.browser().go("/");
    told(shown, "provider_answer", "https://id.example/oauth/other", ISSUER, "SIGNET_ISSUER");
  });

  test("an issuer that is nowhere", async () => {
    const fixture = await federatedFixture();
    const path = "/.well-known/openid-configuration";
    fixture.provider.answers.set(path, () => new Response("", { status: 404 }));
    const shown = await fixture.browser().go("/");
    told(shown, "provider_answer", `${ISSUER}${path}`, "404", "SIGNET_ISSUER");
  });

  test("a clock that is minutes behind, or ahead", async () => {
    const changes = (by: number) => (fixture: FederatedFixture) => {
      const iat = fixture.provider.clock() / 1000 + by;
      fixture.idTokenChanges = { claims: { iat, exp: iat + 300 } };
    };
    told(await signInWith(changes(400)), "token_not_yet_valid", "400 s", "NTP");
    told(await signInWith(changes(-600)), "token_expired", "300 s", "NTP");
  });

  test("a wrong client secret", async () => {
    const shown = await signInWith(({ provider }) => {
      provider.answers.set("/token", () => Response.json({ error: "invalid_client" }, { status: 401 }));
    });
    told(shown, "provider_refused", "invalid_client", "SIGNET_OAUTH_CLIENT_SECRET", `${ISSUER}/token`);
  });

  test("a redirect URI that is not registered, found out by the first request of an application on localhost", async () => {
    const fixture = await federatedFixture(LOCAL);
    const asked: string[] = [];
    const refuse = async (input: string | URL | Request, init?: RequestInit) => {
      if (!String(input).startsWith(`${ISSUER}/authorize?`)) return fixture.provider.fetch(input, init);
      asked.push(String(input));
      return new Response("<p>wrong address", { status: asked.length === 1 ? 400 : 200 });
    };
    const { browser } = await federatedFixture(LOCAL, { fetch: refuse });
    const [one, address] = [browser(), "http://localhost:3000/signet/callback"];
    told(await one.go("/"), "provider_refused", address, "SIGNET_BASE_URL", "SIGNET_BASE_PATH");
    assert.equal((await one.go("/")).status, 302);
    assert.equal((await one.go("/")).status, 302);
    assert.equal(asked.length, 2, "asked until it is good, then never again");
    assert.equal(new URL(asked[0] ?? "").searchParams.get("redirect_uri"), address);
  });

  test("an application in production asks nothing for that", async () => {
    const { browser, provider } = await federatedFixture();
    await browser().go("/");
    assert.deepEqual(provider.calls, ["GET /.well-known/openid-configuration"]);
  });

  test("scopes that the application may not have", async () => {
    const { browser } = await federatedFixture();
    const one = browser();
    const { location } = await one.go("/");
    assert.ok(location);
    const shown = await one.go(one.answerTo(location, { code: undefined, error: "invalid_scope" }));
    told(shown, "provider_refused", "invalid_scope", "SIGNET_OAUTH_SCOPES");
  });

  test("claims that no cookie can hold", async () => {
    const shown = await signInWith(({ provider }) => {
      provider.userinfo["groups"] = Array.from({ length: 900 }, (_, at) => `group-${at}`);
    });
    told(shown, "provider_answer", /\d{5} characters/, "12000", "SIGNET_OAUTH_SCOPES");
  });

  test("a proxy that removes cookies", async () => {
    const { browser, filter } = await federatedFixture();
    const { location } = await browser().go("/");
    assert.ok(location);
    const url = `https://app.example${browser().answerTo(location)}`;
    const result = await filter.authenticate(new Request(url, { headers: NAVIGATION }));
    assert.equal(result.kind, "answer");
    const { response, error } = result as typeof result & { kind: "answer" };
    const message = String(error);
    for (const word of ["no cookie", "SIGNET_BASE_URL", "proxy"]) assert.ok(message.includes(word), message);
    assert.doesNotMatch(await response.text(), /proxy|SIGNET/);
  });

  test("a proxy that removes the path's prefix, or adds one, ends in a sentence instead of a loop", async () => {
    for (const [basePath, came] of [
      ["/shop/signet", "/signet/callback"],
      ["/signet", "/shop/signet/callback"],
    ] as const) {
      const { browser } = await federatedFixture({ basePath });
      const one = browser();
      const { location } = await one.go("/");
      assert.ok(location);
      const shown = await one.go(one.answerTo(location).replace("/signet/callback", came));
      told(shown, "login_state", `${basePath}/callback`, "SIGNET_BASE_PATH", came);
      assert.equal(shown.status, 400);
    }
  });

  test("a page of the application with parameters of such names is no callback", async () => {
    const { browser } = await federatedFixture();
    const shown = await browser().go("/search?code=1&state=open");
    assert.equal(shown.status, 302);
  });
});

test("a base URL with a path says where the path goes", () => {
  const configuration = { ...federated, baseUrl: "https://app.example/shop" };
  assert.throws(() => checkConfiguration(configuration), /basePath, as \/prefix\/signet.*SIGNET_BASE_PATH/);
});

test("an API behind a proxy that removes the Authorization header", async () => {
  const errors: Error[] = [];
  const { fetch } = await createTestProvider();
  const filter = oauthUserBearer(bearer, { fetch, onError: (error) => void errors.push(error) });
  const result = await filter.authenticate(new Request("https://api.example/"));
  assert.match(String(errors[0]), /no Authorization header.*proxy/);
  assert.equal(result.kind, "answer");
  const { response } = result as typeof result & { kind: "answer" };
  assert.doesNotMatch(await response.text(), /proxy/);
});

test("a scope that is missing names the setting of the application that calls", () => {
  assert.throws(() => requireScopes(uma, "jobs:write"), {
    code: "insufficient_scope",
    message: /jobs:write.*SIGNET_OAUTH_SCOPES/,
    description: "The token lacks the scope jobs:write.",
  });
});

describe("requireUser", () => {
  test("gives the user with the properties that it was asked for, typed as present", async () => {
    const { browser } = await federatedFixture();
    const one = browser();
    await one.signIn();
    const request = { principal: principalIn(await one.go("/")) };
    const user = requireUser(request, "email", "firstname");
    const texts: readonly string[] = [user.permId, user.email, user.firstname];
    assert.deepEqual(texts.slice(1), ["ada@example.com", "Ada"]);
    assert.equal(request.principal.sub, request.principal.subject);
    // @ts-expect-error nobody asked for it
    const surname: string = user.surname;
    assert.equal(surname, "Lovelace");
  });

  test("names the scope that a missing property takes, to the developer alone", () => {
    assert.throws(() => requireUser({ principal: uma }, "email", "phone"), {
      code: "token_claim_missing",
      message: /phone.*SIGNET_OAUTH_SCOPES\) include phone/,
      description: "The user's profile is incomplete.",
      status: 500,
    });
    assert.throws(() => requireUser({}, "email"), { code: "token_missing" });
    const service = { ...uma, kind: "service", user: undefined } as const;
    assert.throws(() => requireUser({ principal: service }, "email"), /acts for itself/);
  });
});
