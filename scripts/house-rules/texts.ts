import { textTypes, typesFolder } from "../../generators/text-types.ts";
import { usedTexts } from "../../generators/text-usage.ts";
import { localesFolder, readTexts, type Text, type Texts } from "../locale-files.ts";
import type { SourceFile } from "../source-files.ts";
import { type Fault, isTestCode } from "./fault.ts";

const serverSources = "packages/server/src/";

/**
 * Every language has the English texts with the same arguments, every text is ICU MessageFormat and is used, and the types
 * that the compiler knows of them are theirs.
 */
export function textFaults(localeFiles: SourceFile[], files: SourceFile[]): Fault[] {
  const { languages, faults } = readTexts(localeFiles);
  const english: Texts = languages.get("en") ?? new Map();
  for (const [language, texts] of languages)
    if (language !== "en") faults.push(...differences(english, texts, language));
  return [...faults, ...staleTypes(english, files), ...unusedTexts(english, files)];
}

const fault = (file: string, line: number, message: string): Fault => ({
  file,
  line,
  rule: "texts",
  message,
});

function differences(english: Texts, texts: Texts, language: string): Fault[] {
  const faults: Fault[] = [];
  for (const [name, text] of english) {
    const file = text.file.replace(`${localesFolder}/en/`, `${localesFolder}/${language}/`);
    const own = texts.get(name);
    if (!own) faults.push(fault(file, 1, `${name} is missing`));
    else if (own.file !== file) faults.push(fault(own.file, own.line, `${name} belongs into ${file}`));
    else if (argumentsOf(own) !== argumentsOf(text))
      faults.push(
        fault(file, own.line, `${name} has ${argumentsOf(own)}, the English text ${argumentsOf(text)}`),
      );
  }
  for (const [name, { file, line }] of texts)
    if (!english.has(name)) faults.push(fault(file, line, `${name} is no English text`));
  return faults;
}

function argumentsOf(text: Text): string {
  const listed = [...text.arguments].map(([name, type]) => `${name}: ${type}`).sort();
  return listed.length === 0 ? "no arguments" : listed.join(", ");
}

function staleTypes(english: Texts, files: SourceFile[]): Fault[] {
  const current = new Map(textTypes(english).map(({ path, text }) => [path, text]));
  const present = files.filter(({ path }) => isTypes(path));
  const stale = present.filter(({ path, text }) => current.get(path) !== text).map(({ path }) => path);
  const missing = [...current.keys()].filter((file) => !present.some(({ path }) => path === file));
  return [...stale, ...missing].map((file) =>
    fault(file, 1, "is not that of the English texts: npm run generate:texts"),
  );
}

const isTypes = (file: string) => file.startsWith(`${typesFolder}/`);

function unusedTexts(english: Texts, files: SourceFile[]): Fault[] {
  const sources = files.filter(
    ({ path }) => path.startsWith(serverSources) && !isTestCode(path) && !isTypes(path),
  );
  const used = usedTexts(
    [...english.values()].map(({ path }) => path),
    sources,
  );
  return [...english]
    .filter(([name]) => !used.has(name))
    .map(([name, { file, line }]) => fault(file, line, `${name} is used nowhere`));
}
