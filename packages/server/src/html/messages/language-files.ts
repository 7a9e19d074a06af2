/** A language's texts (`locales/<language>/*.json`, ICU MessageFormat) as the pages use them. */
import { readdirSync, readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import path from "node:path";
import { IntlMessageFormat } from "intl-messageformat";
import { type Format, formatOf, messageFormatters, messageStyles, regionalLocale } from "./format.ts";
import type { Texts } from "./texts/texts.ts";

/** Every text of every page, and how the language writes times and numbers. */
export type Messages = Texts & {
  readonly locale: string;
  readonly product: "Signet";
  readonly format: Format;
};

type Tree = { [key: string]: string | Tree };
type Compile = (text: string) => unknown;

export const localesFolder: string = path.join(
  path.dirname(findPackageJSON(import.meta.url) ?? ""),
  "locales",
);

/** Reads a language: the keys in all its files together are the paths of the texts. */
export function readLanguage(locale: string): Messages {
  const folder = path.join(localesFolder, locale);
  const format = formatOf(locale);
  const texts: Record<string, unknown> = { locale, product: "Signet", format };
  const compile = compilerOf(locale, format);
  for (const file of readdirSync(folder))
    addTexts(texts, JSON.parse(readFileSync(path.join(folder, file), "utf8")) as Tree, compile);
  return texts as Messages;
}

function addTexts(target: Record<string, unknown>, tree: Tree, compile: Compile): void {
  for (const [key, text] of Object.entries(tree)) {
    if (typeof text === "string") {
      target[key] = compile(text);
      continue;
    }
    target[key] ??= {};
    addTexts(target[key] as Record<string, unknown>, text, compile);
  }
}

/** A text without arguments stays a string; one with arguments becomes a function of them, parsed at its first use. */
function compilerOf(locale: string, format: Format): Compile {
  const options = { ignoreTag: true, formatters: messageFormatters(locale, format) };
  const parse = (text: string) =>
    new IntlMessageFormat(text, regionalLocale(locale), messageStyles, options) as {
      format(values?: Record<string, string | number>): string;
    };
  return (text) => {
    if (!/[{']/.test(text)) return text;
    if (!/\{/.test(text.replace(/'[{}][^']*'?/g, ""))) return parse(text).format();
    let parsed: ReturnType<typeof parse> | undefined;
    return (values: Record<string, string | number>) => {
      parsed ??= parse(text);
      return parsed.format(values);
    };
  };
}
