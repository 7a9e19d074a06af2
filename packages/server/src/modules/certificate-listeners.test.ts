import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { connect as connectPlain } from "node:net";
import { after, before, test } from "node:test";
import { connect, type TLSSocket } from "node:tls";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import Fastify, { type FastifyInstance } from "fastify";
import { readConfig } from "../config/config.ts";
import { clientCertificate } from "../http/listeners/client-certificate.ts";
import { proxyListener } from "../http/listeners/proxy-listener.ts";
import { eventually } from "../testing/eventually.ts";
import { clientCertHeader } from "../testing/fixtures/enrolled-device.ts";
import { freePort } from "../testing/free-port.ts";
import { type MtlsClient, mtlsClient, type TestListeners, testListeners } from "../testing/test-listeners.ts";
import { type OpenListeners, openCertificateListeners } from "./certificate-listeners.ts";

const mine = testCertificate({ subject: "mine" });
const others = testCertificate({ subject: "others" });
const shown = {
  certificate: mine.pem,
  key: mine.privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
};

let listeners: TestListeners;
let app: FastifyInstance;
let opened: OpenListeners;
let mainUrl: string;
const failures: unknown[] = [];
const refusals: string[] = [];
let reloads = 0;
const clients: MtlsClient[] = [];

function client(identity?: typeof shown, own = listeners.own): MtlsClient {
  const made = mtlsClient({ mtlsUrl: listeners.mtlsUrl, own }, identity);
  clients.push(made);
  return made;
}

/** An app that tells what certificate a request has. */
async function startApp(on: TestListeners) {
  const port = await freePort();
  const config = readConfig({ ...on.env, PORT: String(port), HOST: "127.0.0.1" });
  const made = Fastify();
  made.get("/certificate", async (request) => ({
    certificate: clientCertificate(request)?.toString("base64") ?? null,
    protocol: (request.raw.socket as Partial<TLSSocket>).getProtocol?.() ?? null,
  }));
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let begun = 0;
  made.get("/slow", async () => {
    begun++;
    return finished.then(() => ({ done: true }));
  });
  const listening = await openCertificateListeners(made, config, {
    reloaded: () => {
      reloads++;
    },
    failed: (error) => failures.push(error),
    refused: (cause) => refusals.push(cause),
  });
  await made.listen({ host: config.host, port });
  await listening.listen();
  return { app: made, listening, finish, begun: () => begun, url: `http://127.0.0.1:${port}` };
}

before(async () => {
  listeners = await testListeners();
  const started = await startApp(listeners);
  ({ app, url: mainUrl } = started);
  opened = started.listening;
});
after(async () => {
  for (const one of clients) one.close();
  await app.close();
  await listeners.remove();
});

async function certificateAt(url: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/certificate`, { headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const header = { "client-cert": clientCertHeader(others.der) };

test("the TLS listener reports the certificate proven by the handshake", async () => {
  const { body } = await client(shown).get("/certificate");
  assert.equal(body["certificate"], mine.x5c);
  assert.equal((await client(shown).get("/certificate", header)).body["certificate"], mine.x5c);
  assert.equal((await client().get("/certificate")).body["certificate"], null);
  assert.equal((await client().get("/certificate", header)).body["certificate"], null);
});

test("a certificate without its key can't connect", async () => {
  const key = others.privateKey.export({ format: "pem", type: "pkcs8" }).toString();
  await assert.rejects(client({ certificate: mine.pem, key }).get("/certificate"));
});

test("the ordinary listener ignores certificate headers", async () => {
  for (const name of ["client-cert", "x-client-cert", "ssl-client-cert", "x-ssl-client-cert", "client_cert"])
    assert.equal((await certificateAt(mainUrl, { [name]: header["client-cert"] })).body["certificate"], null);
});

test("the proxy listener trusts the header, and rejects invalid and repeated ones", async () => {
  assert.equal((await certificateAt(listeners.proxyUrl, header)).body["certificate"], others.x5c);
  assert.equal((await certificateAt(listeners.proxyUrl)).body["certificate"], null);
  refusals.length = 0;
  const twice = `${header["client-cert"]}, ${header["client-cert"]}`;
  for (const value of [twice, "nonsense", "::", encodeURIComponent(others.pem)]) {
    const { status, body } = await certificateAt(listeners.proxyUrl, { "client-cert": value });
    assert.equal(status, 400);
    assert.equal(body["error"], "invalid_request");
    assert.match(String(body["error_description"]), /^Client-Cert /);
  }
  assert.equal(refusals.length, 4);
  assert.match(await rawAnswer(["Client-Cert", "client-CERT"]), /^HTTP\/1\.1 400 .*repeated/s);
});

/** Two fields, as no client library sends them. */
async function rawAnswer(names: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(listeners.proxyUrl);
  const socket = connectPlain(Number(port), hostname);
  const fields = names.map((name) => `${name}: ${header["client-cert"]}\r\n`).join("");
  socket.write(`GET /certificate HTTP/1.1\r\nHost: x\r\n${fields}Connection: close\r\n\r\n`);
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}

test("the proxy listener accepts proxies only", async () => {
  const heard: string[] = [];
  const server = proxyListener({
    format: "rfc9440",
    trusted: ["10.1.0.0/16", "2001:db8::1"],
    refused: (cause) => heard.push(cause),
    answer: (_request, response) => response.end("heard"),
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  await assert.rejects(fetch(`http://127.0.0.1:${address.port}/`));
  assert.match(heard.join(), /an untrusted address/);
  server.close();
});

/** @returns what the connection came to, in the protocol that was asked for */
async function handshake(options: { maxVersion: "TLSv1.1" | "TLSv1.2"; minVersion: "TLSv1" | "TLSv1.2" }) {
  const { port } = new URL(listeners.mtlsUrl);
  const socket = connect({
    host: "127.0.0.1",
    port: Number(port),
    ca: listeners.own.cert,
    ciphers: "DEFAULT@SECLEVEL=0",
    ...options,
  });
  await once(socket, "secureConnect");
  return socket;
}

test("requires TLS 1.2 and refuses renegotiation", async () => {
  await assert.rejects(handshake({ minVersion: "TLSv1", maxVersion: "TLSv1.1" }));
  const socket = await handshake({ minVersion: "TLSv1.2", maxVersion: "TLSv1.2" });
  const failed = once(socket, "error").catch((error: unknown) => [error]);
  const outcome = await new Promise<Error | null>((resolve) => {
    if (socket.renegotiate({}, resolve) === false) resolve(new Error("refused"));
    void failed.then(([error]) => resolve(error as Error));
  });
  assert.ok(outcome instanceof Error);
  socket.destroy();
});

for (const version of ["TLSv1.2", "TLSv1.3"] as const)
  test(`doesn't resume sessions with ${version}`, async () => {
    const { port } = new URL(listeners.mtlsUrl);
    const options = {
      ...{ host: "127.0.0.1", port: Number(port), ca: listeners.own.cert },
      ...{ minVersion: version, maxVersion: version },
    };
    const first = connect({ ...options, cert: shown.certificate, key: shown.key });
    const sessions: Buffer[] = [];
    first.on("session", (session) => sessions.push(session));
    await once(first, "secureConnect");
    first.write("GET /certificate HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    for await (const _chunk of first);
    const session = sessions.at(-1) ?? first.getSession();
    assert.ok(session);
    const again = connect({ ...options, session });
    await once(again, "secureConnect");
    assert.equal(again.isSessionReused(), false);
    again.write("GET /certificate HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    let text = "";
    for await (const chunk of again) text += String(chunk);
    assert.ok(!text.includes(mine.x5c));
  });

test("reloads the server certificate, and keeps the old one when the new one is invalid", async () => {
  await opened.reload();
  assert.equal(reloads, 0);
  const before = client();
  assert.equal((await before.get("/certificate")).status, 200);
  const next = await listeners.replace();
  await opened.reload();
  assert.equal(reloads, 1);
  assert.equal((await client(undefined, next).get("/certificate")).status, 200);
  await assert.rejects(client(undefined, listeners.own).get("/certificate"));
  // What was open stays open.
  assert.equal((await before.get("/certificate")).status, 200);
  assert.equal(before.connections(), 1);

  await writeFile(String(listeners.env["SIGNET_MTLS_KEY_FILE"]), shown.key);
  await opened.reload();
  assert.equal(failures.length, 1);
  assert.equal((await client(undefined, next).get("/certificate")).status, 200);
});

test("a shutdown finishes requests and accepts no new ones", async () => {
  const on = await testListeners();
  const { app: ending, finish, begun } = await startApp(on);
  const waiting = mtlsClient(on);
  const answer = waiting.get("/slow");
  const atProxy = fetch(`${on.proxyUrl}/slow`);
  await eventually("both requests are under way", () => begun() === 2);
  const closed = ending.close();
  await eventually("new connections are refused", async () => {
    const failure = await mtlsClient(on)
      .get("/certificate")
      .then(
        () => undefined,
        (error: NodeJS.ErrnoException) => error.code,
      );
    // A connection that the kernel accepted, but the server had not, when the listener closed is reset.
    assert.ok([undefined, "ECONNRESET", "ECONNREFUSED"].includes(failure), `failed with ${failure}`);
    return failure === "ECONNREFUSED";
  });
  finish();
  assert.deepEqual((await answer).body, { done: true });
  assert.equal((await atProxy).status, 200);
  await closed;
  waiting.close();
  await on.remove();
});

test("a shutdown closes remaining requests and handshakes", async () => {
  const on = await testListeners();
  const { app: ending, listening, finish, begun } = await startApp(on);
  const waiting = mtlsClient(on);
  const answers = [waiting.get("/slow"), fetch(`${on.proxyUrl}/slow`)];
  const silent = connectPlain(Number(new URL(on.mtlsUrl).port), "127.0.0.1");
  await once(silent, "connect");
  await eventually("both requests are under way", () => begun() === 2);
  const cut = Promise.all([once(silent, "close"), ...answers.map((one) => assert.rejects(one))]);
  const began = performance.now();
  const closed = ending.close();
  listening.closeAllConnections();
  await cut;
  await closed;
  // A handshake that is left alone is given up after ten seconds.
  assert.ok(performance.now() - began < 8_000);
  finish();
  waiting.close();
  await on.remove();
});

test("startup fails without a matching certificate", async () => {
  const on = await testListeners();
  await writeFile(String(on.env["SIGNET_MTLS_KEY_FILE"]), shown.key);
  await assert.rejects(startApp(on), /mismatch/);
  await on.remove();
  await assert.rejects(startApp(on), { code: "ENOENT" });
});
