// Every form of every page of the console, pressed twice: what the first press made or sent is there once. A new form is
// pressed without being named here.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { findPool } from "../core/signing-pools/signing-pool.store.ts";
import { CONSOLE } from "../page-kit/page.ts";
import type { TestBrowser, TestPage } from "../testing/fakes/browser.ts";
import { fakeClock } from "../testing/fakes/fake-clock.ts";
import { MAIL_ENV } from "../testing/fakes/mailbox.ts";
import { newAgentKey, presentedKey } from "../testing/fixtures/agent.ts";
import { type SeededRecords, seedRecords } from "../testing/fixtures/planted-records.ts";
import { accountRecordPages, signInHolder } from "../testing/fixtures/records-in-states.ts";
import { listRoutes } from "../testing/list-routes.ts";
import { type ConsoleBrowser, consoleBrowser } from "../testing/probes/console-browser.ts";
import { dumpWholeDatabase } from "../testing/probes/dump-database.ts";
import type { PageForm } from "../testing/probes/page-forms.ts";
import { recordAddress } from "../testing/probes/record-address.ts";
import { choicesOn, filledForms } from "../testing/probes/submitted-twice.ts";
import { PASSWORD, startTestService, type TestService } from "../testing/test-service.ts";

const routes = (await listRoutes()).filter(({ method }) => method === "GET").map(({ path }) => path);
const below = (...places: string[]) =>
  routes.filter((path) => places.some((place) => path.startsWith(place)));
const consolePages = below(CONSOLE, "/devices/manage/:org");
const accountPages = [...below("/oauth/:org/account/"), ...accountRecordPages];

describe("duplicate submission", () => {
  let running: TestService;
  let org: SeededRecords;
  let here: ConsoleBrowser;
  before(async () => {
    // What is made once on a database that two write to at the same time: page-kit/one-time-form.test.ts.
    const settings = { databaseUrl: "sqlite::memory:", clock: fakeClock(), env: MAIL_ENV };
    running = await startTestService(settings);
    org = await seedRecords(running.service, "Acme");
    here = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const db = () => running.service.database.query;
  const orgId = () => org.organisation.id;

  /** All that is kept, but for what counts and watches. */
  async function kept(): Promise<string> {
    const lines = (await dumpWholeDatabase(db())).split("\n");
    return (
      lines
        .filter((line) => !/^(activity|audit_chain|rate_limit|browser_session|background_)/.test(line))
        // The chain and the sending of mails go on in the background.
        .map((line) =>
          /^(audit_event|outgoing_mail)/.test(line)
            ? line.replace(/^(\w+).*?("id": ?"[^"]*").*/, "$1 $2")
            : line,
        )
        .join("\n")
    );
  }

  /** What an agent prints for an administrator, with a key that is registered nowhere. */
  async function printed(): Promise<string> {
    const pool = await findPool(db(), orgId(), org.ids["pool"] ?? "");
    assert.ok(pool);
    const keys = [presentedKey(running.service, pool, newAgentKey("ES256"))];
    return JSON.stringify({ poolId: pool.id, name: "agent-twice", keys });
  }
  /** Every page with a form: those that change something first, what ends something after them. */
  async function pagesWithForms(browser: TestBrowser, paths: readonly string[]): Promise<string[]> {
    const found: Array<{ url: string; rank: number }> = [];
    for (const path of paths) {
      const address = recordAddress(path, orgId(), org.ids);
      assert.ok(address, `plant something for ${path}`);
      const page = await browser.get(running.baseUrl + address);
      const pages = [page, ...(await Promise.all(choicesOn(page).map((link) => browser.get(link))))];
      for (const { url, body } of pages) {
        if (filledForms(body).length === 0) continue;
        const ends = /class="card [^"]*\bconfirm\b/.test(body);
        const endsAll = /\/(delete|deletion|password|sessions\/end)$/.test(path);
        found.push({ url, rank: endsAll ? 2 : ends ? 1 : 0 });
      }
    }
    return found.sort((one, other) => one.rank - other.rank).map(({ url }) => url);
  }

  interface Pressed {
    readonly about: string;
    readonly fields: PageForm["fields"];
    readonly first: TestPage;
    readonly second: TestPage;
    /** What is kept before, between and afterwards. */
    readonly states: readonly [string, string, string];
  }

  async function pressTwice(browser: TestBrowser, form: PageForm, before: string): Promise<Pressed> {
    const press = () => browser.post(running.baseUrl + form.action, form.fields);
    const first = await press();
    // A form may show what it would do, and ask with another.
    const isAsked = ({ fields }: PageForm) =>
      fields["step"] !== undefined || fields["confirmed"] !== undefined;
    const next = filledForms(first.body).find(isAsked);
    if (next && !isAsked(form)) return pressTwice(browser, next, before);
    const between = await kept();
    const second = await press();
    const about = form.action.replace(orgId(), "");
    return { about, fields: form.fields, first, second, states: [before, between, await kept()] };
  }

  const passwords = { present: PASSWORD, password: "another good passphrase" };

  /** Of clients that come from elsewhere, by the page: they name an application, an issuer and a target. */
  const elsewhere = async (): Promise<Readonly<Record<string, Readonly<Record<string, string>>>>> => {
    const clientId = org.ids["applications"] ?? "";
    const { pem: certificate } = await testCertificate({ subject: "Twice", isCa: true });
    return {
      "client-authorities/new": { certificate },
      "authorization-detail-types/new": {
        type: "twice",
        template: "Read {folder}",
        schema: '{"type":"object"}',
      },
      "trusts/new": {
        ...{ clientId, issuer: "https://issuer.twice.example", subjectPattern: "repo:twice/site" },
        ...{ audience: `${running.baseUrl}/oauth/${orgId()}`, jwks: JSON.stringify({ keys: [] }) },
      },
      "token-exchange/new": { clientId, target: "https://planted-acme.example/api" },
    };
  };

  /** Of many users at once, by the page. */
  const lists = (): Readonly<Record<string, string>> => ({
    "users/import": "email,firstname\nimported@example.com,Ida",
    "users/invite": "invited@example.com",
    "members/import": org.administrator.email,
  });

  async function pressAll(browser: TestBrowser, paths: readonly string[]): Promise<Pressed[]> {
    const pressed: Pressed[] = [];
    const foreign = await elsewhere();
    let before = await kept();
    for (const url of await pagesWithForms(browser, paths)) {
      const { body } = await browser.get(url);
      const email = url.endsWith("/users/new") ? {} : { email: org.administrator.email };
      const registration = body.includes('name="registration"') ? { registration: await printed() } : {};
      const page = new URL(url).pathname.split("/").slice(-2).join("/");
      const list = lists()[page];
      const more = {
        ...{ ...registration, ...email, ...passwords, ...foreign[page] },
        ...(list === undefined ? {} : { list }),
      };
      for (const form of filledForms(body, more)) {
        // Whoever is signed out by what they pressed has no forms any more but this one.
        if (form.action.endsWith("/login")) continue;
        const one = await pressTwice(browser, form, before);
        before = one.states[2];
        pressed.push(one);
      }
    }
    return pressed;
  }

  const changedTwice = (pressed: readonly Pressed[]) =>
    pressed.filter(({ states: [, between, now] }) => now !== between).map(({ about }) => about);

  test("applies each form of the account pages once, and records each data export", async () => {
    const [code = ""] = org.holder.recoveryCodes;
    const browser = await signInHolder(org, org.holder, code);
    const pressed = await pressAll(browser, accountPages);
    assert.deepEqual(changedTwice(pressed), ["/oauth//account/data/export"]);
    const done = pressed.filter(({ states: [before, between] }) => between !== before);
    const abouts = done.map(({ about }) => about.replace(/^.*account\/|\?.*$/g, ""));
    for (const form of ["address", "security/recovery-codes", "security/browsers", "password"])
      assert.ok(abouts.includes(form), `${form} does nothing`);
  });

  test("applies each form of the console once: no second record, mail or audit event", async () => {
    const pressed = await pressAll(here.browser, consolePages);
    assert.deepEqual(changedTwice(pressed), []);
    // To permit what is permitted changes nothing.
    const makes = ({ about }: Pressed) => /(?<!\/permissions)\/(new|register|quickstart)$/.test(about);
    const making = pressed.filter((one) => one.fields["once"] !== undefined || makes(one));
    assert.ok(making.length >= 20, `${making.length} forms make something`);
    for (const { about, fields, first, second, states } of making) {
      assert.ok(first.status < 400, `${about}: ${first.status}`);
      assert.notEqual(states[1], states[0], `${about} makes nothing`);
      assert.equal(second.status, 409, about);
      assert.match(second.body, /already submitted/, about);
      // It can be meant: the form is there with a value of its own, and with what was typed.
      const again = filledForms(second.body).find((one) => one.fields["once"] !== undefined)?.fields ?? {};
      assert.ok(again["once"] !== undefined && again["once"] !== fields["once"], about);
      for (const name of ["name", "displayName", "email", "label"])
        if (fields["step"] === undefined) assert.equal(again[name], fields[name], `${about} ${name}`);
    }
  });
});
