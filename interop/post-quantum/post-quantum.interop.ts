/** Tokens signed with ML-DSA, by the organisation's keys and by an agent's, verified by programs that share nothing with ours. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { type MlDsaAlg, mlDsaAlgs } from "../../packages/protocol/src/jose/ml-dsa.ts";
import { codeSource } from "../../packages/server/src/testing/fakes/code-source.ts";
import { makeAgent, makePool } from "../../packages/server/src/testing/fixtures/agent.ts";
import { tokenFor } from "../../packages/server/src/testing/fixtures/api-client.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";
import { missingGo } from "../clients/go-program.ts";
import { keptFolder } from "../kept-folder.ts";

const timeout = 240_000;
const here = import.meta.dirname;

let running: TestService;
let org: TestOrganisation;
before(async () => {
  running = await startTestService({ databaseUrl: "sqlite::memory:" });
  org = await makeOrganisation(running.service);
});
after(() => running.close());

interface Verifier {
  readonly program: string;
  readonly parameters: readonly string[];
  readonly folder: string;
}

type Tokens = Readonly<Record<string, string>>;

/** What the program says about each token; rejects when it refuses one. */
async function verified({ program, parameters, folder }: Verifier, jwks: string, tokens: Tokens) {
  const child = spawn(program, [...parameters, jwks], { cwd: folder });
  child.stdin.end(JSON.stringify(tokens));
  const ended = once(child, "close");
  const [out, error] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await ended) as [number];
  if (code !== 0) throw new Error(error);
  return out.trim().split("\n");
}

const ofOrganisation = async (alg: MlDsaAlg): Promise<Tokens> => {
  const client = await makeClient(running.service, org.organisation, {
    redirectUris: [REDIRECT_URI],
    idTokenSignedResponseAlg: alg,
    accessTokenSignedResponseAlg: alg,
  });
  const { accessToken, idToken } = await codeSource(org).tokens({}, client);
  return { access_token: accessToken, id_token: idToken };
};

/** Signed by an agent. @returns also where the pool's keys are */
async function ofPool(alg: MlDsaAlg): Promise<{ readonly tokens: Tokens; readonly issuer: string }> {
  const pool = await makePool(running.service, org, { algs: [alg] });
  const registered = await makeAgent(running.service, org, pool);
  // Seen once: else nothing is queued for it.
  await registered.call("queue?wait=0");
  const agent = registered.serve();
  try {
    const client = await makeClient(running.service, org.organisation, {
      grantTypes: ["client_credentials"],
      allowedScopes: [],
      signingPoolId: pool.id,
    });
    const issuer = `${org.issuer}/sovereign/pools/${pool.id}`;
    return { tokens: { access_token: await tokenFor(org, client) }, issuer };
  } finally {
    await agent.stop();
  }
}

/** The same token with one bit of its signature changed, which any padding leaves alone. */
function altered(token = ""): string {
  const [head = "", body = "", signature = ""] = token.split(".");
  const bytes = Buffer.from(signature, "base64url");
  bytes[100] = (bytes[100] ?? 0) ^ 1;
  return `${head}.${body}.${bytes.toString("base64url")}`;
}

async function verifiesAll(verifier: Verifier): Promise<void> {
  const jwks = `${org.issuer}/.well-known/jwks.json`;
  for (const alg of mlDsaAlgs) {
    const tokens = await ofOrganisation(alg);
    const names = ["access_token", "id_token"];
    const expected = names.map((name) => `${name} ${alg} ${org.issuer}`);
    assert.deepEqual(await verified(verifier, jwks, tokens), expected);
    for (const name of names)
      await assert.rejects(verified(verifier, jwks, { ...tokens, [name]: altered(tokens[name]) }));
    const other = await ofOrganisation(alg);
    const mixed = { id_token: tokens["id_token"] ?? "", access_token: other["access_token"] ?? "" };
    await assert.rejects(verified(verifier, jwks, mixed), /at_hash/);
    const { tokens: signed, issuer } = await ofPool(alg);
    assert.deepEqual(await verified(verifier, `${issuer}/jwks.json`, signed), [
      `access_token ${alg} ${issuer}`,
    ]);
    await assert.rejects(verified(verifier, jwks, signed), /no such key/);
  }
}

test(
  "CIRCL in Go verifies ID and access tokens by the JWKS, at_hash included",
  { skip: missingGo(21), timeout },
  () => verifiesAll({ program: "go", parameters: ["run", "."], folder: path.join(here, "verify-token") }),
);

/** Keycloak brings it. */
const [bouncyCastle] = globSync("keycloak-*/bin/client/lib/bcprov-*.jar", { cwd: keptFolder("keycloak") });
const missing = bouncyCastle === undefined && "Keycloak, which has Bouncy Castle, is not built";

test("Bouncy Castle in Java verifies ID and access tokens by the JWKS, at_hash included", {
  skip: missing,
  timeout,
}, async (t) => {
  const folder = path.join(here, "verify-token-java");
  const classes = await mkdtemp(path.join(tmpdir(), "verify-token-"));
  t.after(() => rm(classes, { recursive: true }));
  const library = path.join(keptFolder("keycloak"), bouncyCastle ?? "");
  await promisify(execFile)("javac", ["-cp", library, "-d", classes, "VerifyToken.java"], { cwd: folder });
  const parameters = ["-cp", `${library}:${classes}`, "VerifyToken"];
  await verifiesAll({ program: "java", parameters, folder });
});
