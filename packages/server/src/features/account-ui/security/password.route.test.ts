// Changing the password under contention: a full hashing queue, and a concurrent change.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type PasswordHasher, PasswordQueueFull } from "../../../core/passwords/password-hasher.ts";
import { findUserByEmail } from "../../../core/users/users.store.ts";
import { setPassword } from "../../../core/users/users.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { follow, logIn, sessionCookie } from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const NEXT = "another plum tractor";
const OTHERS = "what an operator has set";

let running: TestService;
let org: TestOrganisation;
/** Runs instead of hashing the new password. */
let work: () => Promise<void> = async () => {};
const hasher: PasswordHasher = {
  ...quickPasswords,
  hash: async (password) => {
    if (password === NEXT) await work();
    return quickPasswords.hash(password);
  },
};
before(async () => {
  running = await startTestService({
    databaseUrl: "sqlite::memory:",
    passwords: hasher,
    // The test changes the database during a request.
    isMeddling: true,
  });
  org = await makeOrganisation(running.service);
});
after(async () => {
  await running.close();
  assert.deepEqual(running.errors, []);
});

const kept = async () => {
  const { query } = running.service.database;
  return (await findUserByEmail(query, org.organisation.id, org.user.email))?.passwordHash;
};

async function change() {
  const browser = testBrowser();
  const url = `${org.issuer}/account/password`;
  const page = await logIn(browser, org, await follow(browser, await browser.get(url)));
  return browser.post(url, { ...page.hidden, present: PASSWORD, password: NEXT });
}

test("a session from before the password change has ended, whatever its acr", async () => {
  const browser = testBrowser();
  const url = `${org.issuer}/account/password`;
  const page = await logIn(browser, org, await follow(browser, await browser.get(url)));
  const [, stolen = ""] = sessionCookie(browser, org) ?? [];
  await browser.post(url, { ...page.hidden, present: PASSWORD, password: OTHERS });
  const [name = "", current = ""] = sessionCookie(browser, org) ?? [];
  assert.notEqual(current, stolen);
  const thief = await fetch(`${org.issuer}/account/profile`, { headers: { cookie: `${name}=${stolen}` } });
  assert.doesNotMatch(await thief.text(), /id="perm-id"/);
  const { organisation, user } = org;
  const about: string[] = [];
  await setPassword(running.service, {
    organisation,
    id: user.id,
    password: PASSWORD,
    about,
    actor: "operator",
  });
});

test("a full hashing queue returns 503 with Retry-After and the form", async () => {
  work = async () => {
    throw new PasswordQueueFull();
  };
  const before = await kept();
  const busy = await change();
  assert.deepEqual([busy.status, busy.headers.get("retry-after")], [503, "2"]);
  assert.match(busy.body, /id="present"/);
  assert.ok(!busy.body.includes(NEXT));
  assert.equal(await kept(), before);
});

test("a concurrent password change wins, and the current password is requested again", async () => {
  work = async () => {
    const { organisation } = org;
    const others = { organisation, id: org.user.id, password: OTHERS, about: [], actor: "operator" };
    await setPassword(running.service, others);
  };
  const late = await change();
  assert.equal(late.status, 400);
  assert.match(late.body, /id="present-fault"/);
  assert.equal(await kept(), await quickPasswords.hash(OTHERS));
});
