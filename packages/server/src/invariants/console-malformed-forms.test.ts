// Whatever is typed into a form of the console, of the account pages or of those that mails lead to, or written behind their
// addresses: no 500, nothing
// that comes back as markup, and a form that is shown again still has what was typed in it. SIGNET_TEST_WHOLE=1 tries
// every value in every field; SIGNET_TEST_SEED chooses others of them for the short run.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { createAction } from "../core/actions/actions.ts";
import type { ActionType } from "../core/actions/user-action.ts";
import { findUser } from "../core/users/users.store.ts";
import { CONSOLE } from "../page-kit/page.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../testing/fakes/browser.ts";
import { MAIL_ENV } from "../testing/fakes/mailbox.ts";
import { quickPasswords } from "../testing/fakes/quick-passwords.ts";
import { type SeededRecords, seedRecords } from "../testing/fixtures/planted-records.ts";
import { accountRecordPages, signInHolder } from "../testing/fixtures/records-in-states.ts";
import { follow, logIn, showsLogin } from "../testing/fixtures/visit.ts";
import { listRoutes } from "../testing/list-routes.ts";
import { formsOn, type PageForm, textIn } from "../testing/probes/page-forms.ts";
import { recordAddress } from "../testing/probes/record-address.ts";
import { startTestService, type TestService } from "../testing/test-service.ts";

const isWhole = process.env["SIGNET_TEST_WHOLE"] === "1";
const FORMS_TRIED = 50;
const QUERIES_TRIED = 25;
/** Of the values at each name that an address is tried with. */
const VALUES_IN_QUERY = isWhole ? 6 : 3;

const ACCOUNT = ["/oauth/:org/account/", "/oauth/:org/user/consents", "/devices/manage/:org"];
const isPage = ({ path }: { path: string }) =>
  path.startsWith(CONSOLE) || ACCOUNT.some((place) => path.startsWith(place));
/** Nobody is signed in there; links of mails lead to the last ones. */
const MAILS = /^\/oauth\/:org\/(recovery|recovery\/:id|verify-email\/:id|action\/:id\/:type)$/;
const pages = [
  ...(await listRoutes())
    .filter((route) => (isPage(route) || MAILS.test(route.path)) && route.method === "GET")
    .map(({ path }) => path),
  ...accountRecordPages,
];

const MARKUP = `"'><script>odd()</script>&amp;`;
const SOMEBODY_ELSES = "somebody else's id";
const values: readonly (string | readonly string[] | undefined)[] = [
  undefined,
  "",
  " ",
  ["first", "second", MARKUP],
  "x".repeat(300),
  "ab c".repeat(5_000),
  "\u0001\u0007\u001b[31m\u0085\u2028",
  "one\r\ntwo\ttab",
  "half \ud83e of a pair",
  "right \u202eto\u2066 left \u200f\u200b",
  "with a \0 in it",
  "🦊👩‍👩‍👧‍👦e\u0301",
  MARKUP,
  "-1",
  "0.5",
  "1e9",
  "9".repeat(30),
  "Infinity",
  "on",
  "of no choice",
  SOMEBODY_ELSES,
  "00000000-0000-4000-8000-000000000000",
  '{"a":[1,null',
  "[[[[]]]]",
  "__proto__",
  "%",
  "https://[::1",
  "javascript:odd()",
  "2026-13-45T99:99",
];
const queryNames = [
  ...[
    "cursor",
    "after",
    "before",
    "codes",
    "search",
    "done",
    "role",
    "type",
    "state",
    "kind",
    "range",
    "language",
  ],
  ...[
    "application",
    "id",
    "from",
    "to",
    "until",
    "actor",
    "address",
    "act",
    "target",
    "format",
    "what",
    "because",
  ],
  ...["value", "email"],
];

type Try = {
  readonly path: string;
  /** Which of the page's forms. */
  readonly index: number;
  readonly field: string;
  readonly value: (typeof values)[number];
};

describe("malformed forms", () => {
  forEachDatabase(({ fresh }) => {
    let running: TestService;
    let other: SeededRecords;
    let org: SeededRecords;
    let ids: Readonly<Record<string, string>>;
    let administrator: TestBrowser;
    let holder: TestBrowser;
    let codes: string[] = [];
    let made = 0;
    before(async () => {
      const limits = ["password-account", "password-address", "recovery-account", "recovery-address"];
      const SIGNET_RATE_LIMITS = limits.map((name) => `${name}=100000/60`).join();
      const env = { ...MAIL_ENV, SIGNET_RATE_LIMITS };
      running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords, env });
      other = await seedRecords(running.service, "Other");
      await begin();
    });
    after(() => running.close());

    /** Another organisation with everything in it: what was tried may have ended records, sessions, the administrator. */
    async function begin(): Promise<void> {
      made += 1;
      org = await seedRecords(running.service, `Acme${made}`);
      ids = { ...org.ids, ...(await mailLinks()) };
      codes = [...org.holder.recoveryCodes];
      await enter();
      // Their first reader makes the keys, which have forms of their own.
      await administrator.get(addressOf(`${CONSOLE}/signing-keys`));
    }

    /** To the same person, who has just been invited. */
    async function mailLinks(): Promise<Record<string, string>> {
      const { service } = running;
      const userId = org.ids["users/invitation"] ?? assert.fail("nobody is invited");
      const user = await findUser(service.database.query, org.organisation.id, userId);
      const of = { orgId: org.organisation.id, userId, data: { email: user?.email ?? "" } };
      const link = async (type: ActionType) =>
        (await createAction(service.database.query, service, { ...of, type })).id;
      return {
        recovery: await link("ResetPassword"),
        "verify-email": await link("VerifyEmail"),
        action: await link("AcceptInvitation"),
        type: "AcceptInvitation",
      };
    }

    async function enter(): Promise<void> {
      administrator = testBrowser();
      const signInPage = `${running.baseUrl}/oauth/manage/${org.organisation.id}/confirm-identity`;
      await logIn(
        administrator,
        { ...org, user: org.administrator },
        await follow(administrator, await administrator.get(signInPage)),
      );
      // Whoever has lost the second factors comes in with the next organisation.
      const entering = signInHolder(org, org.holder, codes.pop() ?? "");
      holder = await entering.catch(() => testBrowser());
    }

    const nobody = testBrowser();
    const readerOf = (path: string): TestBrowser => {
      if (MAILS.test(path)) return nobody;
      return path.startsWith(CONSOLE) || path.startsWith("/devices/") ? administrator : holder;
    };

    const addressOf = (path: string) =>
      running.baseUrl + (recordAddress(path, org.organisation.id, ids) ?? assert.fail(path));

    /** The page as it is, with the administrator there and its record too; undefined when it is no page of forms. */
    async function open(path: string): Promise<TestPage | undefined> {
      for (const mend of [enter, begin]) {
        const page = await readerOf(path).get(addressOf(path), { accept: "text/html" });
        if (page.status === 200 && !showsLogin(page)) return page;
        await mend();
      }
      const page = await readerOf(path).get(addressOf(path), { accept: "text/html" });
      return page.status === 200 ? page : undefined;
    }

    const isOurs = ({ action }: PageForm) => !action.endsWith("/end_session");

    async function everyTry(): Promise<Try[]> {
      const tries: Try[] = [];
      for (const path of pages) {
        const { body } = await readerOf(path).get(addressOf(path), { accept: "text/html" });
        for (const [index, { names }] of formsOn(body).filter(isOurs).entries())
          for (const field of names) for (const value of values) tries.push({ path, index, field, value });
      }
      return tries;
    }

    function encoded(fields: Readonly<Record<string, string>>, { field, value }: Try): string {
      const pairs = Object.entries(fields).filter(([name]) => name !== field);
      const odd = value === undefined ? [] : [value].flat();
      const of = (text: string) => encodeURIComponent(text.toWellFormed());
      return [...pairs, ...odd.map((one): [string, string] => [field, meant(field, one)])]
        .map(([name, text]) => `${of(name)}=${of(text)}`)
        .join("&");
    }

    const meant = (field: string, value: string): string =>
      value === SOMEBODY_ELSES
        ? (other.ids[`${field}s`] ?? other.ids[field] ?? other.ids["applications"] ?? "")
        : value;

    async function attempt(one: Try): Promise<string | undefined> {
      const page = await open(one.path);
      const form = formsOn(page?.body ?? "").filter(isOurs)[one.index];
      if (!form) return "the form is gone";
      const response = await fetch(running.baseUrl + form.action, {
        method: "POST",
        redirect: "manual",
        headers: {
          accept: "text/html",
          "content-type": "application/x-www-form-urlencoded",
          cookie: [...readerOf(one.path).cookies].map(([name, value]) => `${name}=${value}`).join("; "),
        },
        body: encoded(form.fields, one),
      });
      const body = await response.text();
      return (
        running.errors.splice(0).map(String)[0] ?? faultIn(response, body) ?? lost(one, form, response, body)
      );
    }

    /** What was typed, where the form is shown again. */
    function lost(
      { path, field, value }: Try,
      { fields, typed }: PageForm,
      { status }: Response,
      body: string,
    ) {
      const isOfMails = MAILS.test(path) && (status === 403 || status === 422);
      if (status !== 400 && status !== 409 && !isOfMails) return undefined;
      if ([value ?? []].flat().some(isUnreadable)) return undefined;
      const given = { ...fields, [field]: typeof value === "string" ? meant(field, value) : undefined };
      for (const name of typed) {
        const text = given[name];
        // A box of a list and a line of text may be one setting: then what is no choice stands in the text.
        if (text === undefined || fieldsOfOne[name] === field) continue;
        const kept = textIn(body, name);
        if (kept === undefined) return `${status} without the field ${name}`;
        if (!isWhatWas(kept, text)) return `${status} has lost ${name}: ${kept.slice(0, 60)}`;
      }
      return undefined;
    }

    test("survives every malformed value in every field", async () => {
      const tries = await everyTry();
      assert.ok(tries.length > 3_000, `${tries.length}`);
      await reportAll(chosen(tries, FORMS_TRIED), attempt);
    });

    test("survives every malformed query parameter", async () => {
      const tries = pages.flatMap((path) => queryNames.map((name) => ({ path, name })));
      await reportAll(chosen(tries, QUERIES_TRIED), async ({ path, name }) => {
        for (const value of someOf(name)) {
          const query = [value ?? []]
            .flat()
            .map((one) => `${name}=${encodeURIComponent(one.toWellFormed())}`);
          const address = addressOf(path);
          const url = `${address}${address.includes("?") ? "&" : "?"}${query.join("&")}`;
          const cookie = [...readerOf(path).cookies].map(([key, token]) => `${key}=${token}`).join("; ");
          const response = await fetch(url, { redirect: "manual", headers: { accept: "text/html", cookie } });
          const body = await response.text();
          const fault = running.errors.splice(0).map(String)[0] ?? faultIn(response, body);
          if (fault !== undefined) return `${JSON.stringify(value)?.slice(0, 60)}: ${fault}`;
        }
        return undefined;
      });
    });
  });
});

/** A few for each name, others for the next one. */
const someOf = (name: string) =>
  Array.from(
    { length: VALUES_IN_QUERY },
    (_, at) => values[(queryNames.indexOf(name) * 5 + at * 7) % values.length],
  );

/** Every fault at once: one run says all of them. */
async function reportAll<T>(tries: readonly T[], attempt: (one: T) => Promise<string | undefined>) {
  const faults: string[] = [];
  for (const one of tries) {
    const fault = await attempt(one);
    if (fault !== undefined) faults.push(`${fault} <- ${JSON.stringify(one).slice(0, 220)}`);
  }
  assert.deepEqual(faults, []);
}

function faultIn({ status, headers }: Response, body: string): string | undefined {
  if (status >= 500) return `${status}`;
  // A file is no page: names stand in it as they are.
  const isFile = headers.get("content-type")?.startsWith("text/csv") === true;
  if (!isFile && body.includes("<script>odd()")) return `${status} shows markup`;
  if (
    /\b(?:undefined|\[object |NaN)\b/.test(
      // The notice about scopes that nobody has defined has that name.
      body.replace(/<(textarea|bdi|code|pre)\b[\s\S]*?<\/\1>|<input[^>]*>| id="undefined-scopes"/g, ""),
    )
  ) {
    const at = /.{0,60}\b(?:undefined|\[object |NaN)\b.{0,30}/.exec(body)?.[0];
    return `${status} says ${at}`;
  }
  const isPage = headers.get("content-type")?.startsWith("text/html");
  if (status >= 400 && isPage && !/<h1/.test(body)) return `${status} without a heading`;
  if (status === 303 && !/^\/(?!\/)|^http:\/\/127\.0\.0\.1/.test(headers.get("location") ?? ""))
    return "leads away";
  return undefined;
}

/** What no form can hold is refused before anybody knows which form it is. */
const isUnreadable = (text: string): boolean => text.includes("\0") || !text.isWellFormed();

const fieldsOfOne: Readonly<Record<string, string>> = { otherScopes: "allowedScopes" };

/** A field may cut off what is longer than anything that it can mean. */
const isWhatWas = (kept: string, text: string): boolean =>
  squeezed(kept) === squeezed(text) || (kept.length >= 20 && squeezed(text).startsWith(squeezed(kept)));

/** Ends are trimmed, line ends are one kind, nobody sees two spaces, and a colour has no capitals. */
const squeezed = (text: string): string => text.replace(/\s+/g, " ").trim().toLowerCase();

/** A part that is the same with the same seed. */
function chosen<T>(all: readonly T[], most: number): readonly T[] {
  if (isWhole) return all;
  const step = Math.max(1, Math.floor(all.length / most)) | 1;
  const start = Number(process.env["SIGNET_TEST_SEED"] ?? 7) % step;
  return all.filter((_, index) => index % step === start);
}
