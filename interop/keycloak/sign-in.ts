/** A person at Keycloak's pages: signs in there, and is brought back by whichever way the protocol has. */
import assert from "node:assert/strict";
import type { TestBrowser, TestPage } from "../../packages/server/src/testing/fakes/browser.ts";

const unescaped = (text: string): string =>
  text.replaceAll("&amp;", "&").replaceAll("&#x3d;", "=").replaceAll("&quot;", '"');

const fieldOf = (body: string, name: string): string | undefined => {
  const [input] = new RegExp(`<input[^>]*name="${name}"[^>]*>`, "i").exec(body) ?? [];
  const value = input && /value="([^"]*)"/i.exec(input)?.[1];
  return value === undefined ? undefined : unescaped(value);
};

/** A form that a script sends: SAML by POST. */
function postedForm(
  body: string,
): { readonly action: string; readonly form: Record<string, string> } | undefined {
  const names = ["SAMLRequest", "SAMLResponse", "RelayState"] as const;
  const values = names.flatMap((name) => {
    const value = fieldOf(body, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const action = /<form[^>]*action="([^"]*)"/i.exec(body)?.[1];
  if (values.every(([name]) => name === "RelayState") || action === undefined) return undefined;
  return { action: unescaped(action), form: Object.fromEntries(values) };
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/**
 * Follows redirects, forms that scripts send, and Keycloak's sign-in page.
 * @param isEnd a page, or a redirect, that is not gone on from
 * @returns it, and whether Keycloak has asked who it is
 */
export async function goThrough(
  browser: TestBrowser,
  page: TestPage,
  { username, password }: Credentials,
  isEnd: (page: TestPage) => boolean,
): Promise<TestPage & { readonly hasAsked: boolean }> {
  let here = page;
  let hasAsked = false;
  for (let step = 0; step < 20; step++) {
    if (isEnd(here)) return { ...here, hasAsked };
    const posted = here.location === undefined ? postedForm(here.body) : undefined;
    const login = /<form[^>]*id="kc-form-login"[^>]*>/.exec(here.body)?.[0];
    if (here.location !== undefined) here = await browser.get(here.location);
    else if (posted) here = await browser.post(posted.action, posted.form);
    else if (login !== undefined) {
      assert.equal(hasAsked, false, "the password was taken");
      hasAsked = true;
      const action = unescaped(/action="([^"]*)"/.exec(login)?.[1] ?? "");
      here = await browser.post(action, { username, password, credentialId: "" });
    } else
      throw new Error(`a page that nobody expected: ${here.url} ${here.status} ${here.body.slice(0, 3_000)}`);
  }
  throw new Error(`it does not end: ${here.url}`);
}
