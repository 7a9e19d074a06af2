import { type Messages, readLanguage } from "./language-files.ts";

export type { Messages };

/** The languages that there are texts in. The first serves who reads none of them. */
export const LOCALES: readonly string[] = ["en", "de", "fr", "es", "da"];

const languages = new Map<string, Messages>();

/** The most languages that are looked at in one request: the lists come from strangers. */
const MOST_WISHES = 20;

/**
 * The languages a person can read, best first: the application's `ui_locales` (OIDC Core §3.1.2.1, separated by
 * spaces), then the browser's `Accept-Language` (RFC 9110 §12.5.4), then the organisation's own. Malformed parts are left
 * out.
 */
export function preferredLocales(uiLocales?: string, acceptLanguage?: string, otherwise?: string): string[] {
  const asked = (uiLocales ?? "").split(" ");
  const accepted = (acceptLanguage ?? "")
    .split(",")
    .slice(0, MOST_WISHES)
    .map((part) => {
      const [tag = "", ...parameters] = part.split(";").map((piece) => piece.trim());
      const quality = parameters.find((piece) => /^q=/i.test(piece))?.slice(2) ?? "1";
      return { tag, quality: Number(quality) };
    })
    .filter((wish) => wish.quality > 0)
    .sort((one, other) => other.quality - one.quality)
    .map((wish) => wish.tag);
  return [...asked, ...accepted]
    .filter((tag) => /^[a-z]{2,8}(-[a-z0-9]{1,8})*$/i.test(tag))
    .slice(0, MOST_WISHES)
    .concat(otherwise ?? []);
}

/** The first language in the list that there are texts in (`de-CH` is served by `de`), else English. */
export function messages(locales: readonly string[]): Messages {
  const wishes = locales.map((locale) => locale.split("-")[0]?.toLowerCase() ?? "");
  const locale = wishes.find((wish) => LOCALES.includes(wish)) ?? "en";
  const known = languages.get(locale) ?? readLanguage(locale);
  languages.set(locale, known);
  return known;
}
