import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import {
  createPasswordHasher,
  type PasswordHasher,
  PasswordQueueFull,
} from "../../../../core/passwords/password-hasher.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { credentials, postForm } from "../../../../testing/fixtures/client.ts";
import { showsConsent, showsLogin, visit, withUser } from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const MINUTE = 60_000;

/** Answers at once, so that hundreds of attempts cost nothing; counts them; can be full. */
function quickHasher() {
  const state = { looked: 0, full: false, weak: false };
  const hasher: PasswordHasher = {
    hash: async () => {
      if (state.weak) throw new PasswordQueueFull();
      return "hash";
    },
    verify: async (stored, password) => {
      if (state.full) throw new PasswordQueueFull();
      state.looked++;
      return stored !== undefined && password === PASSWORD;
    },
    needsRehash: () => state.weak,
  };
  return { hasher, state };
}

forEachDatabase(({ fresh, name }) => {
  let databaseUrl: string;
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let address = 0;
  const { hasher, state } = quickHasher();
  before(async () => {
    clock = fakeClock();
    databaseUrl = await fresh();
    const env = { TRUSTED_PROXIES: "127.0.0.1" };
    running = await startTestService({ databaseUrl, clock, passwords: hasher, env });
    org = await makeOrganisation(running.service);
  });
  after(() => running.close());
  beforeEach(() => {
    state.looked = 0;
    address++;
  });

  interface Attempt {
    readonly email?: string;
    readonly password?: string;
    readonly from?: string;
    readonly at?: TestService;
    /** Instead of a new browser: one that has the page, of which many attempts are spared three requests each. */
    readonly opened?: Opened;
  }
  interface Opened {
    readonly browser: TestBrowser;
    readonly page: TestPage;
  }
  async function open(at: TestService = running): Promise<Opened> {
    const browser = testBrowser();
    const issuer = `${at.baseUrl}/oauth/${org.organisation.id}`;
    return { browser, page: await visit(browser, { ...org, issuer }) };
  }
  /** One attempt from a new browser at an address that is this test's own. */
  async function attempt({ email, password, from, at = running, opened }: Attempt = {}): Promise<TestPage> {
    const { browser, page } = opened ?? (await open(at));
    const issuer = `${at.baseUrl}/oauth/${org.organisation.id}`;
    const typed = { email: email ?? org.user.email, password: password ?? "wrong" };
    const headers = { "x-forwarded-for": from ?? `198.51.100.${address}` };
    const answer = await browser.post(`${issuer}/login`, { ...page.hidden, ...typed }, headers);
    return answer.location ? browser.get((await browser.get(answer.location)).location ?? "") : answer;
  }
  async function fail(times: number, attempted: Attempt = {}): Promise<void> {
    for (let at = 0; at < times; at++)
      assert.equal((await attempt(attempted)).status, 401, `failure ${at + 1}`);
  }
  const right = { password: PASSWORD };

  test("after ten failures the account is locked, also for the correct password", async () => {
    await fail(10);
    const closed = await attempt(right);
    assert.equal(closed.status, 429);
    assert.ok(showsLogin(closed));
    assert.match(closed.body, /Too many attempts\. Try again in 15 minutes/);
    assert.ok(closed.body.includes(`value="${org.user.email}"`));
    assert.equal(closed.headers.get("retry-after"), "900");
    assert.equal(closed.headers.get("ratelimit-policy"), '"password-account";q=10;w=900');
    assert.equal(closed.headers.get("ratelimit"), '"password-account";r=0;t=900');
    assert.equal(state.looked, 10, "it was not looked at");
    const written = await attempt({ ...right, email: "USER@acme.example " });
    assert.equal(written.status, 429, "written in another way");
  });

  test("the limit is for one account: other users still sign in", async () => {
    await fail(10);
    assert.equal((await attempt(right)).status, 429);
    assert.ok(showsConsent(await attempt({ ...right, from: "203.0.113.9" })));
    const { user } = await withUser(running.service, org, "other@acme.example");
    assert.ok(showsConsent(await attempt({ ...right, email: user.email })));
  });

  test("the window starts with the first failure and ends by the clock", async () => {
    await fail(1);
    clock.advance(10 * MINUTE);
    await fail(9);
    const closed = await attempt(right);
    assert.equal(closed.headers.get("retry-after"), "300");
    clock.advance(5 * MINUTE - 1);
    assert.equal((await attempt(right)).headers.get("retry-after"), "1");
    clock.advance(1);
    assert.ok(showsConsent(await attempt(right)));
    await fail(10);
    assert.equal((await attempt(right)).status, 429);
  });

  test("successful sign-ins don't count, and forget the failures of this account from this network", async () => {
    for (let at = 0; at < 15; at++) assert.ok(showsConsent(await attempt(right)));
    await fail(9);
    assert.ok(showsConsent(await attempt(right)));
    await fail(10);
    assert.equal((await attempt(right)).status, 429);
  });

  test("a success forgets no failure of another account, nor of the network", async () => {
    const { user } = await withUser(running.service, org, `own${address}@acme.example`);
    await fail(10);
    for (let at = 0; at < 3; at++) assert.ok(showsConsent(await attempt({ ...right, email: user.email })));
    assert.equal((await attempt(right)).status, 429);
    const opened = await open();
    for (let at = 10; at < 100; at++) await fail(1, { email: `guess-${at}@acme.example`, opened });
    assert.equal((await attempt({ ...right, email: user.email })).status, 429);
    clock.advance(60 * MINUTE);
  });

  test("60 correct passwords at once all sign in, count nothing and lock nobody of the network out", async () => {
    const { user } = await withUser(running.service, org, `other${address}@acme.example`);
    for (const count of [24, 60]) {
      const pages = await Promise.all(Array.from({ length: count }, () => attempt(right)));
      assert.ok(pages.every(showsConsent), `${count}`);
    }
    assert.ok(showsConsent(await attempt({ ...right, email: user.email })));
    await fail(9);
    assert.ok(showsConsent(await attempt(right)));
  });

  test("refused attempts don't count: an account that is locked locks no other of its network", async () => {
    await fail(10);
    const opened = await open();
    for (let at = 0; at < 120; at++) assert.equal((await attempt({ opened })).status, 429);
    const { user } = await withUser(running.service, org, `third${address}@acme.example`);
    assert.ok(showsConsent(await attempt({ ...right, email: user.email })));
  });

  test("concurrent guesses all count: ten at most are checked", async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => attempt()));
    assert.equal(state.looked, 10);
    assert.equal(answers.filter(({ status }) => status === 429).length, 50);
  });

  test("a hundred failures block an address for every account, known or not, for an hour", async () => {
    const opened = await open();
    const guesses = Array.from({ length: 100 }, (_, at) =>
      attempt({ email: `guess-${at}@acme.example`, opened }),
    );
    assert.ok((await Promise.all(guesses)).every(({ status }) => status === 401));
    const closed = await attempt(right);
    assert.equal(closed.status, 429);
    assert.equal(closed.headers.get("ratelimit-policy"), '"password-address";q=100;w=3600');
    assert.equal(closed.headers.get("retry-after"), "3600");
    assert.equal((await attempt({ email: "new@acme.example" })).status, 429);
    assert.equal(state.looked, 100);
    clock.advance(60 * MINUTE);
    assert.ok(showsConsent(await attempt(right)));
  });

  test("an IPv6 /64 counts as one address, and an IPv4-mapped address as its IPv4 address", async () => {
    for (let at = 1; at <= 10; at++) await fail(1, { from: `2001:db8:0:${address}::${at.toString(16)}` });
    assert.equal((await attempt({ from: `2001:db8:0:${address}:ffff:ffff:ffff:ffff` })).status, 429);
    assert.equal((await attempt({ from: `2001:db8:1:${address}::1` })).status, 401);
    await fail(10, { from: `::ffff:192.0.2.${address}` });
    assert.equal((await attempt({ from: `192.0.2.${address}` })).status, 429);
    assert.equal((await attempt({ from: `::ffff:192.0.2.${address + 1}` })).status, 401);
  });

  test("of X-Forwarded-For the address that the trusted proxy saw counts", async () => {
    for (let at = 0; at < 10; at++) await fail(1, { from: `203.0.113.${at}, 198.51.100.${address}` });
    assert.equal((await attempt({ ...right, from: `203.0.113.99, 198.51.100.${address}` })).status, 429);
    for (const from of [
      "unknown",
      "",
      "198.51.100.300",
      ",,,",
      "x".repeat(1_000),
      `203.0.113.${address}:50123`,
    ])
      assert.equal((await attempt({ from, email: "nobody@acme.example" })).status, 401, from);
    assert.deepEqual(running.errors, []);
  });

  test("two nodes share one count", async () => {
    const env = { TRUSTED_PROXIES: "127.0.0.1" };
    const second = await startTestService({
      databaseUrl,
      clock,
      passwords: hasher,
      env,
      baseUrl: running.baseUrl,
    });
    try {
      await fail(5);
      await fail(5, { at: second });
      assert.equal((await attempt(right)).status, 429);
      assert.equal((await attempt({ ...right, at: second })).status, 429);
    } finally {
      await second.close();
    }
  });

  // On SQLite there is one process.
  if (name === "postgres")
    test("two nodes look at no more concurrent guesses than one, and at every correct password", async () => {
      const env = { TRUSTED_PROXIES: "127.0.0.1" };
      const second = await startTestService({
        ...{ databaseUrl, clock, passwords: hasher, env },
        baseUrl: running.baseUrl,
      });
      try {
        const at = (index: number) => (index % 2 ? second : running);
        const correct = Array.from({ length: 24 }, (_, index) => attempt({ ...right, at: at(index) }));
        assert.ok((await Promise.all(correct)).every(showsConsent));
        state.looked = 0;
        const wrong = await Promise.all(Array.from({ length: 60 }, (_, index) => attempt({ at: at(index) })));
        assert.equal(state.looked, 10);
        assert.equal(wrong.filter(({ status }) => status === 429).length, 50);
      } finally {
        await second.close();
      }
    });

  test("X-Forwarded-For is ignored without a trusted proxy", async () => {
    const direct = await startTestService({
      databaseUrl,
      clock,
      passwords: hasher,
      baseUrl: running.baseUrl,
    });
    try {
      for (let at = 0; at < 10; at++) await fail(1, { at: direct, from: `203.0.113.${at}` });
      assert.equal((await attempt({ ...right, at: direct, from: "203.0.113.99" })).status, 429);
    } finally {
      await direct.close();
    }
  });

  test("a full password queue answers with Retry-After and counts no attempt, while the token endpoint works", async () => {
    state.full = true;
    for (let at = 0; at < 12; at++) {
      const busy = await attempt();
      assert.equal(busy.status, 503);
      assert.ok(showsLogin(busy));
      assert.equal(busy.headers.get("retry-after"), "2");
      assert.match(busy.body, /Many users are signing in right now/);
      assert.ok(busy.body.includes(`value="${org.user.email}"`));
    }
    const form = { grant_type: "client_credentials", ...credentials(org.batch) };
    assert.equal((await postForm(`${org.issuer}/token`, form)).status, 200);
    state.full = false;
    assert.ok(showsConsent(await attempt(right)));
  });

  test("a correct password signs in even if a full queue prevents the rehash", async () => {
    state.weak = true;
    assert.ok(showsConsent(await attempt(right)));
    state.weak = false;
  });

  test("many concurrent sign-ins fill the queue, and each response is a sign-in or 503", async () => {
    const passwords = createPasswordHasher({ concurrency: 1, maxWaiting: 3 });
    const env = { SIGNET_RATE_LIMITS: "password-account=1000/60" };
    const busy = await startTestService({ databaseUrl: await fresh(), passwords, env });
    try {
      const its = await makeOrganisation(busy.service);
      const pages = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const browser = testBrowser();
          return { browser, page: await visit(browser, its) };
        }),
      );
      const { email, password } = its.user;
      const answers = Promise.all(
        pages.map(({ browser, page }) =>
          browser.post(`${its.issuer}/login`, { ...page.hidden, email, password }),
        ),
      );
      const form = { grant_type: "client_credentials", ...credentials(its.batch) };
      assert.equal((await postForm(`${its.issuer}/token`, form)).status, 200);
      const statuses = (await answers).map(({ status }) => status);
      assert.deepEqual([...new Set(statuses)].sort(), [303, 503]);
      assert.ok(statuses.filter((status) => status === 303).length >= 4, `${statuses}`);
    } finally {
      await busy.close();
    }
  });
});
