/** A person who goes back and forth between an application and Signet, with cookies for each origin and forms. */
import assert from "node:assert/strict";
import {
  type TestBrowser,
  type TestPage,
  testBrowser,
} from "../../packages/server/src/testing/fakes/browser.ts";
import { decide, logIn, showsConsent, showsLogin } from "../../packages/server/src/testing/fixtures/visit.ts";
import type { TestOrganisation } from "../../packages/server/src/testing/test-service.ts";

export interface Person {
  /** Follows redirects wherever they lead. @returns the page at their end */
  open(url: string): Promise<TestPage>;
  submit(url: string, form: Readonly<Record<string, string>>): Promise<TestPage>;
  /** From Signet's login page, through consent where it is asked, to the application's page. */
  signIn(page: TestPage): Promise<TestPage>;
}

const MOST_REDIRECTS = 20;

export function makePerson(org: TestOrganisation): Person {
  const browsers = new Map<string, TestBrowser>();
  const at = (url: string): TestBrowser => {
    const { origin } = new URL(url);
    const browser = browsers.get(origin) ?? testBrowser();
    browsers.set(origin, browser);
    return browser;
  };
  const land = async (page: TestPage): Promise<TestPage> => {
    let here = page;
    for (let step = 0; step < MOST_REDIRECTS; step += 1) {
      if (here.location === undefined) return here;
      here = await at(here.location).get(here.location);
    }
    throw new Error(`the redirects do not end: ${here.location}`);
  };
  return {
    open: async (url) => land(await at(url).get(url)),
    // As a browser says of a form: a page is wanted, and the one that had it is of the same origin.
    submit: async (url, form) =>
      land(await at(url).post(url, form, { accept: "text/html", origin: new URL(url).origin })),
    signIn: async (page) => {
      assert.ok(
        showsLogin(page),
        `not the login page: ${page.url} ${page.status} ${page.body.slice(0, 500)}`,
      );
      const browser = at(page.url);
      const next = await logIn(browser, org, page);
      return land(showsConsent(next) ? await decide(browser, org, next) : next);
    },
  };
}
