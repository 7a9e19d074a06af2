// Emails use the language of the page that caused them, unless the user has chosen one.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../testing/fakes/browser.ts";
import { fakeClock } from "../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo, newestLinkPage } from "../testing/fakes/mailbox.ts";
import { quickPasswords } from "../testing/fakes/quick-passwords.ts";
import { appOfPage } from "../testing/fixtures/factors.ts";
import { follow, logIn, visit } from "../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";

/** A browser that asks for every page in one language. */
function speaking(language: string): TestBrowser {
  const browser = testBrowser();
  const wish = { "accept-language": language };
  return {
    cookies: browser.cookies,
    get: (url, headers = {}) => browser.get(url, { ...wish, ...headers }),
    post: (url, form, headers = {}) => browser.post(url, form, { ...wish, ...headers }),
  };
}

forEachDatabase(({ fresh }) => {
  const clock = fakeClock();
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    const options = { clock, passwords: quickPasswords, env: MAIL_ENV };
    running = await startTestService({ databaseUrl: await fresh(), ...options });
    org = await makeOrganisation(running.service);
  });
  after(() => running.close());

  const newest = async () => {
    const { mail, locale } = (await mailsTo(running.service, org.user.email)).at(-1) ?? {};
    return [mail?.template, locale];
  };

  test("the new sign-in email uses the application's language, else the browser's", async () => {
    // The first browser is known from then on and worth no mail.
    const first = testBrowser();
    await logIn(first, org, await visit(first, org));
    const danish = speaking("de");
    await logIn(danish, org, await visit(danish, org, { more: { ui_locales: "da" } }));
    assert.deepEqual(await newest(), ["NewSignIn", "da"]);
    const german = speaking("de-AT, en;q=0.5");
    await logIn(german, org, await visit(german, org));
    assert.deepEqual(await newest(), ["NewSignIn", "de"]);
  });

  test("the emails about an added factor and a changed password use the page's language", async () => {
    const browser = speaking("fr");
    await logIn(browser, org, await visit(browser, org));
    const url = `${org.issuer}/account/security/authenticator`;
    const page = await browser.get(url);
    const code = await appOfPage(page).code(clock());
    await follow(browser, await browser.post(url, { ...page.hidden, code }));
    assert.deepEqual(await newest(), ["FactorAdded", "fr"]);
    const form = await browser.get(`${org.issuer}/recovery`);
    await browser.post(`${org.issuer}/recovery`, { ...form.hidden, email: org.user.email });
    assert.deepEqual(await newest(), ["ResetPassword", "fr"]);
    const link = await newestLinkPage(running.service, org.user.email);
    const password = "walnut orbit seventeen";
    const spanish = speaking("es");
    const { hidden } = await spanish.get(link);
    await spanish.post(link, { ...hidden, password });
    assert.deepEqual(await newest(), ["PasswordChanged", "es"]);
    assert.deepEqual(running.errors, []);
  });
});
