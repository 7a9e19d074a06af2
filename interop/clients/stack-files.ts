/** What `signet app create --for` prints, as the files that it names in a folder of their own. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { SetupFile } from "../../packages/server/src/core/stacks/stack.ts";
import type { StackName } from "../../packages/server/src/core/stacks/stacks.ts";
import { type Environment, runProgram } from "../../packages/server/src/testing/command-line.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import type { TestOrganisation } from "../../packages/server/src/testing/test-service.ts";

export interface StackFiles {
  readonly folder: string;
  /** Where the application listens. */
  readonly port: number;
  readonly address: string;
  readonly redirectUri: string;
  remove(): Promise<void>;
}

/** @param env the running server's own settings. @throws Error with what the command wrote when it fails */
export async function createForStack(
  stack: StackName,
  { organisation }: TestOrganisation,
  env: Environment,
): Promise<StackFiles> {
  const port = await freePort();
  const address = `http://localhost:${port}`;
  const command = ["app", "create", "--org", organisation.id, "--for", stack, "--url", address, "--json"];
  const { code, out, err } = await runProgram(command, env);
  if (code !== 0) throw new Error(`signet ${command.join(" ")} ended with ${code}: ${err}`);
  const { setup, redirectUris } = JSON.parse(out) as { setup: SetupFile[]; redirectUris: string[] };
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-client-"));
  for (const { file, lines } of setup) await writeFile(path.join(folder, path.basename(file)), `${lines}\n`);
  const remove = () => rm(folder, { recursive: true, force: true });
  return { folder, port, address, redirectUri: redirectUris[0] ?? "", remove };
}
