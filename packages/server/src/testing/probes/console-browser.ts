/** A signed-in administrator in the console who submits forms as a browser does. */

import { type TestBrowser, type TestPage, testBrowser } from "../fakes/browser.ts";
import type { SeededRecords } from "../fixtures/planted-records.ts";
import { follow, logIn } from "../fixtures/visit.ts";
import type { TestService } from "../test-service.ts";

export interface ConsoleBrowser {
  readonly browser: TestBrowser;
  /** @param rest below the organisation's console */
  get(rest: string): Promise<TestPage>;
  post(rest: string, form: Record<string, string> | URLSearchParams): Promise<TestPage>;
  /** Sends the form of a page, with other values in some fields. */
  send(rest: string, changes?: Record<string, string | undefined>): Promise<TestPage>;
}

export async function consoleBrowser(
  running: TestService,
  org: Pick<SeededRecords, "organisation" | "administrator"> & Parameters<typeof logIn>[1],
): Promise<ConsoleBrowser> {
  const browser = testBrowser();
  const base = `${running.baseUrl}/oauth/manage/${org.organisation.id}`;
  const signInPage = await follow(browser, await browser.get(`${base}/confirm-identity`));
  await logIn(browser, { ...org, user: org.administrator }, signInPage);
  const get = (rest: string) => browser.get(base + rest);
  const post = (rest: string, form: Record<string, string> | URLSearchParams) =>
    browser.post(base + rest, form);
  return {
    browser,
    get,
    post,
    send: async (rest, changes = {}) => {
      const page = await get(rest);
      if (page.status !== 200) throw new Error(`${rest} answered ${page.status}`);
      return post(rest.replace(/\?.*/, ""), formOfPage(page, changes));
    },
  };
}

/** The fields that the page's first form submits; the sign-out of the menu stands before it. @param changes undefined omits a field */
export function formOfPage(
  { body }: Pick<TestPage, "body">,
  changes: Record<string, string | undefined> = {},
): URLSearchParams {
  const form = /<form[^>]*method="post"[\s\S]*?<\/form>/.exec(body.slice(body.indexOf("<main")))?.[0] ?? "";
  const fields = new URLSearchParams();
  for (const [, tag = "", attributes = "", content = ""] of form.matchAll(
    /<(input|textarea|select)\b([^>]*)>(?:([\s\S]*?)<\/\1>)?/g,
  )) {
    const name = attributeOf(attributes, "name");
    const type = attributeOf(attributes, "type");
    const isTicked = type !== "checkbox" && type !== "radio" ? true : / checked/.test(attributes);
    if (name === undefined || !isTicked) continue;
    if (tag === "input") fields.append(name, attributeOf(attributes, "value") ?? "on");
    if (tag === "textarea") fields.append(name, plain(content.replace(/^\n/, "")));
    if (tag === "select")
      fields.append(name, attributeOf(/<option[^>]* selected/.exec(content)?.[0] ?? "", "value") ?? "");
  }
  for (const [name, value] of Object.entries(changes)) {
    fields.delete(name);
    if (value !== undefined) fields.append(name, value);
  }
  return fields;
}

function attributeOf(attributes: string, name: string): string | undefined {
  const found = new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1];
  return found === undefined ? undefined : plain(found);
}

/** The text between tags, with its escapes resolved. */
export const plain = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => escapes[entity] ?? entity);

const escapes: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

/** The text of an element without child elements. */
export function textOf({ body }: Pick<TestPage, "body">, id: string): string | undefined {
  const found = new RegExp(`id="${id}"[^>]*>([^<]*)<`).exec(body)?.[1];
  return found === undefined ? undefined : plain(found);
}
