/**
 * Which texts the sources use, read off their syntax: names are followed from `Messages` through constants, destructuring and
 * annotated parameters. An object of texts that is looked into with a key, or handed on to where it cannot be followed, counts
 * with all its texts.
 */
import ts from "typescript";
import type { SourceFile } from "../scripts/source-files.ts";

type Path = readonly string[];
/** The objects and texts that a name can stand for. */
type Names = Map<string, Path[]>;
type Tree = Map<string, Tree | undefined>;

/** A step by a key that is not known: every member. */
const ANY = "*";

/** What is taken for texts wherever it is a member of something: `view.messages`, `({ console }) => …`. */
const wellKnown: Names = new Map([
  ["messages", [[]]],
  ["console", [["console"]]],
]);

/** @returns the used ones of the paths, joined by dots */
export function usedTexts(texts: Iterable<Path>, sources: SourceFile[]): Set<string> {
  const files = sources
    .filter(({ text }) => /messages/i.test(text))
    .map(({ path, text }) => ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  const aliases = typeAliases(files);
  const reader = new Reader(treeOf(texts), aliases, annotatedObjects(files, aliases));
  for (const file of files) reader.read(file, new Map());
  return reader.used;
}

function treeOf(texts: Iterable<Path>): Tree {
  const root: Tree = new Map();
  for (const path of texts) {
    let node = root;
    for (const key of path.slice(0, -1)) {
      const inner = node.get(key) ?? new Map();
      node.set(key, inner);
      node = inner;
    }
    node.set(path.at(-1) ?? "", undefined);
  }
  return root;
}

/** `type Texts = Messages["console"]["users"]`, by name. */
function typeAliases(files: ts.SourceFile[]): Names {
  const aliases: Names = new Map([["Messages", [[]]]]);
  for (const statement of files.flatMap((file) => [...file.statements])) {
    if (!ts.isTypeAliasDeclaration(statement)) continue;
    const path = typePath(statement.type, aliases);
    if (path) aliases.set(statement.name.text, [...(aliases.get(statement.name.text) ?? []), ...path]);
  }
  return aliases;
}

function typePath(type: ts.TypeNode | undefined, aliases: Names): Path[] | undefined {
  if (!type) return undefined;
  if (ts.isTypeReferenceNode(type) && ts.isIdentifier(type.typeName)) return aliases.get(type.typeName.text);
  if (!ts.isIndexedAccessTypeNode(type)) return undefined;
  const key = ts.isLiteralTypeNode(type.indexType) ? type.indexType.literal : undefined;
  const above = typePath(type.objectType, aliases);
  return above?.map((path) => [...path, key && ts.isStringLiteral(key) ? key.text : ANY]);
}

/** The objects that a parameter or a member is annotated with: handed on, they are followed there. */
function annotatedObjects(files: ts.SourceFile[], aliases: Names): Set<string> {
  const found = new Set<string>([""]);
  function visit(node: ts.Node): void {
    if (ts.isParameter(node))
      for (const path of typePath(node.type, aliases) ?? []) found.add(path.join("."));
    ts.forEachChild(node, visit);
  }
  for (const file of files) visit(file);
  return found;
}

class Reader {
  readonly used = new Set<string>();
  readonly #tree: Tree;
  readonly #aliases: Names;
  readonly #followed: ReadonlySet<string>;

  constructor(tree: Tree, aliases: Names, followed: ReadonlySet<string>) {
    this.#tree = tree;
    this.#aliases = aliases;
    this.#followed = followed;
  }

  /** Reads a node with the names that are known around it; what it declares is known after it in the same scope. */
  read(node: ts.Node, names: Names): void {
    const paths = ts.isExpression(node) ? this.#pathsOf(node, names) : undefined;
    if (paths) {
      for (const path of paths) this.#use(path);
      this.#readKeys(node as ts.Expression, names);
    } else if (ts.isVariableDeclaration(node) || ts.isParameter(node)) this.#declare(node, names);
    else if (ts.isPropertyAccessExpression(node)) this.read(node.expression, names);
    else if (ts.isPropertyAssignment(node)) this.read(node.initializer, names);
    else if (!ts.isTypeNode(node)) {
      const opensScope = ts.isFunctionLike(node) || ts.isBlock(node) || ts.isForOfStatement(node);
      const inner = opensScope ? new Map(names) : names;
      ts.forEachChild(node, (child) => this.read(child, inner));
    }
  }

  #declare(node: ts.VariableDeclaration | ts.ParameterDeclaration, names: Names): void {
    const annotated = typePath(node.type, this.#aliases);
    const assigned = node.initializer && this.#pathsOf(node.initializer, names);
    const paths = annotated ?? assigned;
    if (node.initializer && !assigned) this.read(node.initializer, names);
    if (node.initializer && assigned) {
      this.#readKeys(node.initializer, names);
      for (const path of assigned) if (this.#isText(path)) this.#use(path);
    }
    this.#bind(node.name, paths, names);
  }

  #bind(name: ts.BindingName, paths: Path[] | undefined, names: Names): void {
    if (ts.isIdentifier(name)) {
      if (paths) names.set(name.text, paths);
      else if (!wellKnown.has(name.text)) names.delete(name.text);
      return;
    }
    for (const element of name.elements) {
      if (!ts.isBindingElement(element)) continue;
      const key = element.propertyName ?? element.name;
      const member = ts.isIdentifier(key) || ts.isStringLiteral(key) ? key.text : ANY;
      if (element.dotDotDotToken) for (const path of paths ?? []) this.#use(path);
      else {
        const inner = paths?.map((path) => [...path, member]) ?? wellKnown.get(member);
        for (const path of inner ?? []) if (this.#isText(path)) this.#use(path);
        this.#bind(element.name, inner, names);
      }
    }
  }

  /** The texts or objects of texts that an expression gives; undefined for any other. */
  #pathsOf(node: ts.Expression, names: Names): Path[] | undefined {
    if (ts.isIdentifier(node)) return names.get(node.text) ?? (node.text === "messages" ? [[]] : undefined);
    if (ts.isParenthesizedExpression(node) || ts.isNonNullExpression(node) || ts.isAsExpression(node))
      return this.#pathsOf(node.expression, names);
    if (ts.isConditionalExpression(node)) return this.#either(node.whenTrue, node.whenFalse, names);
    if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken)
      return this.#either(node.left, node.right, names);
    if (ts.isCallExpression(node))
      return ts.isIdentifier(node.expression) && node.expression.text === "messages" ? [[]] : undefined;
    if (ts.isPropertyAccessExpression(node)) {
      const paths = this.#pathsOf(node.expression, names);
      if (!paths) return node.name.text === "messages" ? [[]] : undefined;
      return paths.map((path) => (this.#isText(path) ? path : [...path, node.name.text]));
    }
    if (!ts.isElementAccessExpression(node)) return undefined;
    const key = ts.isStringLiteral(node.argumentExpression) ? node.argumentExpression.text : ANY;
    return this.#pathsOf(node.expression, names)?.map((path) => (this.#isText(path) ? path : [...path, key]));
  }

  #either(one: ts.Expression, other: ts.Expression, names: Names): Path[] | undefined {
    const [first, second] = [this.#pathsOf(one, names), this.#pathsOf(other, names)];
    return first && second ? [...first, ...second] : undefined;
  }

  /** What stands in an expression of texts beside them: keys and conditions. */
  #readKeys(node: ts.Expression, names: Names): void {
    if (ts.isConditionalExpression(node)) this.read(node.condition, names);
    if (ts.isElementAccessExpression(node)) this.read(node.argumentExpression, names);
    if (ts.isCallExpression(node)) for (const argument of node.arguments) this.read(argument, names);
    ts.forEachChild(node, (child) => {
      const isName = ts.isPropertyAccessExpression(node) && child === node.name;
      if (!isName && ts.isExpression(child) && this.#pathsOf(child, names)) this.#readKeys(child, names);
    });
  }

  #isText(path: Path): boolean {
    const nodes = this.#nodes(path);
    return nodes.length > 0 && nodes.every((node) => node === undefined);
  }

  #nodes(path: Path): (Tree | undefined)[] {
    let nodes: (Tree | undefined)[] = [this.#tree];
    for (const key of path)
      nodes = nodes.flatMap((node) =>
        key === ANY ? [...(node?.values() ?? [])] : node?.has(key) ? [node.get(key)] : [],
      );
    return nodes;
  }

  /** Marks a text; and all texts of an object, unless its way is followed on. */
  #use(path: Path): void {
    if (this.#followed.has(path.join("."))) return;
    const walk = (node: Tree | undefined, at: Path, rest: Path): void => {
      const [key, ...further] = rest;
      if (!node) this.used.add(at.join("."));
      else
        for (const [name, inner] of node)
          if (key === undefined || key === ANY || key === name) walk(inner, [...at, name], further);
    };
    walk(this.#tree, [], path);
  }
}
