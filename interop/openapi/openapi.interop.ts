/** schemathesis, which reads /openapi.json and tries every operation with what it says, and with what it rules out. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { testBrowser } from "../../packages/server/src/testing/fakes/browser.ts";
import { MAIL_ENV } from "../../packages/server/src/testing/fakes/mailbox.ts";
import { makeSystemAccount } from "../../packages/server/src/testing/fixtures/system-account.ts";
import { tokensOf } from "../../packages/server/src/testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";
import { keptFolder } from "../kept-folder.ts";

const here = import.meta.dirname;
const program = path.join(keptFolder("python"), "bin/schemathesis");
/** A minute on a quiet machine. */
const LONGEST_MS = 10 * 60_000;

let running: TestService;
let folder: string;
before(async () => {
  running = await startTestService({ databaseUrl: "sqlite::memory:", isMeddling: true, env: MAIL_ENV });
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-schemathesis-"));
});
after(async () => {
  await running.close();
  await rm(folder, { recursive: true, force: true });
});

test("every operation does what /openapi.json says, signed", {
  skip: !existsSync(program) && "schemathesis is not installed",
  timeout: LONGEST_MS + 30_000,
}, async () => {
  const org = await makeOrganisation(running.service);
  const account = await makeSystemAccount(running.service, org, { administrator: true });
  const { accessToken } = await tokensOf(testBrowser(), org);
  const parameters = [
    ...["--config-file", path.join(here, "schemathesis.toml"), "run", `${running.baseUrl}/openapi.json`],
    ...["--phases", "examples,coverage,fuzzing", "--max-examples", "5", "--seed", "1"],
    ...["--continue-on-failure", "--no-shrink", "--warnings", "off", "--suppress-health-check", "all"],
    // Python 3.11 reports a recursion of its own when several threads build schemas.
    ...["--workers", "1"],
  ];
  const child = spawn(program, parameters, {
    cwd: folder,
    timeout: LONGEST_MS,
    env: {
      ...process.env,
      PYTHONPATH: here,
      PYTHONDONTWRITEBYTECODE: "1",
      SCHEMATHESIS_HOOKS: "signed_calls",
      SIGNET_PUBLIC_KEY: account.publicKey,
      SIGNET_SECRET: account.secret,
      SIGNET_BEARER: accessToken,
      SIGNET_ORGANISATION: org.organisation.id,
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const [code] = await once(child, "close");
  assert.equal(code, 0, output.slice(-20_000));
  const [, tested = "0"] = /Tested: +(\d+)/.exec(output) ?? [];
  assert.ok(Number(tested) > 100, output.slice(-2_000));
  assert.deepEqual(
    running.errors.filter((error) => !isDocumentedUnavailable(error)),
    [],
  );
});

const isDocumentedUnavailable = (error: unknown): boolean =>
  error instanceof Error && "status" in error && error.status === 503;
