/** Every page names the languages there are; an `Intl.DisplayNames` takes as long as a tenth of a page. Few are ever asked for. */
const known = new Map<string, string>();
const MAX_KNOWN = 100;

/**
 * What a language calls itself, for whoever cannot read the one that the page is in: `Deutsch`, `Français`. What is none,
 * as an older version may have kept it, is called what it is.
 */
export function languageName(locale: string): string {
  const name = known.get(locale) ?? ownName(locale);
  if (known.size < MAX_KNOWN) known.set(locale, name);
  return name;
}

function ownName(locale: string): string {
  try {
    const name = new Intl.DisplayNames([locale], { type: "language" }).of(locale) ?? locale;
    const [first = ""] = name;
    return `${first.toLocaleUpperCase(locale)}${name.slice(first.length)}`;
  } catch {
    return locale;
  }
}
