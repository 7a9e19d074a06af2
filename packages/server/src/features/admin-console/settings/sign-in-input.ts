/** What the form of the sign-in page holds: one text per field, empty where there is none. */
import {
  type BrandingLink,
  brandingLinks,
  isBrandingLink,
} from "../../../core/organisations/branding-links.ts";
import type { Organisation, OrganisationSettings } from "../../../core/organisations/organisation.ts";
import {
  isSignInText,
  type SignInTextPart,
  type SignInTexts,
  signInTextParts,
} from "../../../core/organisations/sign-in-texts.ts";
import { isAccentColour, isReadableAccent } from "../../../html/accent.ts";
import { LOCALES, type Messages } from "../../../html/messages/messages.ts";

export type TextField = `${SignInTextPart}-${string}`;
export type SignInInput = { name: string; accentColor: string } & Record<BrandingLink, string> & {
    [field in TextField]: string;
  };

export const textField = (part: SignInTextPart, locale: string): TextField => `${part}-${locale}`;

const everyText = LOCALES.flatMap((locale) => signInTextParts.map((part) => [part, locale] as const));

const inputOf = (
  brand: Pick<SignInInput, "name" | "accentColor">,
  read: (field: BrandingLink | TextField) => string,
): SignInInput => ({
  ...brand,
  ...(Object.fromEntries(brandingLinks.map((name) => [name, read(name)])) as Record<BrandingLink, string>),
  ...Object.fromEntries(
    everyText.map(([part, locale]) => [textField(part, locale), read(textField(part, locale))]),
  ),
});

export const toSignInInput = ({ name, settings: { branding } }: Organisation): SignInInput =>
  inputOf({ name, accentColor: branding.accentColor ?? "" }, (field) => {
    const link = brandingLinks.find((one) => one === field);
    if (link !== undefined) return branding[link] ?? "";
    const [part = "", locale = ""] = field.split("-");
    return branding.signInTexts?.[locale]?.[part as SignInTextPart] ?? "";
  });

const MAX_TYPED = 1_000;

export const readSignInInput = (values: ReadonlyMap<string, string>): SignInInput =>
  inputOf(
    {
      name: (values.get("name") ?? "").slice(0, 300).trim(),
      accentColor: (values.get("accentColor") ?? "").slice(0, 20).trim().toLowerCase(),
    },
    (field) => (values.get(field) ?? "").slice(0, MAX_TYPED).trim().replace(/\s+/g, " "),
  );

/** Faults by field. The shades that pages derive from the colour must reach WCAG AA on light and on dark. */
export function signInFaults(input: SignInInput, messages: Messages): Record<string, string> {
  const { faults } = messages.console.settings;
  const { accentColor } = input;
  const colour =
    accentColor === "" || isReadableColour(accentColor)
      ? {}
      : { accentColor: isAccentColour(accentColor) ? faults.contrast : faults.colour };
  const links = brandingLinks
    .filter((name) => input[name] !== "" && !isBrandingLink(name, input[name]))
    .map((name) => [name, faults.link]);
  const texts = everyText
    .map(([part, locale]) => [part, input[textField(part, locale)] ?? "", textField(part, locale)] as const)
    .filter(([part, text]) => text !== "" && !isSignInText(part, text))
    .map(([, , field]) => [field, faults.text]);
  return { ...colour, ...Object.fromEntries([...texts, ...links]) };
}

const isReadableColour = (colour: string): boolean => isAccentColour(colour) && isReadableAccent(colour);

/** Languages that the form does not show keep their texts. */
export function brandingOf(
  input: SignInInput,
  before: OrganisationSettings["branding"],
): OrganisationSettings["branding"] {
  const { accentColor: _, signInTexts: __, helpUri, privacyUri, termsUri, ...others } = before;
  const texts = textsOf(input, before.signInTexts);
  return {
    ...others,
    ...(input.accentColor === "" ? {} : { accentColor: input.accentColor }),
    ...Object.fromEntries(
      brandingLinks.filter((name) => input[name] !== "").map((name) => [name, input[name]]),
    ),
    ...(Object.keys(texts).length === 0 ? {} : { signInTexts: texts }),
  };
}

function textsOf(input: SignInInput, before: SignInTexts = {}): SignInTexts {
  const typed = LOCALES.map((locale) => {
    const parts = signInTextParts.map((part) => [part, input[textField(part, locale)] ?? ""] as const);
    return [locale, Object.fromEntries(parts.filter(([, text]) => text !== ""))] as const;
  });
  const others = Object.entries(before).filter(([locale]) => !LOCALES.includes(locale));
  return Object.fromEntries([...others, ...typed.filter(([, parts]) => Object.keys(parts).length > 0)]);
}

/** What of a draft could be saved, in place of what is stored. */
export const withoutFaults = (
  draft: SignInInput,
  stored: SignInInput,
  faults: Readonly<Record<string, string>>,
): SignInInput =>
  ({
    ...draft,
    ...Object.fromEntries(Object.keys(faults).map((field) => [field, stored[field as TextField]])),
  }) as SignInInput;
