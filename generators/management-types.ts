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
  /** What the two files begin with, and the table is called by. */
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

/** The two files of a client, formatted. @throws Error for a document that they cannot be made of */
export async function generatedFiles(
  document: OpenApiDocument,
  wanted: TypesOfClient,
): Promise<GeneratedFile[]> {
  const { folder, name } = wanted;
  const aliases = await aliasesOf(callSchemas(document, wanted));
  const table = `${name[0]?.toUpperCase()}${name.slice(1)}Calls`;
  const records = Object.entries(aliases).filter(([alias]) => alias !== CALLS);
  const calls = (aliases[CALLS] ?? "").replace(`type ${CALLS}`, `type ${table}`);
  const used = records
    .map(([alias]) => nameOf(alias))
    .filter((one) => new RegExp(`\\b${one}\\b`).test(calls));
  const header = (what: string) =>
    `/** ${what} of the ${name} API. Made by generators/management-types.ts from /openapi.json: do not edit. */\n`;
  const file = (part: string, text: string) => {
    const at = path.join(folder, `${name}-${part}.ts`);
    return { file: at, text: formatted(text, at) };
  };
  const imported = `import type { ${used.sort().join(", ")} } from "./${name}-records.ts";`;
  return [
    file("records", `${header("Records")}\n${records.map(([, text]) => text).join("\n")}`),
    file("calls", `${header("Calls")}${imported}\n\n${calls}`),
  ];
}

/** TypeScript for each schema, by its name. */
async function aliasesOf(schemas: object): Promise<Record<string, string>> {
  const document = { openapi: "3.1.0", info: { title: "", version: "" }, paths: {}, components: { schemas } };
  const nodes = await openapiTS(JSON.parse(JSON.stringify(document)) as never);
  const components = membersOf(nodes.find((node) => isNamed(node, "components")));
  const found = membersOf(components.find((node) => isNamed(node, "schemas")));
  const modifiers = [ts.factory.createModifier(ts.SyntaxKind.ExportKeyword)];
  const texts = found.map((member): [string, string] => {
    if (!ts.isPropertySignature(member) || !member.type || !ts.isIdentifier(member.name))
      throw new Error("openapi-typescript gives a schema without a type");
    const name = nameOf(member.name.text);
    const alias = ts.factory.createTypeAliasDeclaration(modifiers, name, undefined, member.type);
    return [member.name.text, readable(astToString([alias]))];
  });
  if (texts.length === 0) throw new Error("openapi-typescript gives no schemas");
  return Object.fromEntries(texts);
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
    .replaceAll(/components\["schemas"\]\["(\w+)"\]/g, (_, name: string) => nameOf(name))
    .replaceAll(/^\s*\*? ?@(?:enum|constant)\b.*\n/gm, "")
    .replaceAll(/^\s*\/\*\* @(?:enum|constant)\b.*\n/gm, "")
    .replaceAll("@description ", "")
    .replaceAll(/\/\*\*\s*\n\s*\* (.*)\n\s*\*\//g, "/** $1 */");

function formatted(text: string, file: string): string {
  const biome = path.join(root, "node_modules", ".bin", "biome");
  const options = ["format", `--stdin-file-path=${path.relative(root, file)}`];
  return execFileSync(process.execPath, [biome, ...options], { cwd: root, input: text, encoding: "utf8" });
}

if (process.argv[1] === import.meta.filename) {
  const document = await currentDocument();
  for (const client of clients)
    for (const { file, text } of await generatedFiles(document, client)) await writeFile(file, text);
}
