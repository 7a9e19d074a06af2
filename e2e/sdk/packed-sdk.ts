/** Applications of the packed SDK, for a folder that it alone is installed in: compiled as a developer would, and run. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { access, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const repository = path.join(import.meta.dirname, "..", "..");

/** An API on Web standards: no platform's types are there. It signs tokens for itself, so that no service is needed. */
const webApplication = `
import { createFilter, identify, oauthUserBearer, protect, SignetError, type Principal } from "@signet/client-sdk";
import { honoMiddleware, type SignetVariables } from "@signet/client-sdk/hono";
import { legacyApiClient } from "@signet/client-sdk/legacy-api";
import { managementClient } from "@signet/client-sdk/management";
import { calculateJwkThumbprint, exportJWK, exportSPKI, generateKeyPair, SignJWT } from "jose";

const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
const [issuer, audience] = ["https://id.example", "https://api.example"];
const kid = await calculateJwkThumbprint(await exportJWK(publicKey));
const tokenFor = (aud: string): Promise<string> =>
  new SignJWT({ client_id: "batch", scope: "jobs:run" })
    .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid })
    .setIssuer(issuer).setSubject("someone").setAudience(aud).setJti(kid)
    .setIssuedAt().setExpirationTime("5m").sign(privateKey);

const filter = oauthUserBearer({
  filterType: "OAuthUserBearer",
  issuer,
  oauthClientId: "api",
  oauthAudience: audience,
  sovereignPublicKeys: [await exportSPKI(publicKey)],
});
const handler = protect(filter, (_request, principal: Principal) => Response.json(principal.subject));
const ask = async (token: string): Promise<Response> =>
  handler(new Request(audience, { headers: { authorization: \`Bearer \${token}\` } }));
const [good, bad] = [await ask(await tokenFor(audience)), await ask(await tokenFor("https://other.example"))];
let refusal = "none";
try {
  // @ts-expect-error An incomplete configuration does not compile.
  createFilter({ filterType: "OAuthFederated" });
} catch (error) {
  if (error instanceof SignetError) refusal = error.code;
}
// @ts-expect-error: the names of filters are checked
const misnamed = { filterType: "OAuthFederatd" } satisfies Parameters<typeof createFilter>[0];
export type Variables = SignetVariables;
export const doors = [identify, honoMiddleware, legacyApiClient, managementClient, misnamed];
console.log(JSON.stringify([good.status, await good.json(), bad.status, refusal]));
`;

/** The same behind Node's own server. */
const nodeApplication = `
import { once } from "node:events";
import { createServer } from "node:http";
import { none, principalOf } from "@signet/client-sdk";
import { expressMiddleware } from "@signet/client-sdk/express";
import { fastifyPlugin } from "@signet/client-sdk/fastify";
import { webRequestOf } from "@signet/client-sdk/node";

const protectedBy = expressMiddleware(none({ filterType: "None" }));
const server = createServer((request, response) => {
  protectedBy(request, response, () => response.end(String(principalOf(request))));
}).listen(0, "127.0.0.1");
await once(server, "listening");
const address = server.address();
const port = typeof address === "object" ? address?.port : undefined;
const answer = await fetch(\`http://127.0.0.1:\${port}\`);
console.log(JSON.stringify([answer.status, await answer.text(), typeof fastifyPlugin, typeof webRequestOf]));
server.close();
`;

const strict = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  target: "es2022",
  module: "nodenext",
};
const applications = [
  // Our declarations are checked as well, with nothing at hand but the standard library.
  {
    name: "web",
    text: webApplication,
    options: { lib: ["es2022", "dom", "dom.iterable"], types: [], skipLibCheck: false },
  },
  {
    name: "node",
    text: nodeApplication,
    options: {
      lib: ["es2022"],
      types: ["node"],
      typeRoots: [path.join(repository, "node_modules", "@types")],
      skipLibCheck: true,
    },
  },
] as const;

/** Compiles both applications with TypeScript 5.9, side by side. @param folder that the SDK is installed in */
export async function compileApplications(folder: string): Promise<void> {
  const compiler = path.join(repository, "e2e", "node_modules", "typescript", "bin", "tsc");
  const compile = async ({ name, text, options }: (typeof applications)[number]) => {
    const place = path.join(folder, name);
    await mkdir(place);
    await writeFile(path.join(place, "package.json"), '{ "type": "module" }\n');
    await writeFile(path.join(place, "application.ts"), text);
    const configuration = { compilerOptions: { ...strict, ...options }, files: ["application.ts"] };
    await writeFile(path.join(place, "tsconfig.json"), JSON.stringify(configuration));
    await run(process.execPath, [compiler, "-p", place]).catch(({ stdout }: { stdout: string }) =>
      assert.fail(`${name}: ${stdout}`),
    );
  };
  await Promise.all(applications.map(compile));
}

/** What both print, as JSON. @param node the program to run them with */
export async function runApplications(folder: string, node: string): Promise<unknown[]> {
  const printed = applications.map(async ({ name }) => {
    const { stdout } = await run(node, [path.join(folder, name, "application.js")], { timeout: 60_000 });
    return JSON.parse(stdout) as unknown;
  });
  return Promise.all(printed);
}

/** Other Nodes of this machine that the SDK is for, one of each major version; none is fine. */
export async function otherNodes(): Promise<string[]> {
  const found = new Map([[process.versions.node.split(".")[0] ?? "", ""]]);
  for (const folder of (process.env["PATH"] ?? "").split(path.delimiter)) {
    const node = path.join(folder, "node");
    const version = await access(node).then(
      () =>
        run(node, ["--version"]).then(
          ({ stdout }) => stdout.slice(1).split(".")[0] ?? "",
          () => "",
        ),
      () => "",
    );
    if (Number(version) >= 20 && !found.has(version)) found.set(version, node);
  }
  return [...found.values()].filter((node) => node !== "");
}
