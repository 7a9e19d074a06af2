import assert from "node:assert/strict";
import { test } from "node:test";
import { COOKIE_SECRET, federatedFixture, principalIn } from "../testing/federated-fixture.ts";
import { createLoginAttempts } from "./login-attempts.ts";

test("tabs sign in at the same time, in any order, and each returns to its own page", async () => {
  const browser = (await federatedFixture()).browser();
  const sent: (URL | undefined)[] = [];
  for (const path of ["/a", "/b", "/c"]) sent.push((await browser.go(path)).location);
  assert.equal(browser.cookies.size, 3);
  for (const [index, path] of [
    [1, "/b"],
    [2, "/c"],
    [0, "/a"],
  ] as const) {
    const back = await browser.go(browser.answerTo(new URL(sent[index] ?? "")));
    assert.equal(back.location?.pathname, path);
  }
  principalIn(await browser.go("/a"));
});

test("at most five are kept, and the oldest goes first", async () => {
  const fixture = await federatedFixture();
  const browser = fixture.browser();
  const sent: (URL | undefined)[] = [];
  for (let tab = 0; tab < 7; tab++) {
    sent.push((await browser.go(`/${tab}`)).location);
    fixture.provider.advance(1);
    assert.ok(browser.cookies.size <= 5);
  }
  const state = (tab: number) => sent[tab]?.searchParams.get("state")?.slice(0, 23);
  const kept = [...browser.cookies.keys()].map((name) => name.slice("__Host-signet-login-".length));
  assert.deepEqual(kept, [2, 3, 4, 5, 6].map(state));
  const back = await browser.go(browser.answerTo(new URL(sent[2] ?? "")));
  assert.equal(back.location?.pathname, "/2");
});

test("a browser with many attempt cookies is left with five", async () => {
  const fixture = await federatedFixture();
  const browser = fixture.browser();
  const id = (number: number) => `0${1_600_000_000 + number}-AAAAAAAAAAA`;
  for (let number = 0; number < 12; number++) browser.cookies.set(`__Host-signet-login-${id(number)}`, "1~x");
  await browser.go("/");
  assert.equal(browser.cookies.size, 5);
});

test("links of other sites can't fill the cookies until servers reject the browser", async () => {
  const fixture = await federatedFixture();
  const lengthOf = (cookies: ReadonlyMap<string, string>) =>
    [...cookies].map((pair) => pair.join("=")).join("; ").length;
  const longest = encodeURIComponent(`/${"a".repeat(1_499)}`);
  for (const path of [longest, encodeURIComponent(`/${"€".repeat(1_000)}`), "%2F"]) {
    const browser = fixture.browser();
    for (let link = 0; link < 6; link++) {
      fixture.provider.advance(1);
      const { location } = await browser.go(`/signet/login?return_to=${path}`);
      assert.ok(lengthOf(browser.cookies) < 5_500, String(lengthOf(browser.cookies)));
      assert.ok([...browser.cookies.keys()].some((name) => location?.href.includes(name.slice(-23))));
    }
  }
  fixture.tokenChanges = { access_token: "x".repeat(7_000) };
  const browser = fixture.browser();
  await browser.signIn();
  const session = lengthOf(browser.cookies);
  assert.ok(session > 10_000);
  for (const path of [longest, ...Array.from({ length: 5 }, () => `/${"a".repeat(400)}`)]) {
    await browser.go(`/signet/login?return_to=${path}`);
    fixture.provider.advance(1);
  }
  assert.ok(lengthOf(browser.cookies) < 14_000, String(lengthOf(browser.cookies)));
});

test("an attempt belongs to its provider and client", async () => {
  const options = { name: "a", secrets: [COOKIE_SECRET], isSecure: true, clock: () => 1_000_000 };
  const ours = createLoginAttempts({ ...options, party: "https://id.example client" });
  const theirs = createLoginAttempts({ ...options, party: "https://evil.example client" });
  const request = new Request("https://app.example/");
  const { attempt, cookies } = await ours.create(request, "https://app.example/");
  const [cookie = ""] = (cookies[0] ?? "").split(";");
  const answer = new Request("https://app.example/signet/callback", { headers: { cookie } });
  assert.deepEqual((await ours.find(answer, attempt.state))?.verifier, attempt.verifier);
  assert.equal(await theirs.find(answer, attempt.state), undefined);
});
