/** What a language calls itself, for whoever cannot read the one that the page is in: `Deutsch`, `Français`. */
export function languageName(locale: string): string {
  const name = new Intl.DisplayNames([locale], { type: "language" }).of(locale) ?? locale;
  const [first = ""] = name;
  return `${first.toLocaleUpperCase(locale)}${name.slice(first.length)}`;
}
