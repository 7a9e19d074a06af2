/** What Entra ID and Okta send after what their documentation says (written by hand, not recorded from a tenant), from the first test to the deletion of a user. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { newScimConnection } from "../../testing/fixtures/scim-connection.ts";
import { makeOrganisation, startTestService, type TestService } from "../../testing/test-service.ts";

interface Step {
  readonly what: string;
  readonly method: string;
  /** Below the connection's address; `{name}` is what an earlier step kept. */
  readonly path: string;
  readonly body?: unknown;
  readonly status: number;
  /** Members of the answer, among others. */
  readonly has?: Readonly<Record<string, unknown>>;
  readonly lacks?: readonly string[];
  /** Names for members of the answer. */
  readonly keep?: Readonly<Record<string, string>>;
}

const stepsOf = (directory: string) =>
  JSON.parse(readFileSync(new URL(`${directory}.json`, import.meta.url), "utf8")) as Step[];

forEachDatabase(({ fresh }) => {
  let running: TestService;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  for (const directory of ["entra-id", "okta"])
    for (const policy of ["disable", "delete"] as const)
      test(`${directory} is served whole, with the policy ${policy}`, async () => {
        const org = await makeOrganisation(running.service);
        const scim = await newScimConnection(running.service, org.organisation.id, policy);
        const kept = new Map<string, string>();
        const filled = <T>(value: T): T =>
          JSON.parse(
            JSON.stringify(value).replaceAll(/\{(\w+)\}/g, (whole, name: string) => kept.get(name) ?? whole),
          ) as T;
        for (const step of stepsOf(directory)) {
          const { method, path, body, has = {}, lacks = [] } = filled({ ...step, keep: undefined });
          const answer = await scim.call(method, path.replaceAll(/["[\]]/g, encodeURIComponent), body);
          const told = `${step.what}: ${JSON.stringify(answer.body)}`;
          assert.equal(answer.status, step.status, told);
          for (const [name, value] of Object.entries(has)) assert.deepEqual(answer.body[name], value, told);
          for (const name of lacks) assert.equal(name in answer.body, false, told);
          for (const [name, member] of Object.entries(step.keep ?? {}))
            kept.set(name, String(answer.body[member]));
        }
      });
});
