/** A browser's session with the service: the cookies that a signed-in person's browser would send. */
export type BrowserSession = { cookie: string };

const mostSteps = 8;

/**
 * Signs a user in as a browser does: opens the authorization address, fills in the pages' forms (sign-in, consent)
 * and follows the redirects until the application's address comes up. Returns the session that is left.
 */
export async function signIn(
  authorizeUrl: string,
  redirectUri: string,
  answers: Record<string, string>,
): Promise<BrowserSession> {
  const jar = new Map<string, string>();
  const cookie = () => [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
  let next: { url: string; form?: URLSearchParams } = { url: authorizeUrl };
  for (let step = 0; step < mostSteps; step += 1) {
    const response: Response = await fetch(next.url, {
      ...(next.form === undefined ? {} : { method: "POST", body: next.form }),
      headers: {
        ...{ cookie: cookie(), origin: new URL(next.url).origin, accept: "text/html" },
        "sec-fetch-site": "same-origin",
      },
      redirect: "manual",
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (name !== undefined && value !== undefined) jar.set(name, value);
    }
    const location = response.headers.get("location");
    const target = location === null ? undefined : new URL(location, next.url).href;
    const page = await response.text();
    if (target?.startsWith(redirectUri)) return { cookie: cookie() };
    if (target !== undefined) next = { url: target };
    else if (response.status === 200) next = filledForm(page, next.url, answers);
    else throw new Error(`sign-in stopped with ${response.status}: ${page.slice(0, 300)}`);
  }
  throw new Error("sign-in did not come back to the application");
}

/**
 * The page's form as it would be sent: its hidden fields, and of `answers` those for which it has a field or button.
 * Throws when there is no form.
 */
export function filledForm(
  page: string,
  pageUrl: string,
  answers: Record<string, string>,
): { url: string; form: URLSearchParams } {
  const [, attributes = "", content] = /<form\b([^>]*)>([\s\S]*?)<\/form>/i.exec(page) ?? [];
  if (content === undefined) throw new Error(`a page without a form: ${page.slice(0, 300)}`);
  const form = new URLSearchParams();
  for (const [tag] of content.matchAll(/<(?:input|button)\b[^>]*>/gi)) {
    const name = attribute(tag, "name");
    if (name === undefined) continue;
    const answer = answers[name];
    if (answer !== undefined) form.set(name, answer);
    else if (attribute(tag, "type") === "hidden") form.set(name, attribute(tag, "value") ?? "");
  }
  return { url: new URL(attribute(attributes, "action") ?? pageUrl, pageUrl).href, form };
}

function attribute(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\b${name}="([^"]*)"`, "i").exec(tag)?.[1];
  return value?.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");
}
