/** schemathesis, which reads /openapi.json and tries every operation with what it says, and with what it rules out. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { defaultOrganisationSettings } from "../../packages/server/src/core/organisations/organisation.ts";
import { changeOrganisationSettings } from "../../packages/server/src/core/organisations/organisations.ts";
import { MAIL_ENV } from "../../packages/server/src/testing/fakes/mailbox.ts";
import {
  makeOrganisation,
  startTestService,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";
import { keptFolder } from "../kept-folder.ts";
import { agentCalls } from "./agent-calls.ts";
import { apiV1Calls } from "./api-v1-calls.ts";
import { deviceCalls } from "./device-calls.ts";
import { ledgerCalls } from "./ledger-calls.ts";
import { managementCalls } from "./management-calls.ts";
import { linkCalls, oauthCalls, signInCalls } from "./people-calls.ts";
import { serveRealCalls } from "./real-calls.ts";
import { makeRecords } from "./records.ts";
import { ssfCalls } from "./ssf-calls.ts";
import { thresholdCalls } from "./threshold-calls.ts";

const here = import.meta.dirname;
const program = path.join(keptFolder("python"), "bin/schemathesis");
/** Two minutes on a quiet machine. */
const LONGEST_MS = 10 * 60_000;

let running: TestService;
let folder: string;
before(async () => {
  // One client makes more calls in a minute than any other, on a fast machine.
  const env = { ...MAIL_ENV, SIGNET_RATE_LIMITS: "api-client=1000000/60" };
  running = await startTestService({ databaseUrl: "sqlite::memory:", isMeddling: true, env });
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
  const { signInMethods, passkeyEnrolment, signUp } = defaultOrganisationSettings;
  const settings = { signInMethods, passkeyEnrolment, signUp };
  const act = { orgId: org.organisation.id, actor: "test" };
  // People sign in by password and without terms: schemathesis closes the one and sets the other.
  const openSignIn = () => changeOrganisationSettings(running.service, { ...act, settings });
  const calls = {
    ...(await oauthCalls(running, org)),
    ...(await signInCalls(running, org, account)),
    ...linkCalls(running, org, account),
    ...managementCalls(running, org, account),
    ...(await apiV1Calls(running, org, account)),
    ...(await agentCalls(running, org)),
    ...thresholdCalls(running, org),
    ...ssfCalls(running, org),
    // Whose witnesses nobody else sets.
    ...ledgerCalls(running, await makeOrganisation(running.service, "Logged")),
    ...(await deviceCalls(running, org, account)),
  };
  const real = await serveRealCalls(calls, openSignIn);
  const succeeded = path.join(folder, "succeeded");
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
      SIGNET_REAL_CALLS: real.address,
      SIGNET_SUCCEEDED: succeeded,
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const [code] = await once(child, "close");
  await real.close();
  // What it has sent may be longer than all that it says of it.
  const shown = output.replaceAll(/.{300,}/g, (line) => `${line.slice(0, 300)}…`);
  assert.equal(code, 0, shown.slice(-20_000));
  const [, tested = "0"] = /Tested: +(\d+)/.exec(output) ?? [];
  assert.ok(Number(tested) > 100, output.slice(-2_000));
  assert.deepEqual(await neverSucceeded(succeeded), []);
  assert.deepEqual(
    running.errors.filter((error) => !isDocumentedUnavailable(error)),
    [],
  );
});

const NEED_NOT_SUCCEED: Readonly<Record<string, string>> = {
  "POST /oauth/{org}/devices/renew": "it wants a device certificate, and schemathesis speaks no mutual TLS",
  "GET /openapi.json": "schemathesis has read it there before it tries anything",
};

/** Without a success nothing but refusals has been seen of an operation. */
async function neverSucceeded(succeeded: string): Promise<string[]> {
  const done = new Set((await readFile(succeeded, "utf8")).split("\n"));
  const { paths } = (await (await fetch(`${running.baseUrl}/openapi.json`)).json()) as OpenApi;
  const all = Object.entries(paths).flatMap(([at, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${at}`),
  );
  return all.filter((operation) => !done.has(operation) && !Object.hasOwn(NEED_NOT_SUCCEED, operation));
}

interface OpenApi {
  readonly paths: Readonly<Record<string, object>>;
}

const isDocumentedUnavailable = (error: unknown): boolean =>
  error instanceof Error && "status" in error && error.status === 503;
