// How long a session goes on: as long as the service says so, and not for longer than it was asked.
import assert from "node:assert/strict";
import { test } from "node:test";
import { legacyFixture, NOW, user, valid } from "../testing/legacy-fixture.ts";
import { jsonResponse, problemResponse } from "../testing/stub-service.ts";

test("the key is validated again when due, once for concurrent requests", async () => {
  const here = legacyFixture();
  const ada = here.browser();
  await ada.signIn();
  here.now += 59_000;
  assert.equal((await ada.go("/")).kind, "authenticated");
  assert.equal(here.validations(), 1);
  here.now += 1_000;
  here.answer = () => jsonResponse(valid({ User: { ...user, Role: "Administrator" } }));
  const together = await Promise.all([ada.go("/"), ada.go("/a"), ada.go("/b")]);
  assert.deepEqual(
    together.map(({ kind, set }) => [kind, set.length]),
    together.map(() => ["authenticated", 1]),
  );
  assert.equal(here.validations(), 2);
  here.now += 30_000;
  assert.equal((await ada.go("/")).set.length, 0, "the new time is in the cookie");
  assert.equal(here.validations(), 2);
});

test("a cookie from the future is revalidated", async () => {
  const here = legacyFixture();
  const ada = here.browser();
  await ada.signIn();
  here.now -= 10_000;
  await ada.go("/");
  assert.equal(here.validations(), 2);
});

test("zero seconds revalidates every time", async () => {
  const here = legacyFixture({ revalidateAfterSeconds: 0 });
  const ada = here.browser();
  await ada.signIn();
  await ada.go("/");
  await ada.go("/");
  assert.equal(here.validations(), 3);
  here.answer = () => new TypeError("fetch failed");
  assert.equal((await ada.go("/")).status, 503, "there is no time for which the old answer would do");
});

test("a key that ended elsewhere ends the session", async () => {
  const here = legacyFixture();
  const ada = here.browser();
  await ada.signIn();
  here.now += 60_000;
  here.answer = () => problemResponse(401, "not-authenticated");
  const sent = await ada.go("/orders");
  assert.deepEqual([sent.status, new URL(sent.location ?? "").pathname], [302, "/federation/Login"]);
  assert.equal(ada.cookies.has("__Host-signet-session"), false);
});

test("a session ends when its key expires, without revalidation", async () => {
  const here = legacyFixture({ revalidateAfterSeconds: 86_400 });
  const ada = here.browser();
  await ada.signIn();
  here.now += 12 * 3_600_000;
  assert.equal((await ada.go("/")).status, 302);
  assert.equal(here.validations(), 1);
});

test("during an outage sessions continue for one more interval, then wait for the service", async () => {
  const here = legacyFixture();
  const ada = here.browser();
  await ada.signIn();
  for (const away of [
    () => new TypeError("fetch failed"),
    () => problemResponse(503, "busy", {}, { "retry-after": "60" }),
  ]) {
    here.now = NOW + 119_000;
    here.answer = away;
    const page = await ada.go("/");
    assert.deepEqual([page.kind, page.set.length], ["authenticated", 0]);
    here.now = NOW + 120_000;
    const late = await ada.go("/orders");
    assert.deepEqual([late.status, late.headers?.get("retry-after"), late.set.length], [503, "5", 0]);
    assert.equal((await ada.send("/api")).status, 503);
  }
  here.answer = () => jsonResponse(valid());
  assert.equal((await ada.go("/orders")).kind, "authenticated");
});

test("a session of another application or service is ignored", async () => {
  const here = legacyFixture();
  const ada = here.browser();
  await ada.signIn();
  for (const other of [
    { applicationId: "0198c7a3-0000-7222-8333-444455556660" },
    { federationServer: "https://other.example" },
  ]) {
    const browser = here.browser(legacyFixture(other).filter);
    for (const [name, value] of ada.cookies) browser.cookies.set(name, value);
    assert.equal((await browser.go("/")).status, 302);
  }
});
