// Signing out: by the application's own pages alone, and for good.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SignetError } from "../errors.ts";
import { APP, APP_ID, legacyFixture, NOW, user, valid } from "../testing/legacy-fixture.ts";
import { jsonResponse, problemResponse } from "../testing/stub-service.ts";
import { userFederated } from "./user-federated.ts";

const BOB = "0198c7a3-7777-4222-8333-444455556666";

test("signing out ends the key at the service; a copied cookie doesn't restore it", async () => {
  const here = legacyFixture();
  const ada = here.browser();
  await ada.signIn();
  const copy = here.browser();
  for (const [name, value] of ada.cookies) copy.cookies.set(name, value);
  const headers = {
    "sec-fetch-site": "same-origin",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
  };
  const out = await ada.send("/signet/logout", { method: "POST", headers });
  assert.deepEqual([out.status, out.location], [303, `${APP}/`]);
  assert.deepEqual([...ada.cookies.keys()], []);
  const { target, body } = here.service.asked[1] ?? {};
  assert.deepEqual([target, body], ["/legacy/api/Authentication/User/Logout", '{"Key":"sgn_sk_ada"}']);
  assert.equal((await copy.go("/")).status, 302);
});

test("a pending revalidation doesn't restore a signed-out session", async () => {
  const here = legacyFixture();
  const ada = here.browser();
  await ada.signIn();
  here.now += 60_000;
  let arrived = () => {};
  const asked = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  let release = () => {};
  here.answer = () =>
    new Promise((resolve) => {
      release = () => resolve(jsonResponse(valid()));
      arrived();
    });
  const slow = ada.go("/");
  await asked;
  const headers = {
    "sec-fetch-site": "same-origin",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
  };
  await ada.send("/signet/logout", { method: "POST", headers });
  release();
  assert.equal((await slow).status, 302);
  assert.equal(ada.cookies.has("__Host-signet-session"), false);
});

test("when another user signs in, a pending revalidation doesn't restore the previous session", async () => {
  const here = legacyFixture();
  const ada = here.browser();
  await ada.signIn();
  const callback = await ada.begin("/signet/login", "sgn_sk_bob");
  here.now += 60_000;
  let arrived = () => {};
  const asked = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  let release = () => {};
  here.answer = () =>
    new Promise((resolve) => {
      release = () => resolve(jsonResponse(valid()));
      arrived();
    });
  const slow = ada.go("/");
  await asked;
  here.answer = () => jsonResponse(valid({ User: { ...user, PermId: BOB } }));
  await ada.go(callback);
  release();
  assert.equal((await slow).status, 302);
  assert.equal((await ada.go("/")).permId, BOB);
});

test("another site signs nobody out, and a link in an email asks first", async () => {
  const here = legacyFixture();
  const ada = here.browser();
  await ada.signIn();
  const from = (site: string, mode = "navigate") => ({
    "sec-fetch-site": site,
    "sec-fetch-mode": mode,
    "sec-fetch-dest": "document",
  });
  const tries = [
    await ada.send("/signet/logout", { method: "POST", headers: from("cross-site") }),
    await ada.send("/signet/logout", { method: "POST", headers: from("same-site") }),
    await ada.send("/signet/logout", { method: "POST", headers: { origin: "https://evil.example" } }),
    await ada.send("/signet/logout", { method: "POST" }),
    await ada.send("/signet/logout", { headers: from("cross-site", "no-cors") }),
    await ada.send("/signet/logout", { headers: from("same-origin", "no-cors") }),
    await ada.send("/signet/logout", {
      method: "POST",
      headers: { ...from("same-origin"), "sec-purpose": "prefetch" },
    }),
  ];
  assert.deepEqual(
    tries.map(({ status }) => status),
    tries.map(() => 403),
  );
  const asks = await ada.send("/signet/logout", { headers: from("none") });
  assert.deepEqual(
    [asks.status, /<form method="post" action="\/signet\/logout"/.test(asks.body)],
    [200, true],
  );
  assert.equal((await ada.go("/")).kind, "authenticated");
  assert.equal(here.service.asked.length, 1);
  const script = await ada.send("/signet/logout", { method: "POST", headers: from("same-origin", "cors") });
  assert.deepEqual([script.status, JSON.parse(script.body)], [200, { logout_url: `${APP}/` }]);
});

test("signing out works during an outage, which is reported", async () => {
  const here = legacyFixture();
  const ada = here.browser();
  await ada.signIn();
  const headers = { origin: APP, accept: "text/html" };
  const away = userFederated(
    {
      filterType: "UserFederated",
      federationServer: "https://id.example",
      applicationId: APP_ID,
      baseUrl: APP,
      cookieSecrets: ["AAMGCQwPEhUYGx4hJCcqLTAzNjk8P0JFSEtOUVRXWl0"],
    },
    {
      clock: () => NOW,
      fetch: async () => {
        throw new TypeError("fetch failed");
      },
      onError: (error) => void here.errors.push(error),
    },
  );
  const same = here.browser(away);
  for (const [name, value] of ada.cookies) same.cookies.set(name, value);
  assert.equal((await same.send("/signet/logout", { method: "POST", headers })).status, 303);
  assert.deepEqual([...same.cookies.keys()], []);
  assert.deepEqual(
    here.errors.map((error) => (error as SignetError).code),
    ["provider_unreachable"],
  );
});

test("a key signed out here is invalid, whatever the service says", async () => {
  const here = legacyFixture();
  const ada = here.browser();
  const link = await ada.begin();
  await ada.go(link);
  const cookies = new Map(ada.cookies);
  await ada.send("/signet/logout", { method: "POST", headers: { origin: APP, accept: "text/html" } });
  assert.equal((await ada.signIn()).status, 400, "the same key comes again");
  for (const [name, value] of cookies) ada.cookies.set(name, value);
  assert.equal((await ada.go(link)).status, 400, "back in the history");
});

test("signing out succeeds if the key has already ended", async () => {
  const here = legacyFixture();
  const ada = here.browser();
  await ada.signIn();
  here.onLogout = () => problemResponse(401, "not-authenticated");
  const headers = { origin: APP, accept: "text/html" };
  assert.equal((await ada.send("/signet/logout", { method: "POST", headers })).status, 303);
  assert.deepEqual([here.errors, [...ada.cookies.keys()]], [[], []]);
});
