/** The device client's TLS with a key that only signs, against servers that are not Node's. */
import assert from "node:assert/strict";
import { randomUUID, sign } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import type { TLSSocket } from "node:tls";
import { connectSigned } from "../../packages/device-client/src/tls/signed-connection.ts";
import {
  type TestCertificate,
  testCertificate,
} from "../../packages/protocol/src/testing/test-certificate.ts";
import { selfSigned } from "../../packages/server/src/testing/fixtures/self-signed.ts";
import { type ServerFiles, serverKinds, startForeignServer } from "./tls-servers.ts";

const ECDSA_SECP256R1_SHA256 = 0x0403;
const inTime = { timeout: 30_000 };

const own = selfSigned();
const authority = testCertificate({ subject: "Devices", isCa: true });
const device = testCertificate({ subject: `device-${randomUUID()}`, issuer: authority });

let files: ServerFiles;
before(async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-interop-"));
  const write = async (name: string, text: string) => {
    const file = path.join(folder, name);
    await writeFile(file, text, { mode: 0o600 });
    return file;
  };
  files = {
    folder,
    key: await write("key.pem", own.key),
    certificate: await write("certificate.pem", own.cert),
    clientCa: await write("client-ca.pem", authority.pem),
  };
});
after(() => rm(files.folder, { recursive: true, force: true }));

async function connect(
  t: TestContext,
  port: number,
  shown: { certificate: TestCertificate; signer: TestCertificate } = { certificate: device, signer: device },
): Promise<TLSSocket> {
  const client = await connectSigned({
    host: "127.0.0.1",
    port,
    ca: own.cert,
    identity: {
      chain: [shown.certificate.der],
      signatureScheme: ECDSA_SECP256R1_SHA256,
      sign: async (data) => sign("sha256", data, shown.signer.privateKey),
    },
    signal: AbortSignal.timeout(30_000),
  });
  client.on("error", () => {});
  t.after(() => client.destroy());
  return client;
}

for (const kind of serverKinds)
  describe(kind.name, { skip: kind.missing }, () => {
    const start = async (t: TestContext, variant: readonly string[] = []) => {
      const server = await startForeignServer(kind, files, variant);
      t.after(() => server.stop());
      return server;
    };

    for (const [name, variant] of Object.entries(kind.variants))
      test(`accepts the device's certificate, and data flows both ways: ${name}`, inTime, async (t) => {
        const server = await start(t, variant);
        const client = await connect(t, server.port);
        assert.equal(await server.exchange(client, "one"), "one");
        // OpenSSL's server reads 16 KiB at a time; together more than a TLS record.
        const long = "0123456789".repeat(1_000);
        for (const line of [long, long, "two"]) assert.ok((await server.exchange(client, line)) === line);
        assert.ok(server.output().includes(device.subject), server.output());
      });

    test("refuses a signature by another key than the certificate's", inTime, async (t) => {
      const server = await start(t);
      const signer = testCertificate({ subject: "other" });
      await assertRefused(await connect(t, server.port, { certificate: device, signer }));
    });

    if (kind.verifiesChain)
      test("refuses a certificate of another authority", inTime, async (t) => {
        const server = await start(t);
        const stranger = testCertificate({ subject: "stranger" });
        await assertRefused(await connect(t, server.port, { certificate: stranger, signer: stranger }));
      });
  });

/** The server says so after the client's handshake is done (RFC 8446 §4.4.2.4). */
async function assertRefused(client: TLSSocket): Promise<void> {
  const received: Buffer[] = [];
  const refused = Promise.withResolvers<void>();
  client.on("data", (bytes: Buffer) => received.push(bytes));
  client.once("error", () => refused.resolve()).once("close", refused.resolve);
  client.write("one\n");
  await refused.promise;
  assert.equal(Buffer.concat(received).toString(), "");
}
