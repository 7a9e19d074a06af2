/**
 * `node generators/management-types.ts`: the types of the SDK's management client and of its legacy API client, from the
 * /openapi.json that the service gives. Only what the two clients call is in them, in a form that is read: an alias for
 * each record, and one table that says of each call what it takes and what it answers.
 */
import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";
import type { OpenApiDocument } from "../packages/server/src/features/api-reference/openapi.ts";
import { startTestService } from "../packages/server/src/testing/test-service.ts";
import { CALLS, type CallTable, callSchemas } from "./call-schemas.ts";

const root = path.join(import.meta.dirname, "..");
const sdk = path.join(root, "packages", "client-sdk", "src");

const isManagement = (route: string) => route.includes(" /legacy/api/oauth/");

/** What the client asks for in another way. */
const secondSpellings: readonly string[] = [
  "GET /legacy/api/Authentication/Account/VerifyIdentity",
  "PUT /legacy/api/User/Profile/{appId}/{key}/{extendSetting}",
];

export interface TypesOfClient extends CallTable {
  readonly folder: string;
  /** What the file begins with, and the table is called by. */
  readonly name: string;
}

export const clients: readonly TypesOfClient[] = [
  { folder: path.join(sdk, "management"), name: "management", isIn: isManagement },
  {
    folder: path.join(sdk, "legacy-api"),
    name: "legacy",
    isIn: (route) =>
      route.includes(" /legacy/api/") && !isManagement(route) && !secondSpellings.includes(route),
  },
];

/** Where a name is taken in the SDK by what the SDK makes of the record. */
const names: Readonly<Record<string, string>> = { User: "LegacyUser", Application: "LegacyApplication" };
const nameOf = (schema: string) => names[schema] ?? schema;

/** The document of the service as its sources are now. */
export async function currentDocument(): Promise<OpenApiDocument> {
  const running = await startTestService({ databaseUrl: "sqlite::memory:" });
  try {
    return (await (await fetch(`${running.baseUrl}/openapi.json`)).json()) as OpenApiDocument;
  } finally {
    await running.close();
  }
}

export interface GeneratedFile {
  readonly file: string;
  readonly text: string;
}

/** The file of a client, formatted: its records, and the table of its calls. @throws Error for a document without them */
export async function generatedFile(
  document: OpenApiDocument,
  wanted: TypesOfClient,
): Promise<GeneratedFile> {
  const { folder, name } = wanted;
  const table = `${name[0]?.toUpperCase()}${name.slice(1)}Calls`;
  const aliases = await typeAliases(callSchemas(document, wanted));
  const header = `/** Records and calls of the ${name} API. Made by generators/management-types.ts from /openapi.json: do not edit. */\n`;
  const text = `${header}\n${aliases.join("\n")}`.replaceAll(new RegExp(`\\b${CALLS}\\b`, "g"), table);
  const file = path.join(folder, `${name}-types.ts`);
  return { file, text: formatted(collapsed(text), file) };
}

/** TypeScript for each schema. */
async function typeAliases(schemas: object): Promise<string[]> {
  const document = { openapi: "3.1.0", info: { title: "", version: "" }, paths: {}, components: { schemas } };
  const nodes = await openapiTS(JSON.parse(JSON.stringify(document)) as never);
  const components = membersOf(nodes.find((node) => isNamed(node, "components")));
  const found = membersOf(components.find((node) => isNamed(node, "schemas")));
  const modifiers = [ts.factory.createModifier(ts.SyntaxKind.ExportKeyword)];
  if (found.length === 0) throw new Error("openapi-typescript gives no schemas");
  return found.map((member) => {
    if (!ts.isPropertySignature(member) || !member.type || !ts.isIdentifier(member.name))
      throw new Error("openapi-typescript gives a schema without a type");
    const name = nameOf(member.name.text);
    const alias = ts.factory.createTypeAliasDeclaration(modifiers, name, undefined, member.type);
    return readable(astToString([alias]));
  });
}

const isNamed = (node: ts.Node, name: string): boolean =>
  (ts.isInterfaceDeclaration(node) || ts.isPropertySignature(node)) &&
  ts.isIdentifier(node.name) &&
  node.name.text === name;

function membersOf(node: ts.Node | undefined): readonly ts.TypeElement[] {
  if (node && ts.isInterfaceDeclaration(node)) return node.members;
  const type = node && ts.isPropertySignature(node) ? node.type : undefined;
  return type && ts.isTypeLiteralNode(type) ? type.members : [];
}

/** Names instead of look-ups, and comments without marks that say what the type says. */
const readable = (text: string): string =>
  text
    .replaceAll(/"«(.*?)»"/g, (_, type: string) => type.replaceAll('\\"', '"'))
    .replaceAll(/components\["schemas"\]\["(\w+)"\]/g, (_, name: string) => nameOf(name))
    .replaceAll(/^\s*\*? ?@(?:enum|constant)\b.*\n/gm, "")
    .replaceAll(/^\s*\/\*\* @(?:enum|constant)\b.*\n/gm, "")
    .replaceAll("@description ", "")
    .replaceAll(/\{\s*\[key: string\]: unknown;?\s*\}/g, "Record<string, unknown>")
    .replaceAll(/\/\*\*\s*\n\s*\* (.*)\n\s*\*\//g, "/** $1 */");

/** Objects without comments in one line: Biome breaks them again where they are too long. */
function collapsed(text: string): string {
  const innermost = /\{\n((?:(?!\/\*)[^{}])*)\}/g;
  const inLine = (_: string, members: string) =>
    `\u27e6 ${members.trim().replaceAll(/\s*\n\s*/g, " ")} \u27e7`;
  let [before, after] = ["", text.replaceAll(/\{ ?(\w+) ?\}/g, "\u27ea$1\u27eb")];
  while (before !== after) [before, after] = [after, after.replaceAll(innermost, inLine)];
  return after
    .replaceAll("\u27e6", "{")
    .replaceAll("\u27e7", "}")
    .replaceAll("\u27ea", "{")
    .replaceAll("\u27eb", "}");
}

function formatted(text: string, file: string): string {
  const biome = path.join(root, "node_modules", ".bin", "biome");
  const options = ["format", `--stdin-file-path=${path.relative(root, file)}`];
  return execFileSync(process.execPath, [biome, ...options], { cwd: root, input: text, encoding: "utf8" });
}

if (process.argv[1] === import.meta.filename) {
  const document = await currentDocument();
  for (const client of clients) {
    const { file, text } = await generatedFile(document, client);
    await writeFile(file, text);
  }
}
