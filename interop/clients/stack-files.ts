/** What `signet app create --for` prints, as the files that it names in a folder of their own. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { issuerOf } from "../../packages/server/src/core/organisations/organisation.ts";
import { type SetupFile, usesAddress } from "../../packages/server/src/core/stacks/stack.ts";
import { type StackName, stacks } from "../../packages/server/src/core/stacks/stacks.ts";
import { type Environment, runProgram } from "../../packages/server/src/testing/command-line.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
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

/**
 * @param env the running server's own settings
 * @param redirectPath that of the library, where it is not the stack's
 * @throws Error with what the command wrote when it fails
 */
export async function createForStack(
  stack: StackName,
  { organisation }: TestOrganisation,
  env: Environment,
  redirectPath?: string,
): Promise<StackFiles> {
  const port = await freePort();
  const address = `http://localhost:${port}`;
  const command = ["app", "create", "--org", organisation.id, "--for", stack, "--json"];
  if (usesAddress(stacks[stack])) command.push("--url", address);
  if (redirectPath !== undefined) command.push("--redirect-uri", `${address}${redirectPath}`);
  const { code, out, err } = await runProgram(command, env);
  if (code !== 0) throw new Error(`signet ${command.join(" ")} ended with ${code}: ${err}`);
  const { setup, redirectUris } = JSON.parse(out) as { setup: SetupFile[]; redirectUris: string[] };
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-client-"));
  for (const { file, lines } of setup) await writeFile(path.join(folder, path.basename(file)), `${lines}\n`);
  await knowsScopes(organisation.id, stack, env);
  const remove = () => rm(folder, { recursive: true, force: true });
  return { folder, port, address, redirectUri: redirectUris[0] ?? "", remove };
}

/** The command may have created a scope, which the running server learns a moment later. */
async function knowsScopes(orgId: string, stack: StackName, env: Environment): Promise<void> {
  const discovery = `${issuerOf(env["SIGNET_BASE_URL"] ?? "", orgId)}/.well-known/openid-configuration`;
  await eventually(`the server knows the scopes of ${stack}`, async () => {
    const { scopes_supported: known } = (await (await fetch(discovery)).json()) as {
      scopes_supported: string[];
    };
    return stacks[stack].scopes.every((scope) => known.includes(scope));
  });
}
