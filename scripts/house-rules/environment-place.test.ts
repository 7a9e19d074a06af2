import assert from "node:assert/strict";
import { test } from "node:test";
import { environmentPlace } from "./environment-place.ts";

function isRefused(path: string, text: string): boolean {
  return environmentPlace([{ path, text }]).length > 0;
}

const mail = "packages/server/src/core/mail/mail.ts";

test("the environment is read nowhere in the server but in config.ts", () => {
  assert.ok(isRefused(mail, "const host = process.env.MAIL_HOST;"));
  assert.ok(isRefused(mail, "const { env } = process;"));
  assert.ok(isRefused(mail, 'const host = process["env"].MAIL_HOST;'));
  assert.ok(isRefused(mail, 'import { env } from "node:process";'));
  assert.ok(!isRefused("packages/server/src/config/config.ts", "const host = process.env.MAIL_HOST;"));
});

test("tests, other packages, comments and other uses of process are free", () => {
  assert.ok(!isRefused("packages/server/src/core/mail/mail.test.ts", "process.env.X"));
  assert.ok(!isRefused("packages/server/src/testing/postgres.ts", "process.env.X"));
  assert.ok(!isRefused("scripts/test.ts", "process.env.X"));
  assert.ok(!isRefused(mail, '// process.env.X\nconst text = "process.env";\nprocess.exitCode = 1;'));
});
