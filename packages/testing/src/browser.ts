/** Signing people in and out in a browser that a test drives: what of Playwright's page this takes. */
import { setTimeout as delay } from "node:timers/promises";
import { TestIssuerError } from "./errors.ts";
import type { ServerOrganisation, TestServer } from "./test-server.ts";

/** A cookie, as Playwright has it. */
export interface BrowserCookie {
  readonly name: string;
  readonly value: string;
}

/** The used part of Playwright's `BrowserContext`. */
export interface BrowserContextLike {
  /** Sets cookies for a URL. */
  addCookies(
    cookies: { name: string; value: string; url: string; httpOnly: boolean; sameSite: "Lax" }[],
  ): Promise<unknown>;
  /** The cookies that are sent to a URL. */
  cookies(url: string): Promise<readonly BrowserCookie[]>;
}

/** The used part of Playwright's `Page`. */
export interface PageLike {
  /** The browser of the page. */
  context(): BrowserContextLike;
  /** Opens a page. */
  goto(url: string): Promise<unknown>;
  /** Where it is. */
  url(): string;
}

/** A session of the user at the issuer, in the page's browser: applications sign the user in without asking. */
export async function addSession(
  server: TestServer,
  page: PageLike,
  who: { readonly orgId: string; readonly userId: string },
): Promise<void> {
  const cookie = await server.startSession(who);
  await page.context().addCookies([{ ...cookie, url: server.baseUrl, httpOnly: true, sameSite: "Lax" }]);
}

/** @throws TestIssuerError naming the organisation where the page's browser is signed in */
export async function requireNoSession(
  server: TestServer,
  page: PageLike,
  organisations: readonly ServerOrganisation[],
): Promise<void> {
  const cookies = await page.context().cookies(server.baseUrl);
  for (const { id, name } of organisations)
    for (const cookie of cookies)
      if (cookie.name === `signet-${id}` && (await server.isSignedIn(id, cookie.value)))
        throw new TestIssuerError(`the browser is still signed in to ${name}`);
}

/** @throws TestIssuerError when the application shows its page instead of the sign-in */
export async function requireSignIn(server: TestServer, page: PageLike, url: string): Promise<void> {
  await page.goto(url);
  const shown = new URL(page.url());
  if (shown.origin !== new URL(server.baseUrl).origin)
    throw new TestIssuerError(
      `${url} showed ${shown.origin}${shown.pathname}, not the sign-in: the application is still signed in`,
    );
}

const RETRY_MS = 50;

/** Tries again until the check passes. @throws TestIssuerError of the last try, and any other error at once */
export async function untilItHolds(milliseconds: number, check: () => Promise<void>): Promise<void> {
  const end = performance.now() + milliseconds;
  for (;;)
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof TestIssuerError) || performance.now() >= end) throw error;
      await delay(RETRY_MS);
    }
}
