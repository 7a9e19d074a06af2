/** Chooses the language of a page. */
import { type Messages, readLanguage } from "./language-files.ts";

export type { Messages };

/** The languages that there are texts in. The first is for users who read none of them. */
export const LOCALES: readonly string[] = ["en", "de", "fr", "es", "da"];

const languages = new Map<string, Messages>();

/** Languages read from one request: the lists are unauthenticated input. */
const MAX_LANGUAGES = 20;

/**
 * The languages a person can read, best first: the application's `ui_locales` (OIDC Core §3.1.2.1, separated by
 * spaces), then the browser's `Accept-Language` (RFC 9110 §12.5.4), then the organisation's own. Malformed parts are left
 * out.
 */
export function preferredLocales(uiLocales?: string, acceptLanguage?: string, otherwise?: string): string[] {
  const requested = (uiLocales ?? "").split(" ");
  const accepted = (acceptLanguage ?? "")
    .split(",")
    .slice(0, MAX_LANGUAGES)
    .map((part) => {
      const [tag = "", ...parameters] = part.split(";").map((piece) => piece.trim());
      const quality = parameters.find((piece) => /^q=/i.test(piece))?.slice(2) ?? "1";
      return { tag, quality: Number(quality) };
    })
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality)
    .map(({ tag }) => tag);
  return [...requested, ...accepted]
    .filter((tag) => /^[a-z]{2,8}(-[a-z0-9]{1,8})*$/i.test(tag))
    .slice(0, MAX_LANGUAGES)
    .concat(otherwise ?? []);
}

/** The first language in the list that there are texts in (`de-CH` is served by `de`), else English. */
export function messages(locales: readonly string[]): Messages {
  const preferred = locales.map((locale) => locale.split("-")[0]?.toLowerCase() ?? "");
  const locale = preferred.find((language) => LOCALES.includes(language)) ?? "en";
  const known = languages.get(locale) ?? readLanguage(locale);
  languages.set(locale, known);
  return known;
}
