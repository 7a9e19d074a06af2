/** A client that is generated from /openapi.json: its types compile, and a program that is written with them works. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import openapiTS, { astToString } from "openapi-typescript";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { startServerInProcess } from "../support/server-here.ts";
import type { RunningServer } from "../support/server-process.ts";

const compiler = fileURLToPath(new URL("../../node_modules/.bin/tsc", import.meta.url));

/** What somebody would write: each call's body and answer come from the document alone. */
const program = `
import type { components, paths } from "./signet.ts";

type Json<T> = T extends { content: { "application/json": infer Content } } ? Content : never;
type Body<O> = O extends { requestBody: infer R } ? Json<R> : O extends { requestBody?: infer R } ? Json<R> | undefined : undefined;
type Good<O> = O extends { responses: infer R } ? { [S in keyof R & (200 | 201)]: Json<R[S]> }[keyof R & (200 | 201)] : never;

const [, , baseUrl = "", publicKey = "", secretKey = "", email = ""] = process.argv;

async function call<P extends keyof paths, M extends "get" | "post">(
  path: P,
  method: M,
  body: Body<paths[P][M]>,
): Promise<Good<paths[P][M]>> {
  const text = body === undefined ? "" : JSON.stringify(body);
  const bytes = (value: string) => new TextEncoder().encode(value);
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes(secretKey), algorithm, false, ["sign"]);
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes(text)));
  const signature = btoa(String.fromCharCode(...mac));
  const headers = { authorization: publicKey + ":" + signature, "content-type": "application/json" };
  const answer = await fetch(baseUrl + path, {
    method: method.toUpperCase(),
    headers,
    ...(body === undefined ? {} : { body: text }),
  });
  if (!answer.ok) throw new Error(((await answer.json()) as components["schemas"]["Problem"]).type);
  return (await answer.json()) as Good<paths[P][M]>;
}

const user = await call("/legacy/api/users/get", "post", { email });
const role: "Standard" | "Administrator" = user.Role;
const made = await call("/legacy/api/oauth/clients", "post", { name: "Generated", clientType: "native", redirectUris: ["https://generated.example/"] });
const client: components["schemas"]["Client"] = made;
const list = await call("/legacy/api/oauth/clients", "get", undefined);
const next: string | null = list.nextCursor;
console.log(JSON.stringify({ email: user.Email, role, clientId: client.clientId, names: list.items.map(({ name }) => name), next }));

// Types that let everything pass would prove nothing: each of these must be refused.
export async function refused(): Promise<void> {
  // @ts-expect-error the user's members are in PascalCase
  user.email;
  // @ts-expect-error an address is text
  await call("/legacy/api/users/get", "post", { email: 1 });
  // @ts-expect-error a client needs a name
  await call("/legacy/api/oauth/clients", "post", { clientType: "native" });
  // @ts-expect-error there is no such type of client
  await call("/legacy/api/oauth/clients", "post", { name: "X", clientType: "desktop" });
  // @ts-expect-error there is no such address
  await call("/legacy/api/oauth/clientz", "get", undefined);
}
`;

let server: RunningServer;
let demo: DemoFile;
let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-client-"));
  server = await startServerInProcess();
  demo = await server.demo();
  const document = new URL(`${server.baseUrl}/openapi.json`);
  await writeFile(path.join(folder, "signet.ts"), astToString(await openapiTS(document)));
  await writeFile(path.join(folder, "program.ts"), program);
  await writeFile(path.join(folder, "package.json"), '{"type":"module"}');
  // Only what the program uses of its surroundings, so that no other package is needed.
  await writeFile(path.join(folder, "node.d.ts"), "declare const process: { argv: string[] };");
});
after(async () => {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

test("the generated types compile and reject invalid calls", async () => {
  const options = ["--strict", "--noEmit", "--noUncheckedIndexedAccess", "--allowImportingTsExtensions"];
  const target = ["--target", "es2024", "--module", "nodenext", "--lib", "es2024,dom", "--types", ""];
  const files = ["signet.ts", "program.ts", "node.d.ts"];
  const run = promisify(execFile)(process.execPath, [compiler, ...options, ...target, ...files], {
    cwd: folder,
  });
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  assert.equal(stdout, "");
});

test("responses of the running service match the generated types", async () => {
  const { publicKey, secretKey } = demo.administratorAccount;
  const args = ["program.ts", server.baseUrl, publicKey, secretKey, demo.user.email];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder });
  const told = JSON.parse(stdout) as {
    email: string;
    role: string;
    clientId: string;
    names: string[];
    next: null;
  };
  assert.deepEqual([told.email, told.role, told.next], [demo.user.email, "Standard", null]);
  assert.match(told.clientId, /^[0-9a-f-]{36}$/);
  assert.ok(told.names.includes("Generated"));
});
