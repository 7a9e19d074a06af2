/** A declaration as a reader of the reference sees it: the source's own text with its comments, without what is inside. */
import ts from "typescript";
import { type Declaration, type Exported, isExported, resolved } from "./sdk-entries.ts";

export interface DeclarationText {
  readonly text: string;
  /** Declarations of ours that its types name, each once. */
  readonly named: readonly Exported[];
}

/** @throws Error for a form that this does not know, such as a function without a return type */
export function declarationText({ name, node, source }: Exported): DeclarationText {
  const named = new Map<Declaration, Exported>();
  const typed = (type: ts.Node) => textOf(type, source, named);
  const text = () => {
    if (ts.isFunctionDeclaration(node)) return `function ${name}${signature(node, typed)};`;
    if (ts.isClassDeclaration(node)) return classText(node, source, typed);
    if (ts.isVariableStatement(node)) return constantText(name, node, typed);
    return typed(node).replace(/^(?:\/\*\*[\s\S]*?\*\/\s*)?export /, "");
  };
  const written = text();
  named.delete(node);
  return { text: written, named: [...named.values()] };
}

type Typed = (type: ts.Node) => string;

function signature(node: ts.SignatureDeclaration, typed: Typed): string {
  if (!node.type && !ts.isConstructorDeclaration(node))
    throw new Error(`${node.name?.getText()} says not what it returns`);
  const types = node.typeParameters ? `<${node.typeParameters.map((one) => typed(one)).join(", ")}>` : "";
  const parameters = node.parameters.map((parameter) => parameterText(parameter, typed));
  const result = node.type ? `: ${typed(node.type)}` : "";
  const line = `${types}(${parameters.join(", ")})${result}`;
  if (line.length < 75 && !line.includes("\n")) return line;
  return `${types}(\n${parameters.map((parameter) => `  ${parameter},\n`).join("")})${result}`;
}

function parameterText(
  { name, type, dotDotDotToken, questionToken, initializer }: ts.ParameterDeclaration,
  typed: Typed,
) {
  const isText = initializer !== undefined && ts.isStringLiteral(initializer);
  if (!type && !isText) throw new Error(`${name.getText()} has no type`);
  const written = type ? dedented(typed(type)).replaceAll("\n", "\n  ") : "string";
  // What is taken apart where it comes in is called after its type: `SignatureOptions` → `options`.
  const called = ts.isIdentifier(name)
    ? name.text
    : (/[A-Z][a-z]+$/.exec(written)?.[0].toLowerCase() ?? "options");
  const isOptional = questionToken !== undefined || initializer !== undefined;
  return `${dotDotDotToken ? "..." : ""}${called}${isOptional ? "?" : ""}: ${written}`;
}

function classText(node: ts.ClassDeclaration, source: ts.SourceFile, typed: Typed): string {
  const heritage = node.heritageClauses?.map((clause) => ` ${clause.getText(source)}`).join("") ?? "";
  const members = node.members.flatMap((member) => {
    const comments = ts.getJSDocCommentsAndTags(member).map((comment) => `  ${comment.getText(source)}\n`);
    if (ts.isConstructorDeclaration(member))
      return [`${comments.join("")}  constructor${signature(member, typed)};`];
    return ts.isPropertyDeclaration(member) ? [`${comments.join("")}  ${typed(member)}`] : [];
  });
  return `class ${node.name?.text}${heritage} {\n${members.join("\n")}\n}`;
}

function constantText(name: string, node: ts.VariableStatement, typed: Typed): string {
  const [declaration] = node.declarationList.declarations;
  const value = declaration?.initializer;
  if (declaration?.type) return `const ${name}: ${typed(declaration.type)};`;
  if (value && ts.isArrowFunction(value)) return `function ${name}${signature(value, typed)};`;
  throw new Error(`${name} says not what it is`);
}

/** The source's text of a type, with aliases that nobody can import written out in their place. */
function textOf(node: ts.Node, source: ts.SourceFile, named: Map<Declaration, Exported>): string {
  const replaced = writtenOut(node, source, named);
  if (replaced !== undefined) return replaced;
  remember(node, source, named);
  let text = "";
  let at = node.getStart(source);
  ts.forEachChild(node, (child) => {
    const from = child.getStart(source);
    text += source.text.slice(at, from) + textOf(child, source, named);
    at = child.end;
  });
  return text + source.text.slice(at, node.end);
}

function remember(node: ts.Node, source: ts.SourceFile, named: Map<Declaration, Exported>): void {
  const name = ts.isTypeReferenceNode(node)
    ? node.typeName
    : ts.isExpressionWithTypeArguments(node)
      ? node.expression
      : ts.isTypeQueryNode(node)
        ? node.exprName
        : undefined;
  if (!name || !ts.isIdentifier(name)) return;
  const found = resolved(source, name.text);
  if (found) named.set(found.node, found);
}

/** A type of one of our tables by its keys (`Calls["GET /x"]["body"]`), or an alias of a file's own. */
function writtenOut(
  node: ts.Node,
  source: ts.SourceFile,
  named: Map<Declaration, Exported>,
): string | undefined {
  const target = ts.isTypeNode(node) ? followed({ node, source }) : undefined;
  if (!target || target.node === node) return undefined;
  const text = dedented(textOf(target.node, target.source, named));
  const lineStart = source.text.lastIndexOf("\n", node.getStart(source)) + 1;
  return text.replaceAll("\n", `\n${/^ */.exec(source.text.slice(lineStart))?.[0]}`);
}

interface Place {
  readonly node: ts.TypeNode;
  readonly source: ts.SourceFile;
}

function followed(place: Place): Place {
  const { node, source } = place;
  if (ts.isIndexedAccessTypeNode(node))
    return memberOf(followed({ node: node.objectType, source }), node.indexType) ?? place;
  if (!ts.isTypeReferenceNode(node) || !ts.isIdentifier(node.typeName)) return place;
  const [argument] = node.typeArguments ?? [];
  // Of an optional member: what is written out has no `undefined`.
  if (node.typeName.text === "NonNullable" && argument) return followed({ node: argument, source });
  const found = resolved(source, node.typeName.text);
  if (!found || !ts.isTypeAliasDeclaration(found.node) || found.node.typeParameters || isPublic(found))
    return place;
  return followed({ node: found.node.type, source: found.source });
}

/** An alias of a file's own is nobody's to import; a table of calls is looked into, and never shown as a whole. */
const isPublic = ({ node, name }: Exported): boolean => isExported(node) && !name.endsWith("Calls");

function memberOf({ node, source }: Place, index: ts.TypeNode): Place | undefined {
  if (!ts.isTypeLiteralNode(node) || !ts.isLiteralTypeNode(index) || !ts.isStringLiteral(index.literal))
    return undefined;
  const { text } = index.literal;
  const member = node.members.find((one) => one.name && "text" in one.name && one.name.text === text);
  return member && ts.isPropertySignature(member) && member.type ? { node: member.type, source } : undefined;
}

function dedented(text: string): string {
  const indent = /\n( *)\S[^\n]*$/.exec(text)?.[1]?.length ?? 0;
  return text.replaceAll(new RegExp(`\n {${indent}}`, "g"), "\n");
}
