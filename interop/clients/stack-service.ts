/** Signet with one organisation, and servers of applications that `signet app create --for` has registered with it. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { StackName } from "../../packages/server/src/core/stacks/stacks.ts";
import { type Environment, runProgram } from "../../packages/server/src/testing/command-line.ts";
import { quickPasswords } from "../../packages/server/src/testing/fakes/quick-passwords.ts";
import {
  makeOrganisation,
  startTestService,
  TEST_MASTER_KEY,
  type TestOrganisation,
} from "../../packages/server/src/testing/test-service.ts";
import { makePerson, type Person } from "./person.ts";
import { createForStack, type StackFiles } from "./stack-files.ts";

export interface StackServer {
  output(): string;
  stop(): Promise<void>;
}

export interface StackService {
  readonly org: TestOrganisation;
  /** Of commands of its operator. */
  readonly env: Environment;
  /**
   * Creates the application, starts its server with what was printed, and stops it whatever happens.
   * @param stack its name, and the library's own redirect path where that is not the stack's
   */
  withServer(
    stack: StackName | readonly [StackName, string],
    start: (files: StackFiles) => Promise<StackServer>,
    use: (files: StackFiles, person: Person) => Promise<void>,
  ): Promise<void>;
  /** @throws AssertionError when the service has logged errors */
  close(): Promise<void>;
}

export async function startStackService(): Promise<StackService> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-clients-"));
  const databaseUrl = `sqlite:${path.join(folder, "signet.db")}`;
  const running = await startTestService({
    databaseUrl,
    passwords: quickPasswords,
    masterKey: TEST_MASTER_KEY,
  });
  const org = await makeOrganisation(running.service);
  const env = {
    DATABASE_URL: databaseUrl,
    SIGNET_MASTER_KEY: TEST_MASTER_KEY,
    SIGNET_DATA_DIR: running.service.config.dataDir,
    SIGNET_BASE_URL: running.baseUrl,
  };
  const member = ["user", "set-attributes", "--org", org.organisation.id, "--id", org.user.id];
  const { code, err } = await runProgram([...member, "--group", "staff", "--group", "admins"], env);
  assert.equal(code, 0, err);
  const withServer: StackService["withServer"] = async (of, start, use) => {
    const [stack, redirectPath] = typeof of === "string" ? [of] : of;
    const files = await createForStack(stack, org, env, redirectPath);
    try {
      const server = await start(files);
      try {
        await use(files, makePerson(org));
      } catch (error) {
        throw new Error(`${stack}: ${server.output().slice(-4_000)}`, { cause: error });
      } finally {
        await server.stop();
      }
    } finally {
      await files.remove();
    }
  };
  const close = async () => {
    await running.close();
    await rm(folder, { recursive: true, force: true });
    assert.deepEqual(running.errors, []);
  };
  return { org, env, withServer, close };
}
