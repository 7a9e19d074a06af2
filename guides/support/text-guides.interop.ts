/** Guides without a program, as its toolchain or product is not there: what Signet does of them is done as their READMEs say. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { type StackService, startStackService } from "../../interop/clients/stack-service.ts";
import { timeout } from "./guide.ts";
import { setUpGuide } from "./set-up.ts";

const guides = path.join(import.meta.dirname, "..");
const entries = await readdir(guides, { withFileTypes: true });
const names = entries
  .filter((entry) => entry.isDirectory() && entry.name !== "support")
  .map(({ name }) => name)
  .filter((name) => !existsSync(path.join(guides, name, "guide.interop.ts")));

let service: StackService;
before(async () => {
  service = await startStackService();
});
after(() => service.close());

for (const name of names)
  test(`guides/${name} is followed up to its own product, and says so`, { timeout }, async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), "signet-guide-"));
    try {
      await cp(path.join(guides, name), folder, { recursive: true });
      const { readme, values } = await setUpGuide(service, { folder, port: 3000, brokerPort: 0 });
      assert.ok(readme.printed.size > 0, "what is printed has its place");
      const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((one) =>
        one.isFile(),
      );
      const texts = await Promise.all(
        files.map((one) => readFile(path.join(one.parentPath, one.name), "utf8")),
      );
      assert.ok(
        texts.some((text) => text.includes(values["APP"] ?? "")),
        "the printed lines are there",
      );
      assert.match(await readFile(path.join(guides, name, "README.md"), "utf8"), /^\*\*Not run here\*\*: /m);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
