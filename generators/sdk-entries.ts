/** What the client SDK exports, by entry of its package.json, and where it is written. Only syntax is read: that takes no time. */
import { readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

export type Declaration =
  | ts.FunctionDeclaration
  | ts.InterfaceDeclaration
  | ts.TypeAliasDeclaration
  | ts.ClassDeclaration
  | ts.VariableStatement;

export interface Exported {
  readonly name: string;
  readonly node: Declaration;
  readonly source: ts.SourceFile;
}

export interface Entry {
  /** As it is imported. */
  readonly specifier: string;
  readonly source: ts.SourceFile;
  readonly exports: readonly Exported[];
}

const parsed = new Map<string, ts.SourceFile>();

export function sourceOf(file: string): ts.SourceFile {
  const known = parsed.get(file);
  if (known) return known;
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.ES2024, true);
  parsed.set(file, source);
  return source;
}

/** @param folder of the package */
export function readEntries(folder: string): Entry[] {
  const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as {
    name: string;
    exports: Record<string, string>;
  };
  return Object.entries(manifest.exports).map(([name, file]) => {
    const source = sourceOf(path.join(folder, file));
    const exports = exportedNames(source).map((exported) => find(source, exported));
    return { specifier: path.posix.join(manifest.name, name), source, exports };
  });
}

const isDeclaration = (node: ts.Node): node is Declaration =>
  ts.isFunctionDeclaration(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isClassDeclaration(node) ||
  ts.isVariableStatement(node);

export const isExported = (node: Declaration): boolean =>
  node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;

function nameOf(node: Declaration): string {
  if (!ts.isVariableStatement(node)) return node.name?.text ?? "";
  const [first] = node.declarationList.declarations;
  return first && ts.isIdentifier(first.name) ? first.name.text : "";
}

/** Names that a file passes on from another one, with that file. */
function passedOn(source: ts.SourceFile) {
  return source.statements.flatMap((statement) => {
    if (!ts.isExportDeclaration(statement) || !statement.moduleSpecifier || !statement.exportClause)
      return [];
    if (!ts.isStringLiteral(statement.moduleSpecifier) || !ts.isNamedExports(statement.exportClause))
      return [];
    const file = path.join(path.dirname(source.fileName), statement.moduleSpecifier.text);
    return statement.exportClause.elements.map((element) => ({
      name: element.name.text,
      original: (element.propertyName ?? element.name).text,
      file,
    }));
  });
}

function exportedNames(source: ts.SourceFile): string[] {
  const own = source.statements.filter((node) => isDeclaration(node) && isExported(node));
  return [...passedOn(source).map(({ name }) => name), ...own.map((node) => nameOf(node as Declaration))];
}

/** The declaration of a name in a file, exported or not; undefined for one that is not declared there. */
export function declared(source: ts.SourceFile, name: string): Exported | undefined {
  const node = source.statements.find((one) => isDeclaration(one) && nameOf(one) === name);
  return node && { name, node: node as Declaration, source };
}

function find(source: ts.SourceFile, name: string): Exported {
  const own = declared(source, name);
  if (own) return own;
  const from = passedOn(source).find((one) => one.name === name);
  if (!from) throw new Error(`${source.fileName} has no ${name}`);
  return find(sourceOf(from.file), from.original);
}

/** What a name in a type means: a declaration of ours, or undefined for a type parameter, the platform's, another package's. */
export function resolved(source: ts.SourceFile, name: string): Exported | undefined {
  const own = declared(source, name);
  if (own) return own;
  for (const statement of source.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const bindings = statement.importClause?.namedBindings;
    if (!bindings || !ts.isNamedImports(bindings)) continue;
    const element = bindings.elements.find((one) => one.name.text === name);
    if (!element) continue;
    const { text } = statement.moduleSpecifier;
    if (!text.startsWith(".")) return undefined;
    const file = path.join(path.dirname(source.fileName), text);
    return find(sourceOf(file), (element.propertyName ?? element.name).text);
  }
  return undefined;
}
