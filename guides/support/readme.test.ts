import assert from "node:assert/strict";
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
