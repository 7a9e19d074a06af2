// Whatever a browser is made to send: no 5xx, and never a redirect to an address that is not registered.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { testBrowser } from "../../../../testing/fakes/browser.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import {
  requestQuery,
  sessionCookie,
  signInAndConsent,
  tokensOf,
  visit,
} from "../../../../testing/fixtures/visit.ts";
import { anyCharacter } from "../../../../testing/probes/any-character.ts";
import {
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const BYE = "https://app.example/bye";
/** What a database could trip over, a NUL or half of a character, comes early. SIGNET_TEST_WHOLE=1 goes on for longer. */
const RUNS =
  process.env["SIGNET_TEST_WHOLE"] === "1" ? { sqlite: 300, postgres: 300 } : { sqlite: 100, postgres: 50 };
/** Stands for the token that fits the cookie when the request goes out. */
const CSRF_NOW = "CSRF-NOW";

type Pairs = ReadonlyArray<readonly [name: string, value: string]>;

const hostile = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "none",
    "none login",
    "null",
    "undefined",
    "__proto__",
    "-1",
    "1e9",
    "https://evil.example/",
    "//evil.example",
    "javascript:alert(1)",
    "https://app.example@evil.example/callback",
    "query",
    "fragment",
    "form_post",
    "S256",
    "plain",
    "\u202e",
    "\u0001",
    "a".repeat(5_000),
    "🦊".repeat(200),
  ),
  fc.string({ unit: anyCharacter, maxLength: 40 }),
  fc.string({ unit: "grapheme", maxLength: 40 }),
);
/** What no encoder writes. */
const raw = fc.string({
  unit: fc.constantFrom("%", "&", "=", "+", ";", "#", "0", "f", "F", "a", "\u00ff", '"', "<"),
  maxLength: 30,
});

const encode = (text: string) => encodeURIComponent(text.toWellFormed());

forEachDatabase(({ name, fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  /** Good values of every parameter that any of the routes reads. */
  let good: Pairs;
  /** The session as it is now: requests that get through sign in anew, or sign out. */
  let cookie: string;
  let csrf: string;
  let seed = 1;
  before(async () => {
    const env = { SIGNET_RATE_LIMITS: "password-account=100000/60,password-address=100000/60" };
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords, env });
    org = await makeOrganisation(running.service);
    const browser = testBrowser();
    await signInAndConsent(browser, org);
    const { idToken } = await tokensOf(browser, org);
    const { hidden } = await visit(browser, org, { more: { prompt: "consent" } });
    good = [
      ...new URLSearchParams(requestQuery(org)),
      ["nonce", "n"],
      ["prompt", "consent"],
      ["max_age", "100"],
      ["login_hint", org.user.email],
      ["id_token_hint", idToken],
      ["ui_locales", "en da"],
      ["response_mode", "form_post"],
      ["flow", hidden["flow"] ?? ""],
      ["csrf", CSRF_NOW],
      ["decision", "allow"],
      ["account", "other"],
      ["email", org.user.email],
      ["password", org.user.password],
      ["post_logout_redirect_uri", BYE],
    ];
  });
  after(() => running.close());

  async function enter(): Promise<void> {
    const browser = testBrowser();
    await signInAndConsent(browser, org);
    cookie = (sessionCookie(browser, org) ?? []).join("=");
    csrf = (await visit(browser, org, { more: { prompt: "consent" } })).hidden["csrf"] ?? "";
  }

  /** Most of what is needed, some of it changed, repeated or in pieces. */
  const message = () =>
    fc
      .tuple(
        fc.subarray([...good], { minLength: Math.floor(good.length / 3) }),
        fc.array(fc.tuple(fc.oneof(fc.constantFrom(...good.map(([name]) => name)), hostile), hostile), {
          maxLength: 3,
        }),
        fc.option(raw, { freq: 4, nil: "" }),
      )
      .map(([kept, changed, tail]) => {
        const names = new Set(changed.map(([name]) => name));
        // In half of the cases a changed value stands beside the good one, as a repeated parameter.
        const pairs = [...kept.filter(([name]) => !names.has(name) || name.length % 2 === 0), ...changed];
        const text = pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&");
        return tail === "" ? text : `${text}&${tail}`;
      });

  function assertSound(what: string, status: number, location: string | undefined, body: string) {
    assert.ok(status < 500, `${what}: ${status}`);
    if (location !== undefined) {
      const own = location.startsWith(`/oauth/${org.organisation.id}/`);
      const registered = [REDIRECT_URI, BYE].some(
        (uri) => location === uri || /^[?#&]/.test(location.replace(uri, "")),
      );
      assert.ok(own || registered, `${what} leads to ${location}`);
    }
    const [, action = REDIRECT_URI] = /<form[^>]* action="(https?:[^"]*)"/.exec(body) ?? [];
    assert.equal(action, REDIRECT_URI, what);
    assert.doesNotMatch(body, /<script>|stack|node_modules|\bat .*\.ts:/, what);
  }

  for (const [method, endpoint] of [
    ["GET", "authorize"],
    ["POST", "authorize"],
    ["POST", "login"],
    ["GET", "consent"],
    ["GET", "end_session"],
    ["POST", "end_session"],
  ] as const) {
    test(`${method} ${endpoint}`, async () => {
      await enter();
      const path = `/oauth/${org.organisation.id}/${endpoint}`;
      const seen = new Set<number>();
      const property = fc.asyncProperty(message(), fc.boolean(), async (made, withCookie) => {
        const text = made.replaceAll(CSRF_NOW, csrf);
        const headers = withCookie ? { cookie } : {};
        const form = { ...headers, "content-type": "application/x-www-form-urlencoded" };
        const answer = await running.app.inject(
          method === "GET"
            ? { method, url: `${path}?${text}`, headers }
            : { method, url: path, payload: text, headers: form },
        );
        seen.add(answer.statusCode);
        assertSound(text, answer.statusCode, answer.headers.location?.toString(), answer.body);
        if (withCookie && answer.headers["set-cookie"] !== undefined) await enter();
      });
      await fc.assert(property, { numRuns: RUNS[name], seed: seed++ });
      assert.ok(seen.size >= 2, `it got behind the first check: ${[...seen]}`);
      assert.deepEqual(running.errors, []);
    });
  }

  test("any cookie value is handled", async () => {
    const path = `/oauth/${org.organisation.id}/authorize?${requestQuery(org, { more: { prompt: "none" } })}`;
    const property = fc.asyncProperty(fc.oneof(raw, fc.string({ maxLength: 60 })), async (text) => {
      const value = `signet-${org.organisation.id}=${text.replace(/[^\x20-\x7e]/g, "")}`;
      const answer = await running.app.inject({ url: path, headers: { cookie: value } });
      assert.match(String(answer.headers.location), /error=login_required/);
    });
    await fc.assert(property, { numRuns: RUNS[name], seed: seed++ });
    assert.deepEqual(running.errors, []);
  });
});
