/**
 * What a language calls itself, for whoever cannot read the one that the page is in: `Deutsch`, `Français`. What is none,
 * as an older version may have kept it, is called what it is.
 */
export function languageName(locale: string): string {
  try {
    const name = new Intl.DisplayNames([locale], { type: "language" }).of(locale) ?? locale;
    const [first = ""] = name;
    return `${first.toLocaleUpperCase(locale)}${name.slice(first.length)}`;
  } catch {
    return locale;
  }
}
