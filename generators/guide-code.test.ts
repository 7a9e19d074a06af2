/** The guides of the SDK are true: their code compiles, their tables are the sources' own, their links lead somewhere. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { configurationFromEnvironment, SignetError, type SignetErrorCode } from "@signet/client-sdk";
import { type Guide, guideFaults } from "./guide-code.ts";

const root = path.join(import.meta.dirname, "..");
const folder = path.join(root, "docs", "sdk");
const sources = path.join(root, "packages", "client-sdk", "src");

const names = (await readdir(folder)).filter((name) => name.endsWith(".md"));
const files = [
  ...names.map((name) => path.join(folder, name)),
  ...["client-sdk", "nextjs", "react", "testing"].map((name) =>
    path.join(root, "packages", name, "README.md"),
  ),
];
const guides: Guide[] = await Promise.all(
  files.map(async (file) => ({
    name: path.relative(root, file).replaceAll(/[^\w.]/g, "-"),
    markdown: await readFile(file, "utf8"),
  })),
);

/** The first cells of a table's rows, as far as they are code. */
async function tableOf(name: string): Promise<string[][]> {
  const text = await readFile(path.join(folder, name), "utf8");
  return [...text.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, first = "", rest = ""]) => [
    first,
    ...rest.split(" | ").map((cell) => cell.replaceAll("`", "")),
  ]);
}

test("every TypeScript block of the guides compiles, each by itself; one that does not is reported with its line", async () => {
  assert.ok(guides.length > 10);
  const markdown =
    '# x\n\n```ts\nimport { createFilter } from "@signet/client-sdk";\ncreateFilter(7);\n```\n';
  const faults = await guideFaults([...guides, { name: "wrong.md", markdown }]);
  const [first, ...others] = faults.sort((one) => (one.includes("wrong.md") ? -1 : 1));
  assert.deepEqual(others, []);
  assert.match(first ?? "", /wrong\.md-4\.ts\(5,14\)/);
});

test("configuration.md has every property, and its variables are those that are read", async () => {
  const text = await readFile(path.join(sources, "configuration/properties.ts"), "utf8");
  const [, table = ""] = /export const properties = \{\n([\s\S]*?)\n\}/.exec(text) ?? [];
  const properties = [...table.matchAll(/^ {2}(\w+):/gm)].map(([, name]) => name);
  const rows = (await tableOf("configuration.md")).filter(([, variable]) => variable?.startsWith("SIGNET_"));
  assert.deepEqual(
    rows.map(([name]) => name),
    properties,
  );
  const pem = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----";
  for (const [name = "", variable = ""] of rows) {
    const values = ["true", "60", pem].map((value) => {
      try {
        return Object.keys(configurationFromEnvironment({ [variable]: value }));
      } catch {
        return [];
      }
    });
    assert.ok(
      values.some(([read]) => read === name),
      variable,
    );
  }
});

test("errors.md has every code, each with its status", async () => {
  const text = await readFile(path.join(sources, "errors.ts"), "utf8");
  const [, union = ""] = /export type SignetErrorCode =([\s\S]*?);\n/.exec(text) ?? [];
  const codes = [...union.matchAll(/^ {2}\| "(\w+)"/gm)].map(([, code]) => code as SignetErrorCode);
  const rows = await tableOf("errors.md");
  assert.deepEqual(
    rows.map(([code, status]) => [code, status]),
    codes.map((code) => [code, String(new SignetError(code, "").status)]),
  );
});

test("links of the guides lead to files that are there, and to headings in them", async () => {
  for (const file of files) {
    const text = await readFile(file, "utf8");
    for (const [, target = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      const [to = "", anchor] = target.split("#");
      const other = to === "" ? file : path.join(path.dirname(file), to);
      assert.ok(existsSync(other), `${path.basename(file)}: ${target}`);
      if (anchor === undefined) continue;
      const headings = (await readFile(other, "utf8")).matchAll(/^#+ (.*)$/gm);
      const anchors = [...headings].map(([, heading = ""]) => anchorOf(heading));
      assert.ok(anchors.includes(anchor), `${path.basename(file)}: ${target}`);
    }
  }
});

/** As code hosts make them. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, "")
    .replaceAll(/\s/g, "-");
