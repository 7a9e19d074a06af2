/**
 * A template tag that cannot forget to escape: every interpolation is text unless it is itself `Html`.
 * Pages are strings built once per request, so there is no virtual tree and nothing to configure.
 */

const markup: unique symbol = Symbol("html");

/** A piece of finished markup. Only `html` and `raw` make one: the symbol keeps parsed JSON from posing as markup. */
export type Html = { readonly [markup]: string };

/** What may stand between the braces of a template: text is escaped, `undefined`, `null` and `false` are nothing. */
export type Content = string | number | Html | false | null | undefined | readonly Content[];

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}

function toMarkup(content: Content): string {
  if (content === undefined || content === null || content === false) return "";
  if (typeof content === "string") return escapeText(content);
  if (typeof content === "number") return String(content);
  if (isHtml(content)) return content[markup];
  return content.map(toMarkup).join("");
}

function isHtml(content: Html | readonly Content[]): content is Html {
  return Object.hasOwn(content, markup);
}

/**
 * Builds markup from a template; every interpolation is escaped for text and for quoted attributes.
 * @throws TypeError when an interpolation stands in an attribute without quotes, where escaping would not hold.
 */
export function html(literals: TemplateStringsArray, ...contents: readonly Content[]): Html {
  let text = literals[0] ?? "";
  contents.forEach((content, index) => {
    if (literals[index]?.endsWith("=")) throw new TypeError("an interpolated attribute value needs quotes");
    text += toMarkup(content) + (literals[index + 1] ?? "");
  });
  return { [markup]: text };
}

/** Trusts its argument as markup: only for constants of this source tree, never for a stored or received value. */
export function raw(constant: string): Html {
  return { [markup]: constant };
}

/** The finished text of a page or a piece of one. */
export function render(content: Html): string {
  return content[markup];
}

/** As `linkAddress`, and `mailto:` of one address: for a help contact. */
export const contactAddress = (address: string | undefined): string | undefined =>
  address !== undefined && /^mailto:[^\s?&%]+@[^\s?&%]+$/.test(address) ? address : linkAddress(address);

/**
 * An address that is safe to put in `href`: http, https, or a path of this server.
 * Anything else (`javascript:`, `data:`, `//elsewhere`) gives undefined, so that the caller shows no link.
 */
export function linkAddress(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  // Browsers drop tabs and line breaks: `/`, a tab, `/elsewhere` is `//elsewhere`.
  if (/^\/(?![/\\])[^\t\r\n]*$/.test(address)) return address;
  if (!URL.canParse(address)) return undefined;
  const { protocol } = new URL(address);
  return protocol === "https:" || protocol === "http:" ? address : undefined;
}
