/** Client authentication with a key that only signs, against Node's own TLS server. */
import assert from "node:assert/strict";
import { sign, type X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, describe, test } from "node:test";
import tls from "node:tls";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { selfSigned } from "@signet/server/testing/fixtures/self-signed";
import { connectSigned } from "./signed-connection.ts";

const own = selfSigned();
const device = testCertificate({ subject: "device" });
const ECDSA_P256 = 0x0403;

describe("a connection that a TPM's key signs for", () => {
  const servers: tls.Server[] = [];
  let shown: X509Certificate | undefined;
  let signatures = 0;
  const clients: tls.TLSSocket[] = [];

  async function serve(options: tls.TlsOptions): Promise<number> {
    shown = undefined;
    signatures = 0;
    const server = tls.createServer(
      { ...own, requestCert: true, rejectUnauthorized: false, ...options },
      (socket) => {
        shown = socket.getPeerX509Certificate();
        socket.on("error", () => {});
        socket.on("data", (bytes) => socket.write(`${socket.getCipher().name} ${bytes}`));
      },
    );
    servers.push(server);
    server.on("tlsClientError", () => {});
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  }
  afterEach(() => {
    for (const client of clients.splice(0)) client.destroy();
    for (const server of servers.splice(0)) server.close();
  });

  async function connect(
    port: number,
    change: { ca?: string; signer?: typeof device; scheme?: number; signal?: AbortSignal } = {},
  ) {
    const client = await connectSigned({
      host: "127.0.0.1",
      port,
      ca: change.ca ?? own.cert,
      identity: {
        chain: [device.der],
        signatureScheme: change.scheme ?? ECDSA_P256,
        sign: async (data) => {
          signatures += 1;
          return sign("sha256", data, (change.signer ?? device).privateKey);
        },
      },
      signal: change.signal ?? AbortSignal.timeout(10_000),
    });
    clients.push(client);
    return client;
  }

  async function echo(client: tls.TLSSocket, text: string): Promise<string> {
    client.write(text);
    const [bytes] = (await Promise.race([
      once(client, "data"),
      once(client, "close").then(() => Promise.reject(new Error("closed"))),
    ])) as [Buffer];
    return bytes.toString();
  }

  const kinds: Readonly<Record<string, tls.TlsOptions>> = {
    "AES-128": { ciphers: "TLS_AES_128_GCM_SHA256" },
    "AES-256": { ciphers: "TLS_AES_256_GCM_SHA384" },
    ChaCha20: { ciphers: "TLS_CHACHA20_POLY1305_SHA256" },
    "a curve that takes a second hello": { ecdhCurve: "P-521" },
  };
  for (const [name, options] of Object.entries(kinds))
    test(`the server sees the certificate, and data flows both ways: ${name}`, async () => {
      const client = await connect(await serve(options));
      assert.match(await echo(client, "one"), /^TLS_\w+ one$/);
      // More than one record each way.
      const long = "x".repeat(40_000);
      client.write(long);
      let received = 0;
      for await (const bytes of client) {
        received += (bytes as Buffer).length;
        if (received >= long.length) break;
      }
      assert.ok(shown?.raw.equals(device.der));
      assert.equal(signatures, 1);
    });

  test("a server that asks for no certificate is shown none", async () => {
    const client = await connect(await serve({ requestCert: false }));
    assert.match(await echo(client, "one"), /one$/);
    assert.deepEqual([signatures, shown], [0, undefined]);
  });

  test("the handshake fails where the key is not the certificate's", async () => {
    const client = await connect(await serve({}), { signer: testCertificate({ subject: "other" }) });
    await assert.rejects(echo(client, "one"));
    assert.equal(shown, undefined);
  });

  test("nothing is signed for a server that is not trusted", async () => {
    const port = await serve({});
    await assert.rejects(connect(port, { ca: selfSigned().cert }), /self-signed|certificate/i);
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([signatures, shown], [0, undefined]);
  });

  test("nothing is signed for a server of another name", async () => {
    const elsewhere = testCertificate({ subject: "elsewhere" });
    const key = elsewhere.privateKey.export({ format: "pem", type: "pkcs8" });
    const port = await serve({ key, cert: elsewhere.pem });
    await assert.rejects(connect(port, { ca: elsewhere.pem }), /ERR_TLS_CERT_ALTNAME_INVALID|altnames/i);
    assert.equal(signatures, 0);
  });

  test("is given up when its time is over, before, during and after the handshake", async () => {
    const port = await serve({});
    await assert.rejects(connect(port, { signal: AbortSignal.abort() }));
    const during = new AbortController();
    const connecting = connect(port, { signal: during.signal });
    during.abort();
    await assert.rejects(connecting, /given up/);
    const after = new AbortController();
    const client = await connect(port, { signal: after.signal });
    const reading = echo(client, "one").then(() => echo(client, "two"));
    await once(client, "data");
    after.abort();
    await assert.rejects(reading);
  });

  test("TLS 1.2, and a server that takes no such signature, are refused", async () => {
    await assert.rejects(connect(await serve({ maxVersion: "TLSv1.2" })));
    const client = await connect(await serve({}), { scheme: 0x0903 });
    await assert.rejects(echo(client, "one"));
    assert.equal(signatures, 0);
  });
});
