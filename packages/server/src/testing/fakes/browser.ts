/** A minimal HTTP browser: cookies and forms; the test follows redirects itself. */
import { randomBytes } from "node:crypto";
import { s256Challenge } from "@signet/protocol/oauth/pkce";
import { ask, FORM_TYPE, type RawRequest } from "../ask.ts";

export interface TestBrowser {
  readonly cookies: Map<string, string>;
  get(url: string, headers?: Record<string, string>): Promise<TestPage>;
  /** @param form `URLSearchParams` where a field is there more than once */
  post(
    url: string,
    form: Record<string, string> | URLSearchParams,
    headers?: Record<string, string>,
  ): Promise<TestPage>;
}

export interface TestPage {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** Absolute; undefined unless the response is a redirect. */
  readonly location: string | undefined;
  /** The hidden fields of the page's form. */
  readonly hidden: Record<string, string>;
}

export function testBrowser(): TestBrowser {
  const cookies = new Map<string, string>();
  const send = async (url: string, sent: RawRequest): Promise<TestPage> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { ...sent.headers, ...(cookie === "" ? {} : { cookie }) };
    const { text: body, ...answer } = await ask(url, { ...sent, headers });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      const at = pair.indexOf("=");
      if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(pair.slice(0, at));
      else cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const location = answer.headers.get("location");
    return {
      url,
      ...answer,
      body,
      location: location === null ? undefined : new URL(location, url).href,
      hidden: hiddenFields(body),
    };
  };
  return {
    cookies,
    get: (url, headers = {}) => send(url, { method: "GET", headers }),
    post: (url, form, headers = {}) =>
      send(url, {
        method: "POST",
        headers: { "content-type": FORM_TYPE, ...headers },
        body: String(new URLSearchParams(form)),
      }),
  };
}

function hiddenFields(html: string): Record<string, string> {
  const fields = html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g);
  return Object.fromEntries([...fields].map(([, name = "", value = ""]) => [name, unescapeHtml(value)]));
}

const unescapeHtml = (text: string): string =>
  text.replace(
    /&(?:amp|lt|gt|quot|#39);/g,
    (entity) => ({ "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"' })[entity] ?? "'",
  );

/** An authorization request with PKCE. */
export function authorizationRequest(
  clientId: string,
  redirectUri: string,
  more: Record<string, string> = {},
) {
  const verifier = randomBytes(32).toString("base64url");
  const parameters = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: "openid profile email",
    state: randomBytes(8).toString("hex"),
    code_challenge: s256Challenge(verifier),
    code_challenge_method: "S256",
    ...more,
  };
  return { verifier, parameters, query: new URLSearchParams(parameters).toString() };
}

export interface SignInOptions {
  readonly issuer: string;
  readonly query: string;
  readonly email: string;
  readonly password: string;
  /** The button to press on the consent page, if it is shown. */
  readonly decision?: "allow" | "deny";
}

/**
 * Goes from the authorization request through sign-in and consent, as far as they are asked.
 * @returns the answer at the redirect URI, as its parameters
 */
export async function authorize(browser: TestBrowser, options: SignInOptions): Promise<URLSearchParams> {
  const { issuer, email, password, decision = "allow" } = options;
  let page = await browser.get(`${issuer}/authorize?${options.query}`);
  for (let step = 0; step < 10; step++) {
    if (page.location !== undefined && !page.location.startsWith(issuer))
      return new URL(page.location).searchParams;
    if (page.location !== undefined) page = await browser.get(page.location);
    else if (page.body.includes('id="password"'))
      page = await browser.post(`${issuer}/login`, { ...page.hidden, email, password });
    else if (page.body.includes('id="consent-allow"'))
      page = await browser.post(`${issuer}/authorize`, { ...page.hidden, decision });
    else if (page.body.includes('id="terms-submit"'))
      page = await browser.post(`${issuer}/terms`, { ...page.hidden, decision: "accept" });
    else throw new Error(`a page that nobody expected: ${page.status} ${page.body.slice(0, 2_000)}`);
    if (page.status >= 400) throw new Error(`${page.url} answered ${page.status}`);
  }
  throw new Error("the flow does not end");
}
