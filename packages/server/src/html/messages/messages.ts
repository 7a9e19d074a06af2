import { da } from "./da/da.ts";
import { de } from "./de/de.ts";
import { en, type Messages } from "./en/en.ts";
import { es } from "./es/es.ts";
import { fr } from "./fr/fr.ts";

export type { Messages };

export const LANGUAGES: readonly Messages[] = [en, de, fr, es, da];

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

/** The first language in the list that there is a message file for (`de-CH` is served by `de`), else English. */
export function messages(locales: readonly string[]): Messages {
  for (const locale of locales) {
    const language = locale.split("-")[0]?.toLowerCase();
    const found = LANGUAGES.find((candidate) => candidate.locale === language);
    if (found) return found;
  }
  return en;
}
