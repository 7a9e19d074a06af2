/**
 * A real Signet for tests, in memory, in about a second: access tokens that an API accepts, people who are signed in in a browser,
 * and everything else that the service does. No network and no container; a browser only for tests that have one.
 *
 * @module testing
 */
import type { PageLike } from "./browser.ts";
import { TestIssuerError } from "./errors.ts";
import {
  openTestIssuer,
  type SignedOutOptions,
  type TestIssuer,
  type TestIssuerOptions,
  type TestUser,
  type TokenOptions,
} from "./test-issuer.ts";

export type { BrowserContextLike, BrowserCookie, PageLike } from "./browser.ts";
export { TestIssuerError } from "./errors.ts";
export type {
  TestApplicationDocument,
  TestOrganisationDocument,
  TestRoleDocument,
  TestUserDocument,
} from "./test-document.ts";
export type {
  SignedOutOptions,
  TestIssuer,
  TestIssuerOptions,
  TestUser,
  TokenOptions,
} from "./test-issuer.ts";
export type { ServerApplication, ServerOrganisation, ServerUser } from "./test-server.ts";
export type { TestTokens } from "./test-tokens.ts";

/** Those that run in this process, for the functions that name none. */
const running = new Set<TestIssuer>();

/**
 * Starts a real Signet on a free port of loopback, with a database in memory. Stop it in the suite's `after`, or take it with
 * `await using`.
 * @throws Error what is wrong with the options, in one sentence
 * @example
 * await using issuer = await createTestIssuer({ applications: [{ name: "Shop", url: "http://localhost:3000" }] });
 * const token = await issuer.tokenFor({ scope: "openid orders:read", audience: "https://api.example.com" });
 */
export async function createTestIssuer(options: TestIssuerOptions = {}): Promise<TestIssuer> {
  const opened = await openTestIssuer(options);
  const stop = async () => {
    running.delete(issuer);
    await opened.stop();
  };
  const issuer: TestIssuer = Object.defineProperties({} as TestIssuer, {
    ...Object.getOwnPropertyDescriptors(opened),
    stop: { value: stop, enumerable: true },
    [Symbol.asyncDispose]: { value: stop },
  });
  running.add(issuer);
  return issuer;
}

function theIssuer(): TestIssuer {
  const [issuer, another] = running;
  if (issuer === undefined) throw new TestIssuerError("no issuer runs: createTestIssuer() starts one");
  if (another !== undefined) throw new TestIssuerError("several issuers run: call the method of one of them");
  return issuer;
}

/** `issuer.tokenFor` of the issuer that runs. @throws TestIssuerError */
export const tokenFor = async (options: TokenOptions = {}): Promise<string> => theIssuer().tokenFor(options);

/** `issuer.signInAs` of the issuer that runs. @throws TestIssuerError */
export const signInAs = async (page: PageLike, user?: TestUser | string, url?: string): Promise<void> =>
  theIssuer().signInAs(page, user, url);

/** `issuer.expectSignedOut` of the issuer that runs. @throws TestIssuerError */
export const expectSignedOut = async (
  page: PageLike,
  url?: string,
  options?: SignedOutOptions,
): Promise<void> => theIssuer().expectSignedOut(page, url, options);
