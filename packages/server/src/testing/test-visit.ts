/** A person's way through the pages of one organisation, one step at a time, for tests that look at the steps. */
import { createUser } from "../core/users/users.ts";
import type { Service } from "../open-service.ts";
import { authorizationRequest, type TestBrowser, type TestPage } from "./test-browser.ts";
import { redeem } from "./test-client.ts";
import { PASSWORD, REDIRECT_URI, type TestOrganisation } from "./test-service.ts";

export interface Asked {
  /** Changes to the request; undefined leaves a parameter out. */
  readonly more?: Readonly<Record<string, string | undefined>>;
  readonly clientId?: string;
  readonly redirectUri?: string;
}

/** The query of an authorization request of the organisation's web application. */
export function requestQuery(org: TestOrganisation, { more = {}, ...asked }: Asked = {}): string {
  const clientId = asked.clientId ?? org.web.application.id;
  const { parameters } = authorizationRequest(clientId, asked.redirectUri ?? REDIRECT_URI);
  const present = Object.entries({ ...parameters, ...more }).filter(([, value]) => value !== undefined);
  return new URLSearchParams(present as [string, string][]).toString();
}

/** Sends an authorization request and follows it to a page, or to the address outside that it ends at. */
export async function visit(
  browser: TestBrowser,
  org: TestOrganisation,
  asked: Asked = {},
): Promise<TestPage> {
  return follow(browser, await browser.get(`${org.issuer}/authorize?${requestQuery(org, asked)}`));
}

/** Follows redirects for as long as they stay at the service. */
export async function follow(browser: TestBrowser, page: TestPage): Promise<TestPage> {
  let here = page;
  for (let step = 0; step < 10; step++) {
    if (here.location === undefined || new URL(here.location).origin !== new URL(here.url).origin)
      return here;
    here = await browser.get(here.location);
  }
  throw new Error(`the redirects do not end: ${here.location}`);
}

/** Sends the login page's form, and follows. */
export async function logIn(
  browser: TestBrowser,
  org: TestOrganisation,
  page: TestPage,
  typed: Readonly<Record<string, string>> = {},
): Promise<TestPage> {
  const { email, password } = org.user;
  return follow(
    browser,
    await browser.post(`${org.issuer}/login`, { ...page.hidden, email, password, ...typed }),
  );
}

/** Sends the consent page's form with a button pressed, and follows. */
export async function decide(
  browser: TestBrowser,
  org: TestOrganisation,
  page: TestPage,
  decision: "allow" | "deny" = "allow",
): Promise<TestPage> {
  return follow(browser, await browser.post(`${org.issuer}/authorize`, { ...page.hidden, decision }));
}

/** From a new browser to a session, and consent to the web application for the scopes asked. */
export async function signInAndConsent(
  browser: TestBrowser,
  org: TestOrganisation,
  asked: Asked = {},
  typed: Readonly<Record<string, string>> = {},
): Promise<TestPage> {
  const page = await logIn(browser, org, await visit(browser, org, asked), typed);
  return showsConsent(page) ? decide(browser, org, page) : page;
}

/** The tokens of the web application for who is signed in in this browser, or signs in for it. */
export async function tokensOf(
  browser: TestBrowser,
  org: TestOrganisation,
  more: Readonly<Record<string, string>> = {},
  client = org.web,
) {
  const { query, verifier } = authorizationRequest(client.application.id, REDIRECT_URI, more);
  let page = await follow(browser, await browser.get(`${org.issuer}/authorize?${query}`));
  const asked = showsLogin(page);
  if (asked) page = await logIn(browser, org, page);
  if (showsConsent(page)) page = await decide(browser, org, page);
  const code = answerOf(page).get("code");
  if (code === null) throw new Error(`no code: ${answerOf(page)}`);
  const { status, body } = await redeem(org, { code, verifier }, client);
  if (status !== 200) throw new Error(`no tokens: ${status} ${JSON.stringify(body)}`);
  const idToken = String(body["id_token"]);
  const claims = JSON.parse(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString()) as {
    readonly sub: string;
    readonly sid: string;
    readonly auth_time: number;
  };
  const { access_token: accessToken, refresh_token: refreshToken } = body;
  return { asked, idToken, claims, accessToken: String(accessToken), refreshToken: String(refreshToken) };
}

/** The parameters with which the browser was sent outside, whether in the query or in the fragment. */
export function answerOf({ location, status, body }: TestPage): URLSearchParams {
  if (location === undefined) throw new Error(`not sent anywhere: ${status} ${body.slice(0, 1_000)}`);
  const { search, hash } = new URL(location);
  return new URLSearchParams(search === "" ? hash.slice(1) : search);
}

export const showsLogin = ({ body }: TestPage): boolean => body.includes('id="login-submit"');
export const showsConsent = ({ body }: TestPage): boolean => body.includes('id="consent-allow"');
export const showsAccountChoice = ({ body }: TestPage): boolean => body.includes('id="account-continue"');

/** The name and value of the organisation's session cookie in this browser. */
export function sessionCookie(browser: TestBrowser, org: TestOrganisation): [string, string] | undefined {
  return [...browser.cookies].find(([name]) => name.endsWith(`signet-${org.organisation.id}`));
}

/** The same organisation, with another of its users to sign in as. */
export async function withUser(
  service: Service,
  org: TestOrganisation,
  email: string,
): Promise<TestOrganisation> {
  const id = await createUser(service, {
    organisation: org.organisation,
    email,
    password: PASSWORD,
    firstname: "Otto",
    surname: "Other",
    role: "Standard",
    emailVerified: true,
    actor: "test",
  });
  return { ...org, user: { id, email, password: PASSWORD } };
}
