/** What stands in packages/server/locales: the texts of a language by path, with the arguments of each. */

import path from "node:path";
import { type MessageFormatElement, parse, TYPE } from "@formatjs/icu-messageformat-parser";
import type { Fault } from "./house-rules/fault.ts";
import { readFiles, repositoryRoot, type SourceFile } from "./source-files.ts";

export type ArgumentType = "string" | "number";
export type Text = {
  file: string;
  line: number;
  path: readonly string[];
  text: string;
  arguments: Map<string, ArgumentType>;
};
/** By the path of a text in its file, which is its path in the code: `signIn.heading`. */
export type Texts = Map<string, Text>;

export const localesFolder = "packages/server/locales";

/** The styles that the server knows (html/messages/format.ts). */
const dateStyles = new Set(["day", "minute", "second"]);
const numberStyles = new Set(["duration", "lifetime", "share"]);

type Tree = { [key: string]: unknown };

export async function readLocaleFiles(): Promise<SourceFile[]> {
  const files = await readFiles(path.join(repositoryRoot, localesFolder), [".json"]);
  return files.map((file) => ({ ...file, path: `${localesFolder}/${file.path}` }));
}

/** The texts of each language. What cannot be read is reported and left out. */
export function readTexts(files: SourceFile[]): { languages: Map<string, Texts>; faults: Fault[] } {
  const languages = new Map<string, Texts>();
  const faults: Fault[] = [];
  for (const file of files) {
    const language = file.path.slice(localesFolder.length + 1).split("/")[0] ?? "";
    const texts = languages.get(language) ?? new Map();
    languages.set(language, texts);
    const tell = (line: number, message: string) =>
      faults.push({ file: file.path, line, rule: "texts", message });
    const tree = parseJson(file, tell);
    if (tree) addTexts(texts, file, tree, tell);
  }
  return { languages, faults };
}

type Tell = (line: number, message: string) => void;

function parseJson({ text }: SourceFile, tell: Tell): Tree | undefined {
  try {
    return JSON.parse(text) as Tree;
  } catch (error) {
    tell(1, `no JSON: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

function addTexts(texts: Texts, file: SourceFile, tree: Tree, tell: Tell): void {
  const lines = file.text.split("\n");
  // The keys come in the order of the file, so each is looked for after the one before.
  let line = 0;
  function walk(members: Tree, path: readonly string[]): void {
    for (const [key, value] of Object.entries(members)) {
      const found = lines.findIndex((text, at) => at >= line && text.includes(`${JSON.stringify(key)}:`));
      line = found < 0 ? line : found + 1;
      if (typeof value === "string") addText([...path, key], value);
      else if (typeof value === "object" && value !== null && !Array.isArray(value))
        walk(value as Tree, [...path, key]);
      else tell(line, `${[...path, key].join(".")} is no text`);
    }
  }
  function addText(path: readonly string[], text: string): void {
    const name = path.join(".");
    const other = texts.get(name);
    if (other) tell(line, `${name} is in ${other.file} too`);
    try {
      texts.set(name, { file: file.path, line, path, text, arguments: argumentsOf(text) });
    } catch (error) {
      tell(line, `${name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  walk(tree, []);
}

/** @throws an Error when the text is not ICU MessageFormat, or uses what the server does not know */
export function argumentsOf(text: string): Map<string, ArgumentType> {
  const found = new Map<string, ArgumentType>();
  const add = (name: string, type: ArgumentType) => {
    if (found.get(name) !== "number") found.set(name, type);
  };
  function walk(elements: readonly MessageFormatElement[]): void {
    for (const element of elements) {
      if (element.type === TYPE.literal || element.type === TYPE.pound) continue;
      if (element.type === TYPE.time || element.type === TYPE.tag)
        throw new Error(`{${element.value}}: times are written with date, and there are no tags`);
      if (element.type === TYPE.date) requireStyle(element.style, dateStyles);
      if (element.type === TYPE.number && element.style) requireStyle(element.style, numberStyles);
      const isText = element.type === TYPE.argument || element.type === TYPE.select;
      add(element.value, isText ? "string" : "number");
      if (element.type === TYPE.select || element.type === TYPE.plural)
        for (const option of Object.values(element.options)) walk(option.value);
    }
  }
  walk(parse(text, { ignoreTag: true }));
  return found;
}

function requireStyle(style: unknown, known: ReadonlySet<string>): void {
  if (typeof style !== "string" || !known.has(style))
    throw new Error(`the style ${JSON.stringify(style)} is none of ${[...known].join(", ")}`);
}
