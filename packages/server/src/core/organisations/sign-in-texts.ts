/** What an organisation says on its own sign-in page: a heading and a short text, plain, in each language. */

export const signInTextParts = ["heading", "text"] as const;
export type SignInTextPart = (typeof signInTextParts)[number];

/** In characters. */
export const signInTextLengths: Readonly<Record<SignInTextPart, number>> = { heading: 80, text: 300 };

export type SignInText = Readonly<Partial<Record<SignInTextPart, string>>>;

/** By language. */
export type SignInTexts = Readonly<Record<string, SignInText>>;

/** One line; control and bidirectional characters could make it look like something else. */
export const isSignInText = (part: SignInTextPart, text: string): boolean =>
  text.trim() !== "" &&
  [...text].length <= signInTextLengths[part] &&
  !/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(text);

/** In the reader's language, else in that of the organisation; each part by itself. */
export function signInTextFor(
  texts: SignInTexts | undefined,
  locales: { readonly locale: string; readonly defaultLocale: string },
): SignInText {
  const of = (locale: string): SignInText =>
    texts && Object.hasOwn(texts, locale) ? (texts[locale] ?? {}) : {};
  return { ...of(locales.defaultLocale), ...of(locales.locale) };
}
