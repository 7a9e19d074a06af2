import assert from "node:assert/strict";
import type { LookupAddress } from "node:dns";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createRawServer } from "node:net";
import { after, before, suite, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { selfSigned } from "../../testing/fixtures/self-signed.ts";
import { loopbackNetworks } from "./address-rules.ts";
import { type Outbound, OutboundFailure, outbound } from "./outbound.ts";

const ORG = "0198c0de-0000-7000-8000-000000000001";
const LOOPBACK: LookupAddress = { address: "127.0.0.1", family: 4 };
const failsWith = (code: OutboundFailure["code"]) => (error: unknown) =>
  error instanceof OutboundFailure && error.code === code;

suite("calls to addresses that somebody else registered", () => {
  const servers: Server[] = [];
  const listen = async (server: Server, host = "127.0.0.1"): Promise<number> => {
    servers.push(server.listen(0, host));
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  };
  const seen: string[] = [];
  const answering: RequestListener = (request, response) => {
    seen.push(`${request.method} ${request.headers.host} ${request.url}`);
    const { pathname } = new URL(request.url ?? "/", "http://x");
    if (pathname === "/redirect") response.writeHead(302, { location: "/elsewhere" }).end();
    else if (pathname === "/huge") response.end(Buffer.alloc(64 * 1024 + 1));
    else if (pathname === "/large") response.end(Buffer.alloc(64 * 1024));
    else if (pathname === "/headers") response.writeHead(200, { "x-long": "x".repeat(20_000) }).end();
    else if (pathname === "/slow") {
      const timer = setInterval(() => response.write("."), 20);
      response.on("close", () => clearInterval(timer));
    } else if (pathname !== "/silent") response.setHeader("content-type", "text/plain").end("hello");
  };
  let port: number;
  let tlsPort: number;
  const trusted = getCACertificates("default");
  const { key, cert } = selfSigned();

  before(async () => {
    port = await listen(createServer(answering));
    tlsPort = await listen(createTlsServer({ key, cert }, answering) as unknown as Server);
  });
  after(async () => {
    setDefaultCACertificates(trusted);
    for (const server of servers) {
      server.closeAllConnections?.();
      server.close();
    }
  });

  const strict = outbound({ allow: [] });
  const local = outbound({ allow: loopbackNetworks });
  const impatient = outbound({ allow: loopbackNetworks, timeoutMs: 300 });
  const fast = (path: string, by: Outbound = local) => by.call(ORG, `http://127.0.0.1:${port}${path}`);

  test("calls an allowed loopback address, also over http", async () => {
    const { status, contentType, body } = await fast("/hello");
    assert.deepEqual([status, contentType, body.toString()], [200, "text/plain", "hello"]);
  });

  test("rejects every spelling of an internal address before sending anything", async () => {
    const hosts =
      "127.0.0.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 127.1 127.0.0.1. 0.0.0.0 0 [::] [::1] [::ffff:127.0.0.1] [::127.0.0.1] " +
      "[::ffff:7f00:1] [64:ff9b::7f00:1] 169.254.169.254 2852039166 0xa9fea9fe [fd00:ec2::254] 10.0.0.1 192.168.0.1 172.16.0.1 " +
      "100.64.0.1 [fe80::1] [fc00::1] 224.0.0.1 255.255.255.255 ①②⑦.0.0.1";
    const before = seen.length;
    for (const host of hosts.split(" "))
      await assert.rejects(
        strict.call(ORG, `https://${host}:${tlsPort}/`),
        failsWith("forbidden-address"),
        host,
      );
    assert.equal(seen.length, before);
  });

  test("judges a name by what it resolves to: localhost, metadata hosts, one bad address among good ones", async () => {
    await assert.rejects(strict.call(ORG, `https://localhost:${tlsPort}/`), failsWith("forbidden-address"));
    const found: Record<string, LookupAddress[]> = {
      "metadata.internal": [{ address: "169.254.169.254", family: 4 }],
      "mixed.example": [
        { address: "93.184.215.14", family: 4 },
        { address: "10.0.0.7", family: 4 },
      ],
      "six.example": [
        { address: "2606:4700::1111", family: 6 },
        { address: "::1", family: 6 },
      ],
      "mapped.example": [{ address: "::ffff:127.0.0.1", family: 6 }],
    };
    const by = outbound({ allow: [], resolve: async (host) => found[host] ?? [] });
    for (const host of Object.keys(found))
      await assert.rejects(by.call(ORG, `https://${host}/`), failsWith("forbidden-address"), host);
    await assert.rejects(by.call(ORG, "https://nowhere.example/"), failsWith("unreachable"));
  });

  test("connects to the checked address, resolved once", async () => {
    let lookups = 0;
    // The second answer would be another machine: whoever looks up again goes astray.
    const resolve = async () => (lookups++ === 0 ? [LOOPBACK] : [{ address: "127.0.0.99", family: 4 }]);
    const by = outbound({ allow: ["127.0.0.1"], resolve });
    assert.equal((await by.call(ORG, `http://rebinding.example:${port}/first`)).status, 200);
    assert.equal(lookups, 1);
    assert.equal(seen.at(-1), `GET rebinding.example:${port} /first`);
    await assert.rejects(
      by.call(ORG, `http://rebinding.example:${port}/second`),
      failsWith("forbidden-address"),
    );
  });

  test("https by name reaches the checked address, and rejects an untrusted certificate", async () => {
    const resolve = async () => [LOOPBACK];
    const by = outbound({ allow: ["127.0.0.1"], resolve });
    await assert.rejects(by.call(ORG, `https://localhost:${tlsPort}/tls`), failsWith("unreachable"));
    setDefaultCACertificates([...trusted, cert]);
    assert.equal((await by.call(ORG, `https://localhost:${tlsPort}/tls`)).status, 200);
    // The certificate is for localhost: another name at the same address is not it.
    await assert.rejects(by.call(ORG, `https://other.example:${tlsPort}/tls`), failsWith("unreachable"));
  });

  test("allows http for loopback only, even in an allowed network", async () => {
    const by = outbound({ allow: ["10.0.0.0/8"] });
    await assert.rejects(by.call(ORG, "http://10.0.0.1/"), failsWith("bad-address"));
    await assert.rejects(strict.call(ORG, "http://93.184.215.14/"), failsWith("bad-address"));
  });

  test("rejects other schemes and credentials in the URL", async () => {
    for (const address of [
      "ftp://a.example/",
      "file:///etc/passwd",
      "data:,x",
      "https://a:b@a.example/",
      "nonsense",
      "",
    ])
      await assert.rejects(strict.call(ORG, address), failsWith("bad-address"), address);
  });

  test("returns a redirect without following it", async () => {
    const before = seen.length;
    assert.equal((await fast("/redirect")).status, 302);
    assert.equal(seen.length, before + 1);
  });

  test("reads 64 KiB and rejects one byte more", async () => {
    assert.equal((await fast("/large")).body.length, 64 * 1024);
    await assert.rejects(fast("/huge"), failsWith("too-large"));
    await assert.rejects(fast("/headers"), failsWith("unreachable"));
  });

  test("a slow body, a missing response and a hanging lookup end at the timeout", async () => {
    await assert.rejects(fast("/slow", impatient), failsWith("timeout"));
    await assert.rejects(fast("/silent", impatient), failsWith("timeout"));
    const hanging = outbound({ allow: [], resolve: () => new Promise(() => {}), timeoutMs: 50 });
    const alive = setTimeout(() => {}, 60_000);
    await assert.rejects(hanging.call(ORG, "https://hangs.example/"), failsWith("timeout"));
    clearTimeout(alive);
  });

  test("a protocol upgrade ends at the timeout", async () => {
    // Said unasked: node:http closes the connection then, and tells neither of an answer nor of an error.
    const server = createRawServer((socket) => {
      socket.once("data", () =>
        socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"),
      );
    }) as unknown as Server;
    const own = await listen(server);
    const late = new Promise((_resolve, reject) => setTimeout(reject, 15_000, new Error("no end")).unref());
    await assert.rejects(
      Promise.race([impatient.call(ORG, `http://127.0.0.1:${own}/`), late]),
      failsWith("timeout"),
    );
  });

  test("an unreachable host is reported with a code only", async () => {
    const free = await listen(createServer());
    servers.at(-1)?.close();
    const refused = local.call(ORG, `http://127.0.0.1:${free}/`);
    await assert.rejects(
      refused,
      (error: Error) => error.message === "the host could not be reached (ECONNREFUSED)",
    );
  });

  test("tries a bounded number of a name's addresses", async () => {
    const free = await listen(createServer());
    servers.at(-1)?.close();
    const found = Array.from({ length: 40 }, (_, index) => ({ address: `127.0.0.${index + 2}`, family: 4 }));
    const by = outbound({ allow: loopbackNetworks, resolve: async () => found });
    await assert.rejects(by.call(ORG, `http://many.example:${free}/`), ({ cause }: Error) => {
      assert.ok(cause instanceof AggregateError);
      assert.equal(cause.errors.length, 16);
      return true;
    });
  });

  test("a connection that fails immediately is a failure of the call, not of the process", async () => {
    const uncaught: unknown[] = [];
    const record = (error: unknown) => uncaught.push(error);
    process.on("uncaughtException", record);
    // Refused by the system itself, without a packet: nobody broadcasts by TCP.
    const broadcast = [{ address: "255.255.255.255", family: 4 }];
    for (const found of [broadcast, [...broadcast, ...broadcast]]) {
      const by = outbound({ allow: ["255.255.255.255"], resolve: async () => found });
      await assert.rejects(by.call(ORG, "https://broadcast.example/"), failsWith("unreachable"));
    }
    await new Promise((resolve) => setImmediate(resolve));
    process.off("uncaughtException", record);
    assert.deepEqual(uncaught, []);
  });

  test("sends method, headers and body as given", async () => {
    const server = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      response.end(JSON.stringify([request.method, request.headers["content-type"], body]));
    });
    const own = await listen(server);
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const { body } = await local.call(ORG, `http://127.0.0.1:${own}/`, {
      method: "POST",
      headers,
      body: "a=b",
    });
    assert.deepEqual(JSON.parse(body.toString()), ["POST", headers["content-type"], "a=b"]);
  });
});
