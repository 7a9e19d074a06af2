import assert from "node:assert/strict";
import { test } from "node:test";
import { biomeFaults, compilerFaults } from "./tool-reports.ts";

const failed = { exitCode: 1, stdout: "", stderr: "" };

function issue(rule: string): object {
  const location = { path: "scripts/a.ts", lines: { begin: 7 } };
  return { description: "what is wrong", check_name: rule, location };
}

test("a report of Biome becomes faults with file, line and rule", () => {
  const stdout = JSON.stringify([issue("lint/x"), issue("lint/y")]);
  assert.deepEqual(
    biomeFaults({ ...failed, stdout }).map(({ file, line, rule }) => `${file}:${line} ${rule}`),
    ["scripts/a.ts:7 lint/x", "scripts/a.ts:7 lint/y"],
  );
});

test("an unformatted file is named with the command that formats it", () => {
  const [fault] = biomeFaults({ ...failed, stdout: JSON.stringify([issue("format")]) });
  assert.match(fault?.message ?? "", /npm run format/);
});

test("the compiler's lines become faults and keep the lines that explain them", () => {
  const stdout = "a/b.ts(3,5): error TS2322: Type 'x' is wrong.\n  Because of y.\nc.ts(1,1): error TS1: z\n";
  assert.deepEqual(compilerFaults({ ...failed, stdout }), [
    { file: "a/b.ts", line: 3, rule: "TS2322", message: "Type 'x' is wrong. Because of y." },
    { file: "c.ts", line: 1, rule: "TS1", message: "z" },
  ]);
});

test("a tool that fails without naming a place is a fault", () => {
  assert.match(
    biomeFaults({ ...failed, stderr: "bad configuration" })[0]?.message ?? "",
    /bad configuration/,
  );
  assert.match(
    compilerFaults({ ...failed, stdout: "error TS18003: no inputs" })[0]?.message ?? "",
    /TS18003/,
  );
});
