/** docs/openid-behaviours.md and the conformance tests stay in step. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL(".", import.meta.url));
const list = fileURLToPath(new URL("../../../../docs/openid-behaviours.md", import.meta.url));

interface Listed {
  readonly section: string;
  readonly file: string;
  readonly name: string;
}

function listed(): Listed[] {
  const sections = readFileSync(list, "utf8").split(/^## /m).slice(1);
  return sections.flatMap((text) => {
    const section = text.split("\n")[0] ?? "";
    const rows = [...text.matchAll(/^\|[^|]*\| \[[^\]]+\]\(([^)]+)\) \| (.+) \|$/gm)];
    assert.ok(rows.length > 0, `${section} names tests`);
    return rows.map(([, file = "", name = ""]) => ({ section, file: path.resolve(list, "..", file), name }));
  });
}

/** The names of a file's tests, as they stand there: `${…}` is not filled in. */
function declared(source: string): string[] {
  const names = source.matchAll(/\btest\(\s*(?:"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g);
  return [...names].map(([, plain, template]) => (plain ?? template ?? "").replaceAll('\\"', '"'));
}

/** Whether this is the test: what fills a `${…}` must stand in the file as well, as a text or a member's name. */
function isNameOf(name: string, declaredName: string, source: string): boolean {
  const fixed = declaredName.split(/\$\{[^}]*\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const filled = new RegExp(`^${fixed.join("(.+)")}$`).exec(name)?.slice(1);
  return filled?.every((text) => source.includes(`"${text}"`) || source.includes(`${text}:`)) ?? false;
}

const isDeclared = (name: string, source: string): boolean =>
  declared(source).some((declaredName) => isNameOf(name, declaredName, source));

test("every listed test exists in its file", () => {
  const rows = listed();
  assert.ok(rows.length > 90, `${rows.length}`);
  for (const { file, name } of rows) {
    assert.ok(existsSync(file), file);
    assert.ok(isDeclared(name, readFileSync(file, "utf8")), `${path.basename(file)}: ${name}`);
  }
  const [{ file, name } = { file: "", name: "" }] = rows;
  assert.ok(!isDeclared(`${name} not`, readFileSync(file, "utf8")), "a name that is not there is noticed");
});

test("every conformance test is listed in the section of its file", () => {
  const files = readdirSync(here).filter((file) => file.endsWith(".test.ts") && file !== "list.test.ts");
  const rows = listed();
  for (const file of files) {
    const source = readFileSync(path.join(here, file), "utf8");
    const own = rows.filter((row) => row.file === path.join(here, file));
    for (const { section } of own)
      assert.equal(`${section.toLowerCase().replaceAll(" ", "-")}.test.ts`, file);
    for (const name of declared(source))
      assert.ok(
        own.some((row) => isNameOf(row.name, name, source)),
        `${file}: ${name}`,
      );
  }
  assert.equal(files.length, 8);
});
