import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage, type Server } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import { createServer as createTlsServer, request as tlsRequest } from "node:https";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { SignetError } from "../errors.ts";
import { bodyStreamOf } from "./node-body.ts";
import { certificateOfSocket, webRequestOf } from "./node-request.ts";

type Handler = (request: IncomingMessage) => Promise<unknown>;

let server: Server;
let port: number;
let handler: Handler = async () => undefined;

before(async () => {
  server = createServer((request, response) => {
    handler(request).then(
      (told) => response.end(JSON.stringify(told ?? null)),
      (error: unknown) => {
        const status = error instanceof SignetError ? error.status : 500;
        response.writeHead(status).end(JSON.stringify(String(error)));
      },
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = portOf(server);
});
after(() => server.close());

function portOf(listening: { address(): unknown }): number {
  const address = listening.address() as { port: number };
  return address.port;
}

const options = { baseUrl: "https://app.example/" };
const told = (request: IncomingMessage) => webRequestOf(request, options);

/** A request as it is written, and the answer's body. */
async function raw(text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(text);
  let answer = "";
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}

const rawGet = (target: string, headers = "") =>
  raw(`GET ${target} HTTP/1.1\r\nHost: evil.example\r\n${headers}Connection: close\r\n\r\n`);

test("the URL is the configured origin with the request's path, whatever Host and the target say", async () => {
  handler = async (request) => told(request).url;
  const targets = {
    "/a/b?c=d": "https://app.example/a/b?c=d",
    "//evil.example/x": "https://app.example//evil.example/x",
    "http://evil.example/x?y": "https://app.example/x?y",
    "http://user:pass@evil.example": "https://app.example/",
    "http://evil.example?y": "https://app.example/?y",
    "/@evil.example": "https://app.example/@evil.example",
    ":8080": undefined,
  };
  for (const [target, expected] of Object.entries(targets)) {
    const answer = await rawGet(target);
    if (expected === undefined) assert.match(answer, /^HTTP\/1\.1 400/, target);
    else assert.ok(answer.includes(JSON.stringify(expected)), `${target}: ${answer}`);
  }
  handler = async (request) => webRequestOf(request).url;
  assert.match(await rawGet("/a"), /"http:\/\/application\.invalid\/a"/);
  handler = async (request) => webRequestOf(request, options, "/mounted/a").url;
  assert.match(await rawGet("/a"), /"https:\/\/app\.example\/mounted\/a"/);
  // No parser lets this through; joined to the origin it would be another host.
  handler = async (request) => webRequestOf(request, options, "x:.evil.example/").url;
  assert.match(await rawGet("/a"), /^HTTP\/1\.1 400/);
});

test("a URL that routers and `URL` interpret differently is rejected: its signature could be used for another handler", async () => {
  handler = async (request) => told(request).url;
  const twofold = [
    "/\\evil.example/x",
    "/a\\b",
    "/a?b=c#&d=e",
    "/a/../b",
    "/a/%2e%2E/b",
    "/./a",
    "/a/..",
    "/a/.%2e?b",
  ];
  for (const target of [...twofold, "http://evil.example/a/../b", "http://evil.example\\b"])
    assert.match(await rawGet(target), /^HTTP\/1\.1 400/, target);
  for (const target of ["/a?b=../c", "/.well-known/x", "/a/...", "/a..b/c", "/a?b=\\c"])
    assert.ok((await rawGet(target)).includes(JSON.stringify(`https://app.example${target}`)), target);
});

test("a repeated header keeps both values; several Cookie headers are joined", async () => {
  handler = async (request) => {
    const { headers } = told(request);
    return [headers.get("authorization"), headers.get("cookie")];
  };
  const twice = "Authorization: Bearer a\r\nAuthorization: Bearer b\r\nCookie: a=1\r\nCookie: b=2\r\n";
  assert.match(await rawGet("/", twice), /\["Bearer a, Bearer b","a=1; b=2"\]/);
});

test("a method that no Web Request has is rejected", async () => {
  handler = async (request) => told(request).method;
  const text = (method: string) => raw(`${method} / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  assert.match(await text("TRACE"), /^HTTP\/1\.1 400/);
  assert.match(await text("OPTIONS"), /"OPTIONS"/);
});

/** Posts chunks and gives the answer's JSON. */
function post(chunks: readonly (string | Buffer)[], headers: Record<string, string> = {}) {
  return new Promise<{ status: number; body: unknown }>((resolve, reject) => {
    const sent = httpRequest({ port, host: "127.0.0.1", method: "POST", headers }, async (response) => {
      let text = "";
      for await (const chunk of response) text += String(chunk);
      resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) });
    });
    sent.on("error", reject);
    for (const chunk of chunks) sent.write(chunk);
    sent.end();
  });
}

async function rest(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("latin1");
}

test("a body that is read is put back completely: whole, in chunks, large, empty", async () => {
  handler = async (request) => {
    const web = told(request);
    const bytes = Buffer.from(await web.arrayBuffer()).toString("latin1");
    // After some turns of the loop, as with handlers that first ask a database.
    await new Promise((resolve) => setImmediate(resolve));
    return [bytes.length, bytes === (await rest(request))];
  };
  const large = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 256));
  const bodies = [["abc"], ["a", "b", Buffer.from([0, 255, 10])], [large], [large, large, "x"]];
  for (const body of bodies) {
    const length = Buffer.concat(body.map((part) => Buffer.from(part))).length;
    assert.deepEqual((await post(body, { "content-length": String(length) })).body, [length, true]);
    assert.deepEqual((await post(body, { "transfer-encoding": "chunked" })).body, [length, true]);
  }
  assert.deepEqual((await post([], { "content-length": "0" })).body, [0, true]);
  assert.deepEqual((await post([], { "transfer-encoding": "chunked" })).body, [0, true]);
});

test("an unread body is left alone", async () => {
  handler = async (request) => {
    const web = told(request);
    await new Promise((resolve) => setImmediate(resolve));
    return [web.bodyUsed, request.readableDidRead, await rest(request)];
  };
  assert.deepEqual((await post(["abc"])).body, [false, false, "abc"]);
});

test("a clone reads the same body, and the handler can still read it", async () => {
  handler = async (request) => {
    const web = told(request);
    const copy = web.clone();
    return [await copy.text(), await web.text(), await rest(request)];
  };
  assert.deepEqual((await post(["abc"])).body, ["abc", "abc", "abc"]);
});

test("a body that is too large gets 413, and what was read is put back", async () => {
  let put = "";
  handler = async (request) => {
    const web = webRequestOf(request, { ...options, maxBodyBytes: 10 });
    const refused = await web.text().catch((error: unknown) => error);
    put = await rest(request);
    throw refused;
  };
  assert.equal((await post(["0123456789"])).status, 500, "ten are allowed");
  assert.equal((await post(["0123456789x"])).status, 413);
  assert.equal(put, "0123456789x");
});

test("an interrupted body is rejected", async () => {
  const outcome = new Promise((resolve) => {
    handler = async (request) => {
      const text = told(request).text();
      request.socket.destroy();
      resolve(await text.catch((error: unknown) => error));
    };
  });
  await raw("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc").catch(() => {});
  const error = await outcome;
  assert.ok(error instanceof SignetError);
  assert.equal(error.code, "request_malformed");
});

test("a stream that closes without an end is an interrupted body too", async () => {
  const body = Object.assign(new Readable({ read: () => {} }), { complete: false });
  const reading = bodyStreamOf(body, 10).getReader().read();
  body.push("abc");
  body.destroy();
  await assert.rejects(reading, { code: "request_malformed" });
});

test("behind a body parser, the filter uses its raw bytes or reports that it must come first", async () => {
  const parsed = (more: object) => async (request: IncomingMessage) => {
    Object.assign(request, { body: await rest(request) }, more);
    return told(request).text();
  };
  handler = parsed({ rawBody: Buffer.from("raw") });
  assert.equal((await post(["abc"])).body, "raw");
  handler = parsed({ body: Buffer.from("bytes") });
  assert.equal((await post(["abc"])).body, "bytes");
  handler = parsed({ body: { abc: "" } });
  assert.equal((await post(["abc"])).status, 500);
});

test("the certificate is the one of the TLS connection; without TLS there is none", async () => {
  const own = testCertificate({ subject: "localhost", isCa: true, keyUsage: null, addresses: ["127.0.0.1"] });
  const mine = testCertificate({ subject: "mine" });
  const pem = (certificate: typeof own) => ({
    cert: certificate.pem,
    key: certificate.privateKey.export({ format: "pem", type: "pkcs8" }),
  });
  const secure = createTlsServer(
    { ...pem(own), requestCert: true, rejectUnauthorized: false },
    (request, response) => response.end(Buffer.from(certificateOfSocket(request) ?? []).toString("base64")),
  );
  secure.listen(0, "127.0.0.1");
  await once(secure, "listening");
  const ask = async (identity: object) => {
    const sent = tlsRequest({
      port: portOf(secure),
      host: "127.0.0.1",
      ca: own.pem,
      agent: false,
      ...identity,
    });
    sent.end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return rest(response);
  };
  assert.equal(await ask(pem(mine)), mine.x5c);
  assert.equal(await ask({}), "");
  secure.close();
  handler = async (request) => certificateOfSocket(request) ?? "none";
  assert.match(await rawGet("/"), /"none"/);
});

test("requests and bodies work the same with HTTP/2", async () => {
  const seen: unknown[] = [];
  const served = createHttp2Server((request, response) => {
    const web = webRequestOf(request as unknown as IncomingMessage, options);
    web.text().then(async (text) => {
      seen.push([
        web.url,
        web.headers.get("cookie"),
        text,
        await rest(request as unknown as IncomingMessage),
      ]);
      response.end();
    });
  });
  served.listen(0, "127.0.0.1");
  await once(served, "listening");
  const client = connectHttp2(`http://127.0.0.1:${portOf(served)}`);
  for (const body of ["abc", ""]) {
    const stream = client.request({ ":method": "POST", ":path": "/a?b", cookie: ["a=1", "b=2"] as never });
    stream.end(body);
    stream.resume();
    await once(stream, "close");
  }
  client.close();
  served.close();
  const address = "https://app.example/a?b";
  assert.deepEqual(seen, [
    [address, "a=1; b=2", "abc", "abc"],
    [address, "a=1; b=2", "", ""],
  ]);
});
