/** scim2-tester, by scim2-cli, which reads what the service publishes and then tries all of it. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { forEachDatabase } from "../../packages/server/src/testing/databases.ts";
import { newScimConnection } from "../../packages/server/src/testing/fixtures/scim-connection.ts";
import { makeOrganisation, startTestService } from "../../packages/server/src/testing/test-service.ts";
import { keptFolder } from "../kept-folder.ts";

const program = path.join(keptFolder("python"), "bin/scim2");
const LONGEST_MS = 5 * 60_000;
/** Fewer, and it has not looked at everything that it did when this was written. */
const LEAST_CHECKS = 100;

forEachDatabase(({ fresh }) => {
  test("scim2-tester finds nothing", {
    skip: !existsSync(program) && "scim2-cli is not installed",
    timeout: LONGEST_MS,
  }, async () => {
    const running = await startTestService({ databaseUrl: await fresh() });
    try {
      const org = await makeOrganisation(running.service);
      for (const policy of ["disable", "delete"] as const) {
        const { root, token } = await newScimConnection(running.service, org.organisation.id, policy);
        const parameters = ["--url", root, "--header", `Authorization: Bearer ${token}`, "test"];
        const { stdout } = await promisify(execFile)(program, parameters, {
          maxBuffer: 16 * 1024 * 1024,
        }).catch(
          // It ends with 1 when it finds something, and says what.
          (error: unknown) => error as { readonly stdout: string },
        );
        const found = [...stdout.matchAll(/^(?:ERROR|CRITICAL) .*\n.*/gm)].map(([text]) => text);
        assert.deepEqual(found, []);
        assert.ok((stdout.match(/^SUCCESS /gm) ?? []).length >= LEAST_CHECKS, stdout);
      }
      assert.deepEqual(running.errors, []);
    } finally {
      await running.close();
    }
  });
});
