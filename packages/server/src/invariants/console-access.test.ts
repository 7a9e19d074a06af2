// Every route of the console, as it is registered, for everybody who must not come in, and with what is another
// organisation's. A new route is tried without being named here; one with a new kind of record fails until it is planted.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { CONSOLE } from "../page-kit/page.ts";
import { demands } from "../page-kit/recent-sign-in.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../testing/fakes/fake-clock.ts";
import { MAIL_ENV } from "../testing/fakes/mailbox.ts";
import { type SeededRecords, seedRecords } from "../testing/fixtures/planted-records.ts";
import { follow, logIn, sessionCookie, showsLogin } from "../testing/fixtures/visit.ts";
import { listRoutes } from "../testing/list-routes.ts";
import { dumpWholeDatabase } from "../testing/probes/dump-database.ts";
import { formsOn } from "../testing/probes/page-forms.ts";
import { recordAddress } from "../testing/probes/record-address.ts";
import { startTestService, type TestService } from "../testing/test-service.ts";

const DEVICES = "/devices/manage/:org";
const isPage = ({ path }: { path: string }) => path.startsWith(CONSOLE) || path.startsWith(DEVICES);
const routes = (await listRoutes()).filter(isPage);
// An algorithm, a template of a mail and a check are no records: every organisation has the same.
const withRecord = routes.filter(({ path }) => /:(?!org\b|alg\b|template\b|name\b)/.test(path));
const SECONDS_OF_FRESHNESS = 600;

describe("access to the console", () => {
  forEachDatabase(({ fresh }) => {
    let running: TestService;
    let clock: FakeClock;
    let a: SeededRecords;
    let b: SeededRecords;
    before(async () => {
      clock = fakeClock();
      running = await startTestService({ databaseUrl: await fresh(), clock, env: MAIL_ENV });
      a = await seedRecords(running.service, "Acme");
      b = await seedRecords(running.service, "Beta");
    });
    after(async () => {
      await running.close();
      assert.deepEqual(running.errors, []);
    });

    /** @param records whose identifiers stand in the address */
    function addressOf(path: string, { organisation }: SeededRecords, records: SeededRecords): string {
      const address = recordAddress(path, organisation.id, records.ids);
      assert.ok(address, `plant something for ${path}`);
      return running.baseUrl + address;
    }

    async function signedIn(org: SeededRecords, user: SeededRecords["user"]): Promise<TestBrowser> {
      const browser = testBrowser();
      const console = `${running.baseUrl}/devices/manage/${org.organisation.id}`;
      const page = await follow(browser, await browser.get(console));
      await logIn(browser, { ...org, user }, page);
      assert.ok(sessionCookie(browser, org), "signed in");
      return browser;
    }

    /** @param csrf of a form of this very browser, so that nothing but its user's part can be why it is refused */
    const send = async (
      browser: TestBrowser,
      method: string,
      url: string,
      csrf: string,
    ): Promise<TestPage> => {
      const headers = { accept: "text/html" };
      if (method === "GET") return follow(browser, await browser.get(url, headers));
      return follow(browser, await browser.post(url, { csrf, name: "x" }, headers));
    };

    /** Of whichever page stands at the organisation's account: the own profile, or the sign-in. */
    async function csrfOf(browser: TestBrowser, { issuer }: SeededRecords): Promise<string> {
      const { body } = await follow(browser, await browser.get(`${issuer}/account/profile`));
      const csrf = formsOn(body)[0]?.fields["csrf"];
      assert.ok(csrf, "a form of this browser");
      return csrf;
    }

    function assertShowsNothing(page: TestPage, of: SeededRecords, about: string): void {
      // A sign-in page may lead back to the address that was asked for: sealed, and in another language.
      const { pathname, search } = new URL(page.url);
      const body = page.body.replaceAll(`?${new URLSearchParams({ to: pathname + search })}"`, "");
      for (const secret of of.secrets) assert.ok(!body.includes(secret), `${about} shows ${secret}`);
    }

    /** @param act must change nothing but what is written about being asked */
    async function changesNothing(act: () => Promise<void>): Promise<void> {
      const before = await records();
      await act();
      assert.deepEqual(await records(), before);
    }

    async function records(): Promise<string[]> {
      const lines = (await dumpWholeDatabase(running.service.database.query)).split("\n");
      return lines.filter(
        (line) => !/^(audit_(?!filter)|activity|rate_limit|browser_session|background_)/.test(line),
      );
    }

    test("lists routes of every part", () => {
      const parts = new Set(routes.map(({ path }) => path.replace(CONSOLE, "").split("/")[1] ?? ""));
      for (const part of [
        "scopes",
        "consents",
        "quickstart",
        "applications",
        "users",
        "audit-log",
        "settings",
      ])
        assert.ok(parts.has(part), part);
    });

    test("shows only the sign-in on every route when signed out", async () => {
      await changesNothing(async () => {
        const browser = testBrowser();
        const csrf = await csrfOf(browser, a);
        for (const { method, path } of routes) {
          const page = await send(browser, method, addressOf(path, a, a), csrf);
          assert.ok(showsLogin(page) || page.status >= 400, `${method} ${path}: ${page.status}`);
          assertShowsNothing(page, a, `${method} ${path}`);
        }
      });
    });

    test("refuses a standard user on every route", async () => {
      const browser = await signedIn(a, a.user);
      const csrf = await csrfOf(browser, a);
      const others = { ...a, secrets: a.secrets.filter((secret) => secret !== a.user.email) };
      await changesNothing(async () => {
        for (const { method, path } of routes) {
          const page = await send(browser, method, addressOf(path, a, a), csrf);
          assert.equal(page.status, 403, `${method} ${path}`);
          assertShowsNothing(page, others, `${method} ${path}`);
        }
      });
    });

    test("ignores the session of another organisation's administrator", async () => {
      const browser = await signedIn(b, b.administrator);
      const [name = "", token = ""] = sessionCookie(browser, b) ?? [];
      browser.cookies.set(name.replace(b.organisation.id, a.organisation.id), token);
      const csrf = await csrfOf(browser, a);
      await changesNothing(async () => {
        for (const { method, path } of routes) {
          const page = await send(browser, method, addressOf(path, a, a), csrf);
          assert.ok(showsLogin(page) || page.status >= 400, `${method} ${path}: ${page.status}`);
          assertShowsNothing(page, a, `${method} ${path}`);
        }
      });
    });

    test("answers 404 for another organisation's record on every route", async () => {
      const browser = await signedIn(a, a.administrator);
      const csrf = await csrfOf(browser, a);
      const theirs = await filledForms(await signedIn(b, b.administrator), b);
      const taken = theirs
        .filter(({ url }) => isAboutRecordOf(b, url))
        .map(({ url, fields }) => ({
          url: url.replace(b.organisation.id, a.organisation.id),
          fields: { ...fields, csrf },
        }));
      assert.ok(taken.length > 25, `${taken.length} forms`);
      await changesNothing(async () => {
        for (const { method, path } of withRecord) {
          if (method !== "GET") continue;
          const page = await send(browser, method, addressOf(path, a, b), csrf);
          assertShowsNothing(page, b, `GET ${path}`);
          assert.equal(page.status, 404, `GET ${path}`);
        }
        for (const page of await postAll(browser, taken)) {
          assertShowsNothing(page, b, `POST ${page.url}`);
          assert.equal(page.status, 404, `POST ${page.url}`);
        }
      });
    });

    const isAboutRecordOf = ({ ids }: SeededRecords, url: string): boolean => {
      const shared = new Set(Object.values(a.ids).filter((id) => Object.values(b.ids).includes(id)));
      const own = new Set(Object.values(ids).filter((id) => !shared.has(id)));
      return new URL(url).pathname.split("/").some((part) => own.has(decodeURIComponent(part)));
    };

    /** The forms of all pages, filled in as somebody would who means it, by an administrator who has just signed in. */
    async function filledForms(browser: TestBrowser, org = a): Promise<Filled[]> {
      const filled: Filled[] = [];
      for (const { method, path } of routes) {
        if (method !== "GET") continue;
        const { body } = await browser.get(addressOf(path, org, org), { accept: "text/html" });
        for (const form of formsOn(body))
          filled.push({ url: running.baseUrl + form.action, fields: form.fields });
      }
      return filled;
    }

    const postAll = async (browser: TestBrowser, forms: readonly Filled[]): Promise<TestPage[]> => {
      const pages: TestPage[] = [];
      for (const { url, fields } of forms) pages.push(await browser.post(url, fields));
      return pages;
    };

    test("rejects a form without a CSRF token and does not issue one for its content", async () => {
      const browser = await signedIn(a, a.administrator);
      const forms = await filledForms(browser);
      assert.ok(forms.length > 25, `${forms.length} forms`);
      await changesNothing(async () => {
        const foreign = forms.map(({ url, fields }) => ({
          url,
          fields: { ...fields, csrf: "of-somebody-else" },
        }));
        for (const { url, body, status } of await postAll(browser, foreign)) {
          assert.ok(status < 500, url);
          assert.ok(!body.includes("prove-go-on"), url);
        }
      });
    });

    const asksForIdentity = ({ body }: TestPage): boolean => body.includes("prove-go-on");

    /** As page-kit/recent-sign-in.ts has the form at this address. */
    function needsRecentSignIn({ url, fields }: Filled): boolean {
      const { pathname } = new URL(url);
      const fits = ([path]: readonly [string, unknown]) =>
        new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`).test(pathname);
      const found = [...demands]
        .filter(fits)
        .toSorted(([one], [other]) => parametersIn(one) - parametersIn(other));
      const [, demand] = found[0] ?? assert.fail(`no decision about ${pathname}`);
      return (typeof demand === "function" ? demand(new Map(Object.entries(fields))) : demand) === "recent";
    }

    test("every form is decided about, and no other", () => {
      const forms = routes.filter(({ method }) => method === "POST").map(({ path }) => path);
      const decided = [...demands.keys()].filter((path) => isPage({ path }));
      assert.deepEqual(decided.toSorted(), forms.toSorted());
    });

    test("demands a recent sign-in for secrets, keys, roles, deletion and policies, and keeps what was typed", async () => {
      const browser = await signedIn(a, a.administrator);
      const forms = (await filledForms(browser)).filter(needsRecentSignIn);
      assert.ok(forms.length > 15, `${forms.length} forms`);
      clock.advance((SECONDS_OF_FRESHNESS + 1) * 1000);
      await changesNothing(async () => {
        for (const page of await postAll(browser, forms))
          assert.ok(asksForIdentity(page) || page.status === 404, page.url);
      });
    });

    test("accepts the same forms from our own pages", async () => {
      const others = await plantRecordsOf(b);
      let changed = 0;
      let count = 0;
      let before = (await records()).join();
      const sendAll = async (browser: TestBrowser, forms: readonly Filled[]) => {
        for (const form of forms) {
          const [page] = await postAll(browser, [form]);
          assert.ok(page && !asksForIdentity(page), form.url);
          const now = (await records()).join();
          if (now !== before) changed += 1;
          before = now;
        }
        count += forms.length;
      };
      const old = await signedIn(a, a.administrator);
      const harmless = (await filledForms(old)).filter((form) => !needsRecentSignIn(form));
      assert.ok(harmless.length > 10, `${harmless.length} forms`);
      clock.advance((SECONDS_OF_FRESHNESS + 1) * 1000);
      await sendAll(old, harmless);
      const recent = await signedIn(a, a.administrator);
      await sendAll(recent, (await filledForms(recent)).filter(needsRecentSignIn));
      assert.ok(changed > count / 3, `${changed} of ${count} changed something`);
      assert.deepEqual(await plantRecordsOf(b), others, "nothing of another organisation's");
    });

    const plantRecordsOf = async ({ organisation }: SeededRecords): Promise<string[]> =>
      (await records()).filter((line) => line.includes(organisation.id));
  });
});

const parametersIn = (path: string): number => path.split(":").length;

interface Filled {
  readonly url: string;
  readonly fields: Record<string, string>;
}
