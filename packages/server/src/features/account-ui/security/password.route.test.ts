// Changing the password: what is refused and why, and changes under contention.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type PasswordHasher, PasswordQueueFull } from "../../../core/passwords/password-hasher.ts";
import { PASSWORD_MAX_LENGTH } from "../../../core/passwords/password-policy.ts";
import { findUserByEmail } from "../../../core/users/users.store.ts";
import { setPassword } from "../../../core/users/users.ts";
import { html, render } from "../../../html/html.ts";
import { messages } from "../../../html/messages/messages.ts";
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
    return quickPasswords.hash(password, "");
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

/** The form of a user who has just signed in. */
async function openForm(who = org) {
  const browser = testBrowser();
  const url = `${who.issuer}/account/password`;
  const { hidden } = await logIn(browser, who, await follow(browser, await browser.get(url)));
  return (present: string, password: string) => browser.post(url, { ...hidden, present, password });
}

const change = async () => (await openForm())(PASSWORD, NEXT);

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

test("each refused password is explained beside its field, and nothing that was typed comes back", async () => {
  const send = await openForm();
  const { console, recovery } = messages(["en"]);
  const { refused } = recovery;
  const cases: ReadonlyArray<readonly [password: string, fault: string, field?: string, present?: string]> = [
    ["plum", refused["too-short"]({ min: org.organisation.settings.passwordMinLength })],
    ["plum tractor ".repeat(20), refused["too-long"]({ max: PASSWORD_MAX_LENGTH })],
    ["abcabcabcabcabc", refused["repeats-pattern"]],
    ["abcdefghijklmnop", refused["is-sequence"]],
    ["basketball1!", refused["is-common"]],
    [`${org.user.email}1`, refused["is-about-user"]],
    [PASSWORD, console.account.password.same],
    [NEXT, console.account.password.wrong, "present", OTHERS],
  ];
  for (const [password, fault, field = "password", present = PASSWORD] of cases) {
    const page = await send(present, password);
    assert.equal(page.status, 400, password);
    assert.ok(
      page.body.includes(`id="${field}-fault">${render(html`${fault}`)}`),
      `${password}: ${page.body}`,
    );
    for (const typed of [password, present]) assert.ok(!page.body.includes(`value="${typed}"`), typed);
  }
});

test("too many wrong passwords return 429 with Retry-After and the time to wait", async () => {
  const other = await makeOrganisation(running.service);
  const send = await openForm(other);
  const { console, recovery } = messages(["en"]);
  let page = await send(OTHERS, NEXT);
  for (let sent = 1; page.status === 400 && sent < 20; sent += 1) page = await send(OTHERS, NEXT);
  assert.equal(page.status, 429);
  const seconds = Number(page.headers.get("retry-after"));
  assert.ok(seconds > 0 && page.headers.get("ratelimit") !== null);
  assert.ok(page.body.includes(recovery.notChanged));
  assert.ok(page.body.includes(String(render(html`${console.account.password.limited({ seconds })}`))));
  assert.ok(!page.body.includes(OTHERS) && !page.body.includes(NEXT));
});

test("a full hashing queue returns 503 with Retry-After and the form", async () => {
  work = async () => {
    throw new PasswordQueueFull();
  };
  const before = await kept();
  const busy = await change();
  assert.deepEqual([busy.status, busy.headers.get("retry-after")], [503, "2"]);
  assert.equal(running.errors.splice(0).length, 1);
  assert.match(busy.body, /id="present"/);
  const reason = messages(["en"]).console.account.password.busy({ seconds: 2 });
  assert.ok(busy.body.includes(render(html`${reason}`)));
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
  assert.equal(await kept(), await quickPasswords.hash(OTHERS, ""));
});
