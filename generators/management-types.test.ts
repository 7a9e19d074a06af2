// The types that are committed are those of the service as it is now.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { before, test } from "node:test";
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
    assert.deepEqual(
      files.map(({ file }) => path.basename(file)),
      [`${client.name}-records.ts`, `${client.name}-calls.ts`],
    );
    for (const { file, text } of files) assert.equal(await readFile(file, "utf8"), text, file);
  });

test("every call of the two APIs is in one table, those that are spelled in two ways once", () => {
  const routes = clients.flatMap((client) => {
    const { [CALLS]: table } = callSchemas(document, client) as Record<string, { properties: object }>;
    return Object.keys(table?.properties ?? {});
  });
  const all = Object.entries(document.paths)
    .filter(([address]) => address.startsWith("/legacy/api/"))
    .flatMap(([address, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${address}`),
    );
  assert.deepEqual(
    all.filter((route) => !routes.includes(route)),
    [
      "PUT /legacy/api/User/Profile/{appId}/{key}/{extendSetting}",
      "GET /legacy/api/Authentication/Account/VerifyIdentity",
    ].toSorted((a, b) => all.indexOf(a) - all.indexOf(b)),
  );
  assert.equal(new Set(routes).size, routes.length);
});
