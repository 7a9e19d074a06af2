// Whatever needs a place in the full password queue is refused with 503 and the time to wait, and is one line in the log that
// counts: not a stack, not two, not none.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type PasswordHasher, PasswordQueueFull } from "../core/passwords/password-hasher.ts";
import { inviteUser } from "../core/users/invitations/invitations.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { testBrowser } from "../testing/fakes/browser.ts";
import { MAIL_ENV, newestApiLink, newestLinkPage } from "../testing/fakes/mailbox.ts";
import { quickPasswords } from "../testing/fakes/quick-passwords.ts";
import {
  type AdministeredOrganisation,
  administeredOrganisation,
} from "../testing/fixtures/administered-organisation.ts";
import { callApi, makeSystemAccount } from "../testing/fixtures/system-account.ts";
import { follow, logIn, visit, withUser } from "../testing/fixtures/visit.ts";
import { consoleBrowser, formOfPage } from "../testing/probes/console-browser.ts";
import { PASSWORD, startTestService, type TestService } from "../testing/test-service.ts";

const NEXT = "another plum tractor";

/** What is sent while the queue is full. */
type Send = () => Promise<{ readonly status: number; readonly headers: Headers }>;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: AdministeredOrganisation;
  let isFull = false;
  let people = 0;
  before(async () => {
    const refuse = () => {
      if (isFull) throw new PasswordQueueFull();
    };
    const passwords: PasswordHasher = {
      ...quickPasswords,
      hash: async (...given) => {
        refuse();
        return quickPasswords.hash(...given);
      },
      verify: async (...given) => {
        refuse();
        return quickPasswords.verify(...given);
      },
    };
    running = await startTestService({ databaseUrl: await fresh(), passwords, env: MAIL_ENV });
    org = await administeredOrganisation(running.service, "Acme");
  });
  after(() => running.close());

  const somebody = () => withUser(running.service, org, `person${people++}@acme.example`);
  const console = () => consoleBrowser(running, org);

  async function invite(): Promise<string> {
    const email = `invited${people++}@acme.example`;
    const { service, baseUrl } = running;
    const person = { organisation: org.organisation, email, firstname: "Ivy", surname: "Invited" };
    await inviteUser({ ...service, baseUrl }, { ...person, role: "Standard", actor: "test" });
    return email;
  }

  /** Each opens the form while there is room, and says how it is sent. */
  const surfaces: Readonly<Record<string, () => Promise<Send>>> = {
    "the sign-in page": async () => {
      const browser = testBrowser();
      const { hidden } = await visit(browser, org);
      return () =>
        browser.post(`${org.issuer}/login`, { ...hidden, email: org.user.email, password: PASSWORD });
    },
    "the page that sets a new password": async () => {
      const browser = testBrowser();
      const { user } = await somebody();
      const { hidden } = await browser.get(`${org.issuer}/recovery`);
      await browser.post(`${org.issuer}/recovery`, { ...hidden, email: user.email });
      const link = await newestLinkPage(running.service, user.email);
      const form = await browser.get(link);
      return () => browser.post(link, { ...form.hidden, password: NEXT });
    },
    "the page of an invitation": async () => {
      const browser = testBrowser();
      const form = await browser.get(await newestLinkPage(running.service, await invite()));
      return () => browser.post(form.url, { ...form.hidden, password: NEXT });
    },
    "the account's password page": async () => {
      const browser = testBrowser();
      const own = await somebody();
      const url = `${org.issuer}/account/password`;
      const { hidden } = await logIn(browser, own, await follow(browser, await browser.get(url)));
      return () => browser.post(url, { ...hidden, present: PASSWORD, password: NEXT });
    },
    "the console's form for a new user": async () => {
      const admin = await console();
      const person = { email: `new${people++}@acme.example`, firstname: "Fay", surname: "New" };
      const form = formOfPage(await admin.get("/users/new"), { ...person, how: "password" });
      return () => admin.post("/users/new", form);
    },
    "the console's new password for a user": async () => {
      const admin = await console();
      const path = `/users/${(await somebody()).user.id}/new-password`;
      const form = formOfPage(await admin.get(path));
      return () => admin.post(path, form);
    },
    "the legacy API's sign-in": async () => {
      const account = await makeSystemAccount(running.service, org);
      const body = { Email: org.user.email, Password: PASSWORD };
      return () => callApi(`${running.baseUrl}/legacy/api/Authentication/User/Login`, account, { body });
    },
    "the legacy API's completion of an invitation": async () => {
      const link = await newestApiLink(running.service, await invite());
      return () => callApi(link, undefined, { body: { NewPassword: NEXT } });
    },
  };

  for (const [name, open] of Object.entries(surfaces))
    test(`${name}: 503, and one counted line`, async () => {
      const send = await open();
      running.busy.length = 0;
      running.errors.length = 0;
      isFull = true;
      const answer = await send().finally(() => {
        isFull = false;
      });
      assert.deepEqual([answer.status, answer.headers.get("retry-after")], [503, "2"]);
      assert.deepEqual(
        running.busy.map((error) => error instanceof PasswordQueueFull),
        [true],
      );
      assert.equal(running.errors.length, 1);
    });
});
