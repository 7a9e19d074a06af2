import assert from "node:assert/strict";
import { test } from "node:test";
import { APP, federatedFixture, NAVIGATION, principalIn, refusedWith } from "../testing/federated-fixture.ts";
import { CLIENT_ID, ISSUER } from "../testing/test-provider.ts";

const SESSION = "__Host-signet-session";
const OWN_FORM = { ...NAVIGATION, "sec-fetch-site": "same-origin", origin: APP };
const POST = { method: "POST", headers: OWN_FORM };

async function signedIn(changes = {}, options = {}) {
  const fixture = await federatedFixture(changes, options);
  const revoked: (string | null)[] = [];
  fixture.provider.metadata["revocation_endpoint"] = `${ISSUER}/revoke`;
  fixture.provider.answers.set("/revoke", async (request) => {
    revoked.push(new URLSearchParams(await request.text()).get("token"));
    return new Response(null, { status: 200 });
  });
  const browser = fixture.browser();
  await browser.signIn();
  return { fixture, browser, revoked };
}

test("a page of the application signs out here and at the provider, and revokes the refresh token", async () => {
  const { browser, revoked } = await signedIn({ afterLogoutPath: "/bye" });
  const answer = await browser.send("/signet/logout", POST);
  assert.equal(answer.status, 303);
  assert.equal(`${answer.location?.origin}${answer.location?.pathname}`, `${ISSUER}/end_session`);
  const asked = Object.fromEntries(answer.location?.searchParams ?? []);
  assert.equal(asked["client_id"], CLIENT_ID);
  assert.equal(asked["post_logout_redirect_uri"], `${APP}/bye`);
  assert.equal(asked["id_token_hint"]?.split(".").length, 3);
  assert.equal(browser.cookies.size, 0);
  assert.deepEqual(revoked, ["rt-1"]);
  assert.equal((await browser.go("/")).status, 302);
});

test("a link on a page does the same; a script gets the URL", async () => {
  const link = await signedIn();
  const answer = await link.browser.go("/signet/logout", { ...NAVIGATION, "sec-fetch-site": "same-origin" });
  assert.equal(answer.status, 302);
  assert.equal(link.browser.cookies.size, 0);
  const { browser } = await signedIn();
  const headers = { "sec-fetch-mode": "cors", "sec-fetch-dest": "empty", "sec-fetch-site": "same-origin" };
  const told = await browser.send("/signet/logout", { method: "POST", headers });
  assert.equal(told.status, 200);
  assert.ok(JSON.parse(told.body).logout_url.startsWith(`${ISSUER}/end_session?`));
  assert.equal(browser.cookies.size, 0);
});

test("another site, a link in an email, an image or a prefetch signs nobody out", async () => {
  const { browser } = await signedIn();
  const page = { ...NAVIGATION };
  const tries: readonly (readonly [number, RequestInit])[] = [
    [
      403,
      {
        method: "POST",
        headers: { ...page, "sec-fetch-site": "cross-site", origin: "https://evil.example" },
      },
    ],
    [
      403,
      {
        method: "POST",
        headers: { ...page, "sec-fetch-site": "same-site", origin: "https://blog.app.example" },
      },
    ],
    [403, { method: "POST", headers: { accept: "text/html", origin: "https://evil.example" } }],
    [403, { method: "POST", headers: { accept: "text/html", origin: "null" } }],
    [403, { method: "POST", headers: { accept: "text/html" } }],
    [403, { headers: { ...page, "sec-fetch-site": "cross-site" } }],
    [200, { headers: page }],
    [200, { headers: { accept: "text/html" } }],
    [
      403,
      {
        headers: { "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image", "sec-fetch-site": "same-origin" },
      },
    ],
    [403, { headers: { ...page, "sec-fetch-site": "same-origin", "sec-purpose": "prefetch" } }],
  ];
  for (const [status, init] of tries) {
    const answer = await browser.send("/signet/logout", init);
    assert.equal(answer.status, status, JSON.stringify(init));
    assert.deepEqual(answer.cookies, []);
    if (status === 403) refusedWith(answer, "cross_site");
    if (answer.body.startsWith("<"))
      assert.match(answer.body, /<form method="post" action="\/signet\/logout"/);
  }
  principalIn(await browser.go("/"));
});

test("without Fetch Metadata the Origin decides", async () => {
  const { browser } = await signedIn();
  const answer = await browser.send("/signet/logout", {
    method: "POST",
    headers: { accept: "text/html", origin: APP },
  });
  assert.equal(answer.status, 303);
  assert.equal(browser.cookies.size, 0);
});

test("afterwards a copied cookie is useless, and a pending refresh doesn't restore the session", async () => {
  const { fixture, browser } = await signedIn();
  const copy = fixture.browser();
  copy.cookies.set(SESSION, browser.cookies.get(SESSION) ?? "");
  fixture.provider.advance(3590);
  let answerRefresh = (_response: Response) => {};
  const begun = new Promise<void>((resolve) => {
    fixture.onRefresh = () => {
      resolve();
      return new Promise((answer) => (answerRefresh = answer));
    };
  });
  const underWay = copy.go("/", { "sec-fetch-mode": "cors" });
  await begun;
  await browser.send("/signet/logout", POST);
  answerRefresh(
    Response.json({ access_token: "at-late", token_type: "Bearer", expires_in: 3600, refresh_token: "rt-9" }),
  );
  const late = await underWay;
  assert.equal(late.status, 401);
  assert.deepEqual(late.cookies, [], "the browser may have another session by now");
  assert.equal((await copy.go("/", { "sec-fetch-mode": "cors" })).status, 401);
  assert.equal(copy.cookies.size, 0);
});

test("when another user signs in, a pending refresh doesn't restore the previous session", async () => {
  const { fixture, browser } = await signedIn();
  fixture.provider.advance(3590);
  let answerRefresh = (_response: Response) => {};
  const begun = new Promise<void>((resolve) => {
    fixture.onRefresh = () => {
      resolve();
      return new Promise((answer) => (answerRefresh = answer));
    };
  });
  const underWay = browser.go("/", { "sec-fetch-mode": "cors" });
  await begun;
  const { location } = await browser.go("/signet/login");
  const before = fixture.provider.userinfo["sub"];
  fixture.provider.userinfo["sub"] = "bob";
  fixture.idTokenChanges = { claims: { sub: "bob", sid: "session-2" } };
  await browser.go(browser.answerTo(new URL(location ?? "")));
  fixture.provider.userinfo["sub"] = before;
  answerRefresh(Response.json({ access_token: "at-late", token_type: "Bearer", expires_in: 3600 }));
  assert.equal((await underWay).status, 401);
  assert.equal(principalIn(await browser.go("/")).subject, "bob");
});

test("sessions of the same user in several tabs coexist", async () => {
  const { fixture, browser } = await signedIn();
  const copy = fixture.browser();
  copy.cookies.set(SESSION, browser.cookies.get(SESSION) ?? "");
  const { location } = await browser.go("/signet/login");
  await browser.go(browser.answerTo(new URL(location ?? "")));
  principalIn(await browser.go("/"));
  principalIn(await copy.go("/"));
});

test("whatever fails elsewhere, the user is signed out here", async () => {
  const { fixture, browser } = await signedIn(
    {},
    {
      logoutMemory: { remember: () => Promise.reject(new Error("store away")), recall: () => [] },
    },
  );
  fixture.provider.answers.set("/revoke", () => Promise.reject(new TypeError("away")));
  const answer = await browser.send("/signet/logout", POST);
  assert.equal(answer.status, 303);
  assert.equal(browser.cookies.size, 0);
  assert.equal(fixture.errors.length, 2);
});

test("without a safe logout page of the provider, or without a session: the application's own page", async () => {
  for (const endpoint of [undefined, "http://id.example/end_session"]) {
    const { fixture, browser } = await signedIn();
    fixture.provider.metadata["end_session_endpoint"] = endpoint;
    const fresh = fixture.browser(fixture.anotherProcess());
    fresh.cookies.set(SESSION, browser.cookies.get(SESSION) ?? "");
    assert.equal((await fresh.send("/signet/logout", POST)).location?.href, `${APP}/`);
  }
  const { fixture } = await signedIn();
  assert.equal((await fixture.browser().send("/signet/logout", POST)).location?.href, `${APP}/`);
});
