/**
 * `npm run generate:reference`: docs/sdk/reference, a page for each entry of the client SDK's package.json, from the sources
 * and their docstrings. What no entry exports is not public and has no place there.
 */
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import ts from "typescript";
import { type DeclarationText, declarationText } from "./declaration-text.ts";
import { type Docstring, docstringOf, firstSentence } from "./docstring.ts";
import { type Declaration, type Entry, type Exported, readEntries } from "./sdk-entries.ts";

const root = path.join(import.meta.dirname, "..");
const sdk = path.join(root, "packages", "client-sdk");
export const referenceFolder = path.join(root, "docs", "sdk", "reference");

interface Item extends Exported {
  readonly doc: Docstring;
  readonly declaration: DeclarationText;
  readonly isFunction: boolean;
}

interface Page {
  readonly entry: Entry;
  readonly file: string;
  /** Functions and classes, then types; each in the order of the entry. */
  readonly items: readonly Item[];
  /** On an earlier page. */
  readonly elsewhere: readonly Exported[];
}

/** Where a declaration is told of. */
interface Place {
  readonly file: string;
  readonly anchor: string;
}

/**
 * The pages by file name.
 *
 * @throws Error for what is exported without a docstring, or has a type in it that nobody can import
 */
export function referencePages(): Map<string, string> {
  const told = new Set<Declaration>();
  const pages = readEntries(sdk).map((entry): Page => {
    const own = entry.exports.filter(({ node }) => !told.has(node));
    for (const { node } of own) told.add(node);
    const items = own.map(itemOf);
    return {
      entry,
      file: `${entry.specifier.replace(/^@signet\/client-sdk\/?/, "") || "index"}.md`,
      items: [...items.filter((item) => item.isFunction), ...items.filter((item) => !item.isFunction)],
      elsewhere: entry.exports.filter((one) => !own.includes(one)),
    };
  });
  const places = placesOf(pages);
  const written = pages.map((page) => [page.file, pageText(page, places)] as const);
  return new Map([["README.md", indexText(pages)], ...written]);
}

const warning = "<!-- Made by `npm run generate:reference` from the sources: do not edit. -->\n\n";

function itemOf(exported: Exported): Item {
  const { node, source, name } = exported;
  const comment = ts.getLeadingCommentRanges(source.text, node.pos)?.at(-1);
  const raw = comment && source.text.slice(comment.pos, comment.end);
  const isDocumented = raw?.startsWith("/**") ?? false;
  // A record of the service's API is told of by its members.
  if (!isDocumented && !ts.isTypeAliasDeclaration(node))
    throw new Error(`${name} has no docstring (${source.fileName})`);
  const isFunction = !ts.isInterfaceDeclaration(node) && !ts.isTypeAliasDeclaration(node);
  const doc = docstringOf(isDocumented && raw ? raw : "");
  if (isFunction && doc.text === "")
    throw new Error(`${name} does not say what it does (${source.fileName})`);
  return { ...exported, doc, declaration: declarationText(exported), isFunction };
}

/** Anchors as code hosts make them: lower case, and a number for a second one. */
function placesOf(pages: readonly Page[]): ReadonlyMap<Declaration, Place> {
  const places = new Map<Declaration, Place>();
  for (const { file, items } of pages) {
    const taken = new Map<string, number>();
    for (const { name, node } of items) {
      const slug = name.toLowerCase();
      const count = taken.get(slug) ?? 0;
      taken.set(slug, count + 1);
      places.set(node, { file, anchor: count === 0 ? slug : `${slug}-${count}` });
    }
  }
  return places;
}

function indexText(pages: readonly Page[]): string {
  const rows = pages.map(
    ({ entry, file }) => `| [\`${entry.specifier}\`](${file}) | ${firstSentence(headerOf(entry))} |\n`,
  );
  const about =
    "Every function and type that can be imported. The [guides](../README.md) tell when to use which.";
  return `${warning}# Client SDK reference\n\n${about}\n\n| Import | What is there |\n|---|---|\n${rows.join("")}`;
}

/** The comment that a file begins with. */
function headerOf({ source }: Entry): string {
  const comment = /^\/\*\*[\s\S]*?\*\//.exec(source.text)?.[0];
  if (!comment) throw new Error(`${source.fileName} does not say what it is`);
  return docstringOf(comment).text;
}

function pageText(page: Page, places: ReadonlyMap<Declaration, Place>): string {
  const { entry, file, items, elsewhere } = page;
  const link = (one: Exported): string => {
    const place = places.get(one.node);
    if (!place)
      throw new Error(
        `${one.name} stands in a public type, and no entry exports it (${one.source.fileName})`,
      );
    return `[${one.name}](${place.file === file ? "" : place.file}#${place.anchor})`;
  };
  const functions = items.filter((item) => item.isFunction);
  const types = items.filter((item) => !item.isFunction);
  const rows = functions.map((item) => `| ${link(item)} | ${firstSentence(item.doc.text)} |\n`);
  const parts = [
    `${warning}# ${entry.specifier}\n\n${headerOf(entry)}\n`,
    rows.length === 0 ? "" : `| Function | |\n|---|---|\n${rows.join("")}`,
    types.length === 0 ? "" : `Types: ${types.map(link).join(", ")}\n`,
    elsewhere.length === 0 ? "" : `Also exported here: ${elsewhere.map(link).join(", ")}\n`,
    ...items.map((item) => itemText(item, link)),
  ];
  return parts.filter((part) => part !== "").join("\n");
}

function itemText({ name, doc, declaration }: Item, link: (one: Exported) => string): string {
  const code = (text: string) => `\`\`\`typescript\n${text}\n\`\`\`\n`;
  const tagged = [
    ...doc.parameters.map(({ name: parameter, text }) => `- \`${parameter}\`: ${oneLine(text)}\n`),
    ...(doc.returns === undefined ? [] : [`- Returns ${oneLine(doc.returns)}\n`]),
    ...doc.throws.map((text) => `- Throws ${oneLine(text)}\n`),
  ];
  const parts = [
    `## ${name}\n`,
    code(declaration.text),
    doc.text === "" ? "" : `${doc.text}\n`,
    tagged.join(""),
    ...doc.examples.map((example) => `For example:\n\n${code(example)}`),
    declaration.named.length === 0 ? "" : `See ${declaration.named.map(link).join(", ")}\n`,
  ];
  return parts.filter((part) => part !== "").join("\n");
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ");

if (import.meta.main) {
  await rm(referenceFolder, { recursive: true, force: true });
  await mkdir(referenceFolder, { recursive: true });
  for (const [name, text] of referencePages()) await writeFile(path.join(referenceFolder, name), text);
}
