// The types that are committed are those of the service as it is now.
import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { before, test } from "node:test";
import { apiErrorCodes } from "../packages/client-sdk/src/api/api-client.ts";
import type { OpenApiDocument } from "../packages/server/src/features/api-reference/openapi.ts";
import { CALLS, callSchemas } from "./call-schemas.ts";
import { clients, currentDocument, generatedFiles } from "./management-types.ts";

let document: OpenApiDocument;
before(async () => {
  document = await currentDocument();
});

for (const client of clients)
  test(`the ${client.name} types are current: else run \`node generators/management-types.ts\``, async () => {
    const files = await generatedFiles(document, client);
    const made = files.map(({ file }) => path.relative(client.folder, file));
    if (client.isByTag) {
      // What is no longer made must be gone, too.
      const there = globSync("generated/*.ts", { cwd: client.folder });
      assert.deepEqual(made.toSorted(), [`${client.name}-calls.ts`, ...there].toSorted());
    } else assert.deepEqual(made, [`${client.name}-records.ts`, `${client.name}-calls.ts`]);
    for (const { file, text } of files) assert.equal(await readFile(file, "utf8"), text, file);
  });

test("every call of the three APIs is in one table, those that are spelled in two ways once", () => {
  const routes = clients.flatMap((client) => {
    const { [CALLS]: table } = callSchemas(document, client) as Record<string, { properties: object }>;
    return Object.keys(table?.properties ?? {});
  });
  const all = Object.entries(document.paths)
    .filter(([address]) => /^\/(?:legacy\/api|api\/v1)(?:\/|$)/.test(address))
    .flatMap(([address, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${address}`),
    );
  assert.deepEqual(all.filter((route) => !routes.includes(route)).toSorted(), [
    "GET /api/v1/organisations/{org}/audit-events/export",
    "GET /legacy/api/Authentication/Account/VerifyIdentity",
    "PUT /legacy/api/User/Profile/{appId}/{key}/{extendSetting}",
  ]);
  assert.equal(new Set(routes).size, routes.length);
});

test("the SDK knows every code that API v1 refuses with", async () => {
  const sources = path.join(import.meta.dirname, "../packages/server/src");
  const files = ["features/api-v1/**/*.ts", "http/api/*.ts"].flatMap((files) =>
    globSync(files, { cwd: sources }).filter((file) => !file.endsWith(".test.ts")),
  );
  const texts = await Promise.all(files.map((file) => readFile(path.join(sources, file), "utf8")));
  const thrown = texts.flatMap((text) =>
    [...text.matchAll(/new ApiError\(\s*\d{3},\s*"([\w-]+)"/g)].map(([, code = ""]) => code),
  );
  assert.ok(new Set(thrown).size > 12, "the sources are read as they are written");
  assert.deepEqual(
    thrown.filter((code) => !apiErrorCodes.some((known) => known === code)),
    [],
  );
});
