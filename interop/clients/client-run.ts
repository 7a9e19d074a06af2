/**
 * A program of another language signs a person in. It writes a line of JSON with `authorize`, reads the callback's address, and
 * writes a line with what its library has found and where it signs out. The person is a browser of forms.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { createApplication } from "../../packages/server/src/core/applications/applications.ts";
import { createClientSecret } from "../../packages/server/src/core/applications/client-secrets.ts";
import { settingsOfStack, setupOf } from "../../packages/server/src/core/stacks/stack.ts";
import { type StackName, stacks } from "../../packages/server/src/core/stacks/stacks.ts";
import { testBrowser } from "../../packages/server/src/testing/fakes/browser.ts";
import { decide, follow, logIn, showsConsent } from "../../packages/server/src/testing/fixtures/visit.ts";
import type { TestOrganisation, TestService } from "../../packages/server/src/testing/test-service.ts";

export interface ClientProgram {
  readonly stack: StackName;
  readonly command: string;
  /** Its working folder has the printed files. */
  readonly parameters: readonly string[];
  /** Whether its library refreshes tokens. */
  readonly refreshes: boolean;
}

const LONGEST_MS = 180_000;

/** Signs in with what `app create --for` prints, checks who it is, refreshes, and signs out. */
export async function runClient(
  running: TestService,
  org: TestOrganisation,
  program: ClientProgram,
): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-client-"));
  try {
    const { application, clientSecret } = await makeStackClient(running, org, program.stack, folder);
    const { redirectUris, postLogoutRedirectUris } = application.settings;
    const [redirectUri = "", afterSignOut = ""] = [redirectUris[0], postLogoutRedirectUris[0]];
    const client = startProgram(program, folder, {
      SIGNET_ISSUER: org.issuer,
      SIGNET_CLIENT_ID: application.id,
      SIGNET_CLIENT_SECRET: clientSecret,
      SIGNET_REDIRECT_URI: redirectUri,
      SIGNET_POST_LOGOUT_REDIRECT_URI: afterSignOut,
      SIGNET_SCOPE: stacks[program.stack].scopes.join(" "),
    });
    const browser = testBrowser();
    const { authorize } = await client.read();
    let page = await logIn(browser, org, await follow(browser, await browser.get(String(authorize))));
    if (showsConsent(page)) page = await decide(browser, org, page);
    assert.ok(page.location?.startsWith(redirectUri), `${page.status} ${page.location}`);
    client.write(page.location ?? "");
    const { signOut, refreshed, ...person } = await client.read();
    assert.deepEqual(person, { sub: org.user.id, name: "Uma User", email: org.user.email });
    if (program.refreshes) assert.equal(refreshed, true);
    const bye = await follow(browser, await browser.get(String(signOut)));
    assert.equal(bye.location, afterSignOut, "back at the application");
    const again = await follow(browser, await browser.get(String(authorize)));
    assert.match(again.body, /id="login-submit"/, "signed out");
    await client.end();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes the printed files into the folder. */
async function makeStackClient(
  { service, baseUrl }: TestService,
  { organisation }: TestOrganisation,
  name: StackName,
  folder: string,
) {
  const stack = stacks[name];
  const by = { orgId: organisation.id, actor: "test" };
  const { title, clientType } = stack;
  const application = await createApplication(service, {
    ...by,
    ...{ name: title, clientType, settings: settingsOfStack(stack) },
  });
  const secret = { ...by, applicationId: application.id, label: "", expiresAt: null };
  const { plaintext: clientSecret } = await createClientSecret(service, secret);
  for (const { file, lines } of setupOf(stack, application, { baseUrl, clientSecret }))
    await writeFile(path.join(folder, path.basename(file)), `${lines}\n`);
  return { application, clientSecret };
}

/** The program's lines, in and out. */
function startProgram(
  { stack, command, parameters }: ClientProgram,
  folder: string,
  environment: Readonly<Record<string, string>>,
) {
  const child = spawn(command, parameters, {
    cwd: folder,
    timeout: LONGEST_MS,
    env: { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1", ...environment },
  });
  let faults = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    faults += text;
  });
  const closed = once(child, "close");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    read: async (): Promise<Record<string, unknown>> => {
      const { value, done } = await lines.next();
      if (done) throw new Error(`${stack} ended: ${faults.slice(-4_000)}`);
      return JSON.parse(value) as Record<string, unknown>;
    },
    write: (line: string) => child.stdin.write(`${line}\n`),
    end: async () => {
      const [code] = await closed;
      assert.equal(code, 0, faults.slice(-4_000));
    },
  };
}
