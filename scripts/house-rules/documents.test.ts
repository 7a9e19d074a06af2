import assert from "node:assert/strict";
import { test } from "node:test";
import { documentFaults } from "./documents.ts";

const folder = "packages/server/src/features/oauth/token";
const paths = [
  `${folder}/grant.ts`,
  `${folder}/README.md`,
  "packages/server/src/db/open.ts",
  "docs/architecture.md",
];

const messages = (text: string, path = `${folder}/README.md`, all = paths): string[] =>
  documentFaults(all, [{ path, text }]).map(({ line, message }) => `${line} ${message}`);

test("a README that names files of the repository and links to them has no fault", () => {
  const text =
    "# Token\n\n`grant.ts`, `../../../db/open.ts`, [all](../../../../../../docs/architecture.md#a), [x](https://a.example)\n";
  assert.deepEqual(messages(text), []);
});

test("a feature folder with sources and without a README is a fault; one with tests alone is not", () => {
  const more = [...paths, `${folder}/code/redeem.ts`, `${folder}/scenarios/all.test.ts`];
  assert.deepEqual(
    documentFaults(more, []).map(({ file }) => file),
    [`${folder}/code/README.md`],
  );
});

test("a feature's README has at most fifteen lines", () => {
  assert.deepEqual(messages("line\n".repeat(15)), []);
  assert.deepEqual(messages("line\n".repeat(16)), ["16 16 lines: at most 15"]);
});

test("a link that leads nowhere is a fault in every document", () => {
  assert.deepEqual(messages("\n[gone](../packages/gone.ts)", "docs/security.md"), [
    "2 ../packages/gone.ts does not exist",
  ]);
});

test("a file that is named and does not exist is a fault where documents lead through the sources", () => {
  assert.deepEqual(messages("`grant.ts` and `gone.ts`", "docs/architecture.md"), [
    "1 no file is called gone.ts",
  ]);
  assert.deepEqual(messages("`code/grant.ts`"), ["1 no file is called code/grant.ts"]);
  assert.deepEqual(messages("`app.ts` of yours", "docs/sdk/README.md"), []);
});
