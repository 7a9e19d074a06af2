import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { inlinePackage } from "./inline-package.ts";
import { listFiles } from "./source-files.ts";

async function foldersWith(t: TestContext, files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-inline-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
  return folder;
}

test("the modules that are used come along, with theirs, and every form of import points to them", async (t) => {
  const folder = await foldersWith(t, {
    "sdk/index.js":
      'export { a } from "./deep/a.js";\nimport { z } from "jose";\nimport "@signet/protocol/effect";\n',
    "sdk/index.d.ts": 'export type { A } from "@signet/protocol/types-only";\n',
    "sdk/deep/a.js":
      'import { b, c } from "@signet/protocol/tpm/b";\nexport const a = () => import("@signet/protocol/late");\n',
    "sdk/deep/a.d.ts": "export declare const a: 1;\n",
    "protocol/tpm/b.js": 'import {\n  c\n} from "../c.js";\n',
    "protocol/tpm/b.d.ts": 'export { C } from "../only-typed.js";\n',
    ...Object.fromEntries(
      ["c", "effect", "late", "only-typed", "types-only", "unused"].flatMap((name) => [
        [`protocol/${name}.js`, ""],
        [`protocol/${name}.d.ts`, ""],
      ]),
    ),
  });
  const dist = path.join(folder, "sdk");
  await inlinePackage(dist, { name: "@signet/protocol", dist: path.join(folder, "protocol") });
  const text = (name: string) => readFile(path.join(dist, name), "utf8");
  assert.equal(
    await text("index.js"),
    'export { a } from "./deep/a.js";\nimport { z } from "jose";\nimport "./protocol/effect.js";\n',
  );
  assert.equal(await text("index.d.ts"), 'export type { A } from "./protocol/types-only.js";\n');
  assert.equal(
    await text("deep/a.js"),
    'import { b, c } from "../protocol/tpm/b.js";\nexport const a = () => import("../protocol/late.js");\n',
  );
  const came = (await listFiles(path.join(dist, "protocol"), [".js"])).map((name) =>
    name.replace(/\.js$/, ""),
  );
  assert.deepEqual(came, ["c", "effect", "late", "only-typed", "tpm/b", "types-only"]);
  assert.equal((await listFiles(path.join(dist, "protocol"), [".d.ts"])).length, came.length);
});

test("a module that is missing, or a folder that is in the way, is an error", async (t) => {
  const folder = await foldersWith(t, {
    "sdk/index.js": 'import "@signet/protocol/nowhere";\n',
    "other/protocol/own.js": "",
  });
  const own = { name: "@signet/protocol", dist: path.join(folder, "protocol") };
  await assert.rejects(inlinePackage(path.join(folder, "sdk"), own), /nowhere/);
  await assert.rejects(inlinePackage(path.join(folder, "other"), own), /there already/);
});
