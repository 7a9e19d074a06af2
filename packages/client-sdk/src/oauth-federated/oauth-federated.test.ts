import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeJwt, generateKeyPair } from "jose";
import { APP, federatedFixture, NAVIGATION, principalIn } from "../testing/federated-fixture.ts";
import { CLIENT_ID, ISSUER, PERM_ID } from "../testing/test-provider.ts";

test("a page leads to the provider and back, and then has the user's properties", async () => {
  const fixture = await federatedFixture();
  const browser = fixture.browser();
  const sent = await browser.go("/orders?page=2");
  assert.equal(sent.status, 302);
  assert.ok(sent.location?.href.startsWith(`${ISSUER}/authorize?`));
  const asked = Object.fromEntries(sent.location?.searchParams ?? []);
  assert.equal(asked["response_type"], "code");
  assert.equal(asked["client_id"], CLIENT_ID);
  assert.equal(asked["redirect_uri"], `${APP}/signet/callback`);
  assert.equal(asked["scope"], "openid profile email");
  assert.equal(asked["code_challenge_method"], "S256");
  for (const name of ["state", "nonce", "code_challenge"])
    assert.match(asked[name] ?? "", /[\w-]{43}$/, name);

  const back = await browser.go(browser.answerTo(new URL(sent.location ?? "")));
  assert.equal(back.status, 302);
  assert.equal(back.location?.href, `${APP}/orders?page=2`);
  assert.equal(back.headers.get("cache-control"), "no-store");
  assert.equal(back.headers.get("referrer-policy"), "no-referrer", "the address has the code in it");
  assert.deepEqual(
    [...browser.cookies.keys()],
    ["__Host-signet-session"],
    "the sign-in's own cookie is gone",
  );
  for (const line of back.cookies) assert.match(line, /Path=\/; HttpOnly; SameSite=Lax; Secure$/);

  const principal = principalIn(await browser.go("/orders?page=2"));
  assert.equal(principal.subject, PERM_ID);
  assert.deepEqual(principal.user, {
    permId: PERM_ID,
    email: "ada@example.com",
    firstname: "Ada",
    surname: "Lovelace",
    organisationId: "0197aaaa-0000-7000-8000-000000000001",
  });
  assert.deepEqual([...principal.scopes], ["openid", "profile", "email"]);
  assert.match(principal.accessToken ?? "", /^at-/);
  assert.equal(principal.claims["sid"], "session-1");
  assert.deepEqual(fixture.errors, []);
});

test("the token request has code, verifier, redirect URI and client authentication", async () => {
  for (const [methods, isHeader] of [
    [undefined, true],
    [["client_secret_post", "client_secret_basic"], true],
    [["client_secret_post"], false],
  ] as const) {
    const fixture = await federatedFixture();
    fixture.provider.metadata["token_endpoint_auth_methods_supported"] = methods;
    const authorizations: (string | null)[] = [];
    const answer = fixture.provider.answers.get("/token");
    fixture.provider.answers.set("/token", async (request) => {
      authorizations.push(request.headers.get("authorization"));
      return (await answer?.(request)) ?? new Response();
    });
    await fixture.browser().signIn();
    const [form] = fixture.provider.forms;
    assert.equal(form?.get("redirect_uri"), `${APP}/signet/callback`);
    assert.equal(form?.has("client_secret"), !isHeader);
    const basic = `Basic ${btoa(`${CLIENT_ID}:a+secret%2Fwith%2Bsigns`)}`;
    assert.deepEqual(authorizations, [isHeader ? basic : null]);
  }
});

test("a public client sends its id without a secret", async () => {
  const fixture = await federatedFixture({ oauthClientSecret: undefined });
  principalIn(await (await signedIn(fixture)).go("/"));
  assert.equal(fixture.provider.forms[0]?.get("client_id"), CLIENT_ID);
});

test("private_key_jwt signs an assertion for the provider", async () => {
  const { privateKey } = await generateKeyPair("ES256");
  const clientAuthentication = { method: "private_key_jwt", privateKey, keyId: "app-1" } as const;
  const fixture = await federatedFixture({ oauthClientSecret: undefined }, { clientAuthentication });
  await fixture.browser().signIn();
  const assertion = fixture.provider.forms[0]?.get("client_assertion") ?? "";
  assert.deepEqual([decodeJwt(assertion).aud, decodeJwt(assertion).sub], [ISSUER, CLIENT_ID]);
});

test("only navigations of a tab are redirected; scripts, frames, forms and prefetches get a response", async () => {
  const { browser } = await federatedFixture();
  const script = await browser().go("/api/orders", { "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" });
  assert.equal(script.status, 401);
  assert.deepEqual(JSON.parse(script.body), {
    error: "login_required",
    error_description: "Sign in first.",
    login_url: `${APP}/signet/login`,
  });
  assert.match(script.headers.get("www-authenticate") ?? "", /^Signet /);
  const ahead = await browser().go("/orders", { ...NAVIGATION, "sec-purpose": "prefetch" });
  assert.deepEqual([ahead.status, ahead.cookies.length], [401, 0]);
  const frame = await browser().go("/orders", { ...NAVIGATION, "sec-fetch-dest": "iframe" });
  assert.equal(frame.status, 401);
  assert.match(frame.body, /href="https:\/\/app\.example\/signet\/login\?return_to=%2Forders" target="_top"/);
});

test("a form submitted without a session isn't resubmitted: the user is told, and returns to the form", async () => {
  const { browser } = await federatedFixture();
  const headers = { ...NAVIGATION, "sec-fetch-site": "same-origin", referer: `${APP}/orders/new?of=7` };
  const answer = await browser().send("/orders", { method: "POST", headers, body: "amount=1" });
  assert.equal(answer.status, 401);
  assert.match(answer.body, /not saved/);
  assert.match(answer.body, /login\?return_to=%2Forders%2Fnew%3Fof%3D7"/);
  const foreign = { ...headers, referer: "https://evil.example/orders" };
  const other = await browser().send("/orders", { method: "POST", headers: foreign, body: "amount=1" });
  assert.match(other.body, /href="https:\/\/app\.example\/signet\/login"/);
});

test("with isOptional nobody is redirected, and the login route still starts a sign-in", async () => {
  const fixture = await federatedFixture({ isOptional: true });
  const browser = fixture.browser();
  assert.deepEqual((await browser.go("/")).result, { kind: "anonymous", cookies: [] });
  const { location } = await browser.go("/signet/login?return_to=/account");
  const back = await browser.go(browser.answerTo(new URL(location ?? "")));
  assert.equal(back.location?.href, `${APP}/account`);
  assert.equal(principalIn(await browser.go("/")).subject, PERM_ID);
});

test("the login route returns only to the application", async () => {
  const fixture = await federatedFixture();
  for (const wanted of ["//evil.example", "https://evil.example", "/.//evil.example", "/signet/logout"]) {
    const browser = fixture.browser();
    const { location } = await browser.go(`/signet/login?${new URLSearchParams({ return_to: wanted })}`);
    const back = await browser.go(browser.answerTo(new URL(location ?? "")));
    assert.equal(back.location?.href, `${APP}/`, wanted);
  }
});

test("the filter's routes accept only their methods", async () => {
  const browser = (await federatedFixture()).browser();
  for (const [path, method, allow] of [
    ["/signet/login", "POST", "GET"],
    ["/signet/callback", "POST", "GET"],
    ["/signet/logout", "PUT", "GET, POST"],
    ["/signet/back-channel-logout", "GET", "POST"],
  ] as const) {
    const answer = await browser.send(path, { method });
    assert.deepEqual([answer.status, answer.headers.get("allow")], [405, allow], path);
  }
});

test("a modified cookie, or one sealed for another client, secret or purpose, is ignored", async () => {
  const fixture = await federatedFixture();
  const browser = await signedIn(fixture);
  const name = "__Host-signet-session";
  const good = browser.cookies.get(name) ?? "";
  const others = await Promise.all([
    federatedFixture({ oauthClientId: "0197aaaa-0000-7000-8000-0000000000c2" }),
    federatedFixture({ cookieSecrets: ["AQECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"] }),
  ]);
  for (const other of others) {
    const visitor = other.browser();
    visitor.cookies.set(name, good);
    assert.equal((await visitor.go("/")).status, 302);
  }
  const sealed = fixture.browser();
  await sealed.go("/");
  const [login = ""] = [...sealed.cookies.values()];
  // One in 256 ends with AA as it is.
  const changed = good.replace(/..$/, (end) => (end === "AA" ? "EA" : "AA"));
  for (const value of [changed, login, "", "1~", "nonsense"]) {
    const visitor = fixture.browser();
    visitor.cookies.set(name, value);
    assert.equal((await visitor.go("/")).status, 302, value.slice(0, 20));
  }
});

test("a method named like an object property is rejected like any other", async () => {
  const { filter } = await federatedFixture();
  for (const path of ["/login", "/callback", "/logout", "/back-channel-logout"])
    for (const method of ["constructor", "toString", "valueOf", "PROPFIND"]) {
      const result = await filter.authenticate(new Request(`${APP}/signet${path}`, { method }));
      assert.equal(result.kind === "answer" && result.response.status, 405, `${method} ${path}`);
    }
});

test("prefetches and images don't start a sign-in at the login route", async () => {
  const fixture = await federatedFixture();
  for (const headers of [
    { ...NAVIGATION, "sec-purpose": "prefetch" },
    { "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image", "sec-fetch-site": "same-site" },
  ]) {
    const answer = await fixture.browser().go("/signet/login", headers);
    assert.deepEqual([answer.status, answer.cookies], [401, []]);
  }
  assert.equal((await fixture.browser().go("/signet/login", {})).status, 302);
});

test("two filters of one application under two base paths have separate sessions", async () => {
  const [one, two] = [
    await federatedFixture({ basePath: "/staff" }),
    await federatedFixture({ basePath: "/auth/guests" }),
  ];
  const staff = one.browser();
  const { location } = await staff.go("/");
  await staff.go(staff.answerTo(new URL(location ?? "")).replace("/signet/", "/staff/"));
  const guests = two.browser();
  for (const [name, value] of staff.cookies) guests.cookies.set(name, value);
  const asked = await guests.go("/");
  assert.equal(asked.status, 302);
  await guests.go(guests.answerTo(new URL(asked.location ?? "")).replace("/signet/", "/auth/guests/"));
  assert.deepEqual([...guests.cookies.keys()].sort(), ["__Host-auth!guests-session", "__Host-staff-session"]);
  principalIn(await guests.go("/"));
});

test("an application can render its own pages, which keep the filter's cookies", async () => {
  const fixture = await federatedFixture(
    {},
    { showPage: ({ kind, status }) => Response.json({ kind }, { status }) },
  );
  const browser = await signedIn(fixture);
  fixture.onRefresh = () => Response.json({ error: "invalid_grant" }, { status: 400 });
  fixture.provider.advance(3590);
  const answer = await browser.send("/orders", { method: "POST", headers: NAVIGATION });
  assert.deepEqual([answer.status, answer.body], [401, '{"kind":"not_saved"}']);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(browser.cookies.size, 0);
});

test("additional parameters go to the provider, reserved ones are rejected, and max_age is enforced", async () => {
  const parameters = { ui_locales: "da", max_age: "300" };
  const fixture = await federatedFixture({}, { authorizationParameters: parameters });
  const browser = fixture.browser();
  const { location } = await browser.go("/");
  assert.equal(location?.searchParams.get("ui_locales"), "da");
  fixture.idTokenChanges = { claims: { auth_time: fixture.provider.clock() / 1000 - 400 } };
  const old = await browser.go(browser.answerTo(new URL(location ?? "")));
  assert.equal(old.status, 502);
  for (const wrong of [
    { state: "x" },
    { redirect_uri: "https://evil.example" },
    { max_age: "soon" },
    { prompt: "none" },
  ])
    await assert.rejects(federatedFixture({}, { authorizationParameters: wrong as Record<string, string> }), {
      code: "configuration",
    });
});

async function signedIn(fixture: Awaited<ReturnType<typeof federatedFixture>>) {
  const browser = fixture.browser();
  await browser.signIn();
  return browser;
}

test("a look at the session neither renews it nor believes one that has expired or ended", async () => {
  const fixture = await federatedFixture();
  const browser = fixture.browser();
  await browser.signIn();
  const request = () => {
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    return new Request("https://elsewhere.example/any", { headers: { cookie } });
  };
  assert.equal((await fixture.filter.peek?.(request()))?.user?.email, "ada@example.com");
  fixture.provider.advance(3_599);
  assert.equal(
    (await fixture.filter.peek?.(request()))?.user?.email,
    "ada@example.com",
    "due, but not expired",
  );
  fixture.provider.advance(1);
  assert.equal(await fixture.filter.peek?.(request()), undefined);
  assert.deepEqual(fixture.refreshed, []);
  await browser.go("/");
  assert.equal(
    (await fixture.filter.peek?.(request()))?.user?.email,
    "ada@example.com",
    "renewed by the filter",
  );
  const before = request();
  await browser.send("/signet/logout", {
    method: "POST",
    headers: { ...NAVIGATION, "sec-fetch-site": "same-origin" },
  });
  assert.equal(await fixture.filter.peek?.(before), undefined, "a copied cookie of an ended session");
});

test("one request of a filter can be optional, and another one required", async () => {
  const { filter } = await federatedFixture();
  const request = new Request("https://app.example/page", { headers: NAVIGATION });
  assert.equal((await filter.authenticate(request, { isOptional: true })).kind, "anonymous");
  assert.equal((await filter.authenticate(request)).kind, "answer");
  const optional = (await federatedFixture({ isOptional: true })).filter;
  assert.equal((await optional.authenticate(request, { isOptional: false })).kind, "answer");
});
