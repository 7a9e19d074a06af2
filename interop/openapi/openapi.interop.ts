/** schemathesis, which reads /openapi.json and tries every operation with what it says, and with what it rules out. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import type { RequestLine } from "../../packages/server/src/http/request-log.ts";
import { MAIL_ENV } from "../../packages/server/src/testing/fakes/mailbox.ts";
import {
  makeOrganisation,
  startTestService,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";
import { keptFolder } from "../kept-folder.ts";
import { makeRecords } from "./records.ts";

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
  const { account, bearer, paths } = await makeRecords(running, org);
  const parameters = [
    ...["--config-file", path.join(here, "schemathesis.toml"), "run", `${running.baseUrl}/openapi.json`],
    ...["--phases", "examples,coverage,fuzzing", "--max-examples", "5", "--seed", "1"],
    ...["--continue-on-failure", "--no-shrink", "--warnings", "off", "--suppress-health-check", "all"],
    // Python 3.11 reports a recursion of its own when several threads build schemas.
    ...["--workers", "1"],
    // A long poll of the agents takes 25 s.
    ...["--request-timeout", "60"],
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
      SIGNET_BEARER: JSON.stringify(bearer),
      SIGNET_RECORDS: JSON.stringify(paths),
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
  const done = new Set((await running.linesSoFar()).filter(isSuccess).map(operationOf));
  for (const operation of SUCCEED) assert.ok(done.has(operation), `${operation} never succeeded`);
  assert.ok(done.size >= 65, `${done.size} operations succeeded: are the others signed?`);
  assert.deepEqual(
    running.errors.filter((error) => !isDocumentedUnavailable(error)),
    [],
  );
});

/** One of each kind of credential: without them nothing but refusals would have been seen. */
const SUCCEED = [
  "PUT /legacy/api/oauth/clients/:clientId",
  "DELETE /legacy/api/oauth/scopes/:id",
  "GET /legacy/api/Organisation/Application/List",
  "GET /legacy/api/Keys/User/:key/Permission/:appId",
  "PATCH /api/v1/organisations/:org/users/:id",
  "GET /oauth/:org/userinfo",
  "GET /oauth/:org/sovereign/agent/queue",
  "POST /devices/manage/:org/register",
];

const isSuccess = ({ status }: RequestLine): boolean => status >= 200 && status < 300;
const operationOf = ({ method, route }: RequestLine): string => `${method} ${route}`;

const isDocumentedUnavailable = (error: unknown): boolean =>
  error instanceof Error && "status" in error && error.status === 503;
