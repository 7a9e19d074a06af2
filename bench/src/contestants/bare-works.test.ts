import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openBareDatabase } from "./bare-database.ts";
import { type BareWork, bareHandler } from "./bare-works.ts";

type Body = Record<string, unknown>;

async function start(context: TestContext, work: BareWork) {
  const folder = mkdtempSync(join(tmpdir(), "signet-bench-test-"));
  const database = openBareDatabase(folder);
  const server = createServer(bareHandler(work, database)).listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    server.closeAllConnections();
    server.close();
    database.close();
    rmSync(folder, { recursive: true });
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const post = async (form: Record<string, string>) => {
    const response = await fetch(url, { method: "POST", body: new URLSearchParams(form) });
    return { status: response.status, body: (await response.json()) as Body };
  };
  return { url, post, seed: database.seed, find: database.find };
}

const jwt = /^eyJ[\w-]+\.[\w-]+\.[\w-]{86}$/;

test("the bare hello says hello", async (context) => {
  const { url } = await start(context, "hello");
  assert.equal(await (await fetch(url)).text(), "hello");
});

test("the bare client credentials answer holds a token signed with ES256", async (context) => {
  const { post } = await start(context, "sign");
  const { status, body } = await post({ client_id: "app" });
  assert.equal(status, 200);
  assert.match(String(body["access_token"]), jwt);
});

test("the bare exchange signs two tokens and takes a code once", async (context) => {
  const { post, seed } = await start(context, "exchange");
  const [code = ""] = seed(3);
  const { body } = await post({ code });
  assert.match(String(body["access_token"]), jwt);
  assert.match(String(body["id_token"]), jwt);
  assert.equal((await post({ code })).status, 400);
});

test("the bare refresh rotates: the successor works, the old token does not", async (context) => {
  const { post, seed } = await start(context, "refresh");
  const [first = ""] = seed(1);
  const { body } = await post({ refresh_token: first });
  assert.match(String(body["access_token"]), jwt);
  assert.equal((await post({ refresh_token: String(body["refresh_token"]) })).status, 200);
  assert.equal((await post({ refresh_token: first })).status, 400);
});

test("the bare introspection finds a stored token and no other", async (context) => {
  const { post, seed } = await start(context, "introspect");
  const [token = ""] = seed(1);
  assert.equal((await post({ token })).body["active"], true);
  assert.equal((await post({ token: "another" })).body["active"], false);
});

test("the bare proof is checked by the key in its header", async (context) => {
  const { url } = await start(context, "prove");
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const input = `${encode({ jwk: publicKey.export({ format: "jwk" }) })}.${encode({ jti: "1" })}`;
  const of = (bytes: string) =>
    sign("sha256", Buffer.from(bytes), { key: privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url");
  const post = async (signature: string) => {
    const headers = { DPoP: `${input}.${signature}` };
    return (await fetch(url, { method: "POST", headers, body: new URLSearchParams({ client_id: "c" }) }))
      .status;
  };
  assert.deepEqual([await post(of(input)), await post(of(`${input}x`))], [200, 400]);
});

test("the bare pushed request is stored", async (context) => {
  const { post, find } = await start(context, "insert");
  const { body } = await post({ client_id: "c" });
  assert.equal(find(String(body["request_uri"]).slice("urn:ietf:params:oauth:request_uri:".length)), "c");
});
