/** Transports to a TPM, including misbehaving sockets, and how locations are written. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { openTransport, parseTpmLocation, type TpmTransport } from "./transport.ts";

const command = Buffer.from("80010000000c0000017b0020", "hex");
const response = Buffer.from("80010000000a00000000", "hex");

describe("a TPM behind a socket", () => {
  let server: net.Server | undefined;
  let transport: TpmTransport | undefined;
  afterEach(async () => {
    await transport?.close();
    server?.close();
  });
  async function open(serve: (socket: net.Socket) => void, answerMs?: number): Promise<TpmTransport> {
    server = net.createServer((socket) => {
      socket.on("error", () => {});
      serve(socket);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    transport = await openTransport({ kind: "tcp", host: "127.0.0.1", port }, answerMs);
    return transport;
  }

  test("is read to its end, however many chunks arrive", async () => {
    const received: Buffer[] = [];
    const { exchange } = await open((socket) =>
      socket.on("data", (bytes: Buffer) => {
        received.push(bytes);
        socket.write(response.subarray(0, 3));
        setImmediate(() => socket.write(response.subarray(3)));
      }),
    );
    assert.deepEqual(await exchange(command), response);
    assert.deepEqual(await exchange(command), response);
    assert.deepEqual(received, [command, command]);
  });

  test("closed, silent and malformed connections are errors, and stay closed", async () => {
    const closing = await open((socket) => socket.on("data", () => socket.end()));
    await assert.rejects(closing.exchange(command), /tcp:127\.0\.0\.1:\d+ closed the connection/);
    await assert.rejects(closing.exchange(command), /closed the connection/);
    server?.close();
    const silent = await open(() => {}, 20);
    await assert.rejects(silent.exchange(command), /no answer within/);
    // A late answer must not count as the next one.
    await assert.rejects(silent.exchange(command), /closed the connection/);
    server?.close();
    const tooLong = await open((socket) =>
      socket.on("data", () => socket.write(Buffer.concat([response, response]))),
    );
    await assert.rejects(tooLong.exchange(command), /an invalid answer/);
    server?.close();
    const overlong = await open((socket) =>
      socket.on("data", () => socket.write(Buffer.from("8001ffffffff", "hex"))),
    );
    await assert.rejects(overlong.exchange(command), /an invalid answer/);
  });

  test("an unreachable TPM is named", async () => {
    const location = { kind: "unix", path: path.join(tmpdir(), "signet-no-tpm") } as const;
    await assert.rejects(openTransport(location), /the TPM at unix:\S+signet-no-tpm cannot be reached/);
  });
});

describe("a TPM device", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-tpm-"));
  });
  after(() => rm(folder, { recursive: true }));

  test("takes a command in one write and returns the response", async () => {
    const file = path.join(folder, "tpm");
    // A file stands in for the device: reads continue after the bytes written.
    await writeFile(file, Buffer.concat([Buffer.alloc(command.length), response]));
    const transport = await openTransport({ kind: "device", path: file });
    assert.deepEqual(await transport.exchange(command), response);
    assert.deepEqual((await readFile(file)).subarray(0, command.length), command);
    await transport.close();
    await assert.rejects(
      openTransport({ kind: "device", path: path.join(folder, "none") }),
      /cannot be opened/,
    );
  });
});

test("a location has three forms", () => {
  assert.deepEqual(parseTpmLocation("/dev/tpmrm0"), { kind: "device", path: "/dev/tpmrm0" });
  assert.deepEqual(parseTpmLocation("unix:/run/tpm"), { kind: "unix", path: "/run/tpm" });
  assert.deepEqual(parseTpmLocation("tcp:localhost:2321"), { kind: "tcp", host: "localhost", port: 2321 });
  assert.deepEqual(parseTpmLocation("tcp:[::1]:2321"), { kind: "tcp", host: "::1", port: 2321 });
  for (const wrong of ["", "tpm0", "tcp:2321", "tcp:host:99999", "unix:run", "http://localhost"])
    assert.equal(parseTpmLocation(wrong), undefined, wrong);
});
