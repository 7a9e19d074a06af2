// Signing in by the legacy federation: only the key that this browser was sent for, and only one for this application.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SignetError } from "../errors.ts";
import { APP, APP_ID, legacyFixture, NAVIGATION, user, valid } from "../testing/legacy-fixture.ts";
import { jsonResponse } from "../testing/stub-service.ts";

test("a page leads to the service and back, and then belongs to the user", async () => {
  const { browser, service } = legacyFixture();
  const ada = browser();
  const sent = await ada.go("/orders?page=2");
  assert.equal(sent.status, 302);
  const address = new URL(sent.location ?? "");
  assert.equal(`${address.origin}${address.pathname}`, "https://id.example/federation/Login");
  assert.equal(address.searchParams.get("appId"), APP_ID);
  const returnUrl = address.searchParams.get("returnUrl") ?? "";
  assert.match(returnUrl, /^https:\/\/app\.example\/signet\/callback\?state=[\w.-]+$/);
  for (const line of sent.set)
    assert.match(line, /^__Host-signet-login-.*; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/);

  const { pathname, search } = new URL(returnUrl);
  const back = await ada.go(`${pathname}${search}&service_key=sgn_sk_ada`);
  assert.deepEqual([back.status, back.location], [302, `${APP}/orders?page=2`]);
  assert.deepEqual(
    [back.headers?.get("cache-control"), back.headers?.get("referrer-policy")],
    ["no-store", "no-referrer"],
  );
  assert.deepEqual([...ada.cookies.keys()], ["__Host-signet-session"], "the attempt is over");
  assert.doesNotMatch(ada.cookies.get("__Host-signet-session") ?? "", /sgn_sk/);
  assert.deepEqual(
    service.asked.map(({ target }) => target),
    ["/legacy/api/auth/validate?key=sgn_sk_ada"],
  );

  const page = await ada.go("/orders?page=2");
  assert.deepEqual(
    [page.kind, page.permId, page.sessionKey, page.set.length],
    ["authenticated", user.PermId, "sgn_sk_ada", 0],
  );
  assert.equal((await ada.send("/api", { method: "POST" })).kind, "authenticated");
});

test("the principal has the specification's user properties", async () => {
  const here = legacyFixture();
  const ada = here.browser();
  await ada.signIn();
  const headers = { ...NAVIGATION, cookie: [...ada.cookies].map((pair) => pair.join("=")).join("; ") };
  const result = await here.filter.authenticate(new Request(`${APP}/`, { headers }));
  assert.ok(result.kind === "authenticated");
  assert.deepEqual(result.principal, {
    authenticatedBy: "UserFederated",
    kind: "user",
    subject: user.PermId,
    sub: user.PermId,
    user: {
      permId: user.PermId,
      email: user.Email,
      firstname: "Ada",
      surname: "Lovelace",
      organisationId: user.OrganisationId,
      role: "Standard",
    },
    clientId: APP_ID,
    scopes: new Set(),
    claims: {},
    accessToken: undefined,
    sessionKey: "sgn_sk_ada",
  });
});

test("a key without a sign-in of this browser signs nobody in", async () => {
  const here = legacyFixture();
  const mallory = here.browser();
  const link = await mallory.begin("/", "sgn_sk_mallory");
  const ada = here.browser();
  for (const path of [
    link,
    "/signet/callback?service_key=sgn_sk_mallory",
    "/signet/callback?state=x&service_key=sgn_sk_mallory",
  ]) {
    const refused = await ada.go(path);
    assert.deepEqual([refused.status, refused.set.length], [400, 0], path);
  }
  assert.equal(here.validations(), 0);
  assert.ok(here.errors.every((error) => error instanceof SignetError && error.code === "login_state"));
  // Nor with a sign-in of her own under way.
  await ada.begin();
  assert.equal((await ada.go(link)).status, 400);
  assert.equal(ada.cookies.has("__Host-signet-session"), false);
});

test("a sign-in gets one response, within ten minutes", async () => {
  const here = legacyFixture();
  const ada = here.browser();
  const link = await ada.begin();
  here.now += 600_000;
  assert.equal((await ada.go(link)).status, 400);
  const second = await ada.begin();
  assert.equal((await ada.go(second)).status, 302);
  const again = await ada.go(second);
  assert.deepEqual([again.status, again.location], [302, `${APP}/`], "back in the history: she is signed in");
  assert.equal(here.validations(), 1);
});

const answers: { name: string; body: unknown; status?: number; code: string }[] = [
  {
    name: "of another application",
    body: valid({ ApplicationId: "0198c7a3-0000-7222-8333-444455556667" }),
    code: "session_key",
  },
  { name: "made to be handed on", body: valid({ Kind: "UserTemp" }), code: "session_key" },
  { name: "that lives for ever", body: valid({ Kind: "UserPerm", ExpiresAt: null }), code: "session_key" },
  { name: "that is not said to be valid", body: valid({ Valid: "true" }), code: "provider_answer" },
  { name: "without a user", body: valid({ User: undefined }), code: "provider_answer" },
  {
    name: "without a PermId",
    body: valid({ User: { ...user, PermId: undefined } }),
    code: "provider_answer",
  },
  { name: "without an application", body: valid({ ApplicationId: undefined }), code: "session_key" },
  { name: "without an end", body: valid({ ExpiresAt: undefined }), code: "provider_answer" },
  { name: "of which nothing is said", body: {}, code: "provider_answer" },
  {
    name: "that the service does not know",
    body: { type: "urn:signet:error:not-authenticated", title: "No" },
    status: 401,
    code: "session_key",
  },
  { name: "that a proxy refuses", body: {}, status: 401, code: "provider_answer" },
];
for (const { name, body, status = 200, code } of answers)
  test(`a key ${name} is rejected`, async () => {
    const here = legacyFixture();
    const ada = here.browser();
    here.answer = () => jsonResponse(body, status);
    const refused = await ada.signIn();
    assert.equal(refused.status, 502);
    assert.match(refused.body, /Sign-in failed/);
    assert.deepEqual(
      here.errors.map((error) => (error as SignetError).code),
      [code],
    );
    assert.deepEqual([...ada.cookies.keys()], [], "no session, and the attempt is over");
    assert.doesNotMatch(refused.body + String(here.errors[0]?.message), /sgn_sk/);
  });

test("a response with two keys, or none, is rejected without calling the service", async () => {
  for (const change of ["&service_key=sgn_sk_two", "&state=x"]) {
    const here = legacyFixture();
    const ada = here.browser();
    assert.ok([400, 502].includes((await ada.go((await ada.begin()) + change)).status ?? 0));
    assert.equal(here.validations(), 0);
  }
  const here = legacyFixture();
  const ada = here.browser();
  for (const key of ["", "%20", "a".repeat(201), "%0d%0a"]) {
    assert.equal((await ada.go(await ada.begin("/", key))).status, 502, key);
    assert.equal(here.validations(), 0);
  }
  const denied = (await ada.begin("/", "")).replace("service_key=", "error=access_denied");
  assert.equal((await ada.go(denied)).status, 403);
});

test("requests that can't be redirected are told, and isOptional lets them through", async () => {
  const here = legacyFixture();
  const guest = here.browser();
  const script = await guest.send("/api", { headers: { "sec-fetch-mode": "cors" } });
  assert.deepEqual([script.status, JSON.parse(script.body).login_url], [401, `${APP}/signet/login`]);
  const form = await guest.send("/orders", {
    method: "POST",
    headers: { ...NAVIGATION, referer: `${APP}/orders/new` },
  });
  assert.equal(form.status, 401);
  assert.match(form.body, /not saved.*return_to=%2Forders%2Fnew/s);
  const open = legacyFixture({ isOptional: true });
  assert.equal((await open.browser().go("/")).kind, "anonymous");
  const begun = await open.browser().go("/signet/login?return_to=//evil.example/");
  assert.equal(begun.status, 302);
  assert.equal((await open.browser().send("/signet/login", { method: "PUT" })).status, 405);
});

test("users return only to the application", async () => {
  const here = legacyFixture({ isOptional: true });
  const wishes = {
    "//evil.example/": "/",
    "https://evil.example/": "/",
    "/\\evil.example": "/",
    "/signet/logout": "/",
    "/a?b=c#d": "/a?b=c#d",
  };
  for (const [wish, place] of Object.entries(wishes)) {
    const ada = here.browser();
    const link = await ada.begin(`/signet/login?return_to=${encodeURIComponent(wish)}`);
    assert.equal((await ada.go(link)).location, `${APP}${place}`, wish);
  }
});

test("with a system account's keys calls are signed; a prompt is passed on", async () => {
  const more = {
    systemAccountPublicKey: "0198c7a3-1111-7222-8333-444455556666",
    systemAccountSecretKey: "sgn_sa_secret",
  };
  const here = legacyFixture(more, { prompt: "login" });
  const ada = here.browser();
  assert.match((await ada.go("/")).location ?? "", /&prompt=login$/);
  await ada.signIn();
  assert.match(
    here.service.asked[0]?.headers.get("authorization") ?? "",
    /^0198c7a3-1111-7222-8333-444455556666:/,
  );
  assert.notEqual(here.service.asked[0]?.headers.get("x-signet-nonce"), null);
});

test("five tabs sign in at once, each to its own page", async () => {
  const here = legacyFixture();
  const ada = here.browser();
  const links: string[] = [];
  for (let tab = 0; tab < 5; tab++) {
    here.now += 1_000;
    links.push(await ada.begin(`/tab/${tab}`));
  }
  for (const [tab, link] of links.entries()) assert.equal((await ada.go(link)).location, `${APP}/tab/${tab}`);
});

test("neither a prefetch nor a method named like an object property starts a sign-in", async () => {
  const here = legacyFixture();
  const ahead = await here.browser().go("/signet/login", { "sec-purpose": "prefetch" });
  assert.deepEqual([ahead.status, ahead.set], [401, []]);
  for (const method of ["constructor", "toString"])
    assert.equal((await here.browser().send("/signet/login", { method })).status, 405);
});
