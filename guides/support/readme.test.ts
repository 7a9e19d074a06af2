import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { filled, filledEnvironment, readReadme } from "./readme.ts";

const markdown = `# Title

\`\`\`sh
ORG=…
npm run -s signet -- app create --org $ORG --name "My shop" \\
  --type spa
npm start
curl -s \\
  -d a=$APP $ISSUER/token
\`\`\`

\`\`\`env
A=<client ID>
\`\`\`
`;

test("reads the commands as a shell does, and the environment", () => {
  const { commands, calls, environment } = readReadme(markdown);
  assert.deepEqual(calls, ["curl -s -d a=$APP $ISSUER/token"]);
  assert.deepEqual(commands, [["app", "create", "--org", "$ORG", "--name", "My shop", "--type", "spa"]]);
  assert.deepEqual(filled(commands[0] ?? [], { ORG: "o" })[3], "o");
  assert.equal(filledEnvironment(environment, { "client ID": "c" }), "A=c\n");
});

test("reads where printed lines belong", () => {
  const table =
    "| Printed for | Where it goes |\n|---|---|\n| `a.yml of b` | a new file, `b.yml` |\n\n| `x` | `y` |\n";
  assert.deepEqual([...readReadme(`# Title\n\n${table}`).printed], [["a.yml of b", "b.yml"]]);
  assert.equal(readReadme(markdown).printed.size, 0);
  assert.deepEqual(readReadme("```python a.py\nx = 1\n```\n").added, [{ file: "a.py", lines: "x = 1\n" }]);
});

test("refuses what nothing before has given", () => {
  assert.throws(() => filled(["$APP"], {}), /\$APP/);
  assert.throws(() => filledEnvironment("A=<secret>", {}), /<secret>/);
});

/** What has to be asked of every library, whether it can do it or not. */
const asked = [
  ...["PKCE", "Algorithm", "Claims", "Groups and roles", "Audience and introspection", "Assertions"],
  ...["Renewal", "Sign-out"],
];

test("every guide says where its claims come from, and what each setting means to its library", async () => {
  const guides = path.join(import.meta.dirname, "..");
  const names = (await readdir(guides, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory() && entry.name !== "support")
    .map(({ name }) => name);
  const index = await readFile(path.join(guides, "README.md"), "utf8");
  for (const name of names) {
    assert.ok(index.includes(`| [${name}](${name}) |`), `guides/README.md does not list ${name}`);
    const text = await readFile(path.join(guides, name, "README.md"), "utf8");
    const [, claims = "", settings = ""] =
      /^## Where the four claims come from\n([\s\S]*?)^## What the settings mean.*\n([\s\S]*)/m.exec(text) ??
      [];
    for (const claim of ["name", "email", "roles", "org"])
      assert.ok(claims.includes(`\`${claim}\``), `${name}: where ${claim} comes from`);
    // As the test of each guide fills it in: not every program takes base64.
    if (text.includes("<random text>")) assert.match(text, /`openssl rand -hex 32`/, name);
    for (const topic of asked)
      assert.match(settings, new RegExp(`^- ${topic}: \\S`, "m"), `${name}: ${topic}`);
  }
});
