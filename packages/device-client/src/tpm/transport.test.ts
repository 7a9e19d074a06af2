/** The ways to a TPM: what a socket may do wrong, and how places are written. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { openSocketTransport } from "./socket-transport.ts";
import { readTpmPlace, type TpmTransport } from "./tpm-place.ts";
import { openTransport } from "./transport.ts";

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
    transport = await openSocketTransport({ kind: "tcp", host: "127.0.0.1", port }, answerMs);
    return transport;
  }

  test("is heard to its end, in however many parts it speaks", async () => {
    const heard: Buffer[] = [];
    const { exchange } = await open((socket) =>
      socket.on("data", (bytes: Buffer) => {
        heard.push(bytes);
        socket.write(response.subarray(0, 3));
        setImmediate(() => socket.write(response.subarray(3)));
      }),
    );
    assert.deepEqual(await exchange(command), response);
    assert.deepEqual(await exchange(command), response);
    assert.deepEqual(heard, [command, command]);
  });

  test("that hangs up, is silent, or says more than it announced is an error, and stays one", async () => {
    const hangsUp = await open((socket) => socket.on("data", () => socket.end()));
    await assert.rejects(hangsUp.exchange(command), /tcp:127\.0\.0\.1:\d+ hung up/);
    await assert.rejects(hangsUp.exchange(command), /hung up/);
    server?.close();
    const silent = await open(() => {}, 20);
    await assert.rejects(silent.exchange(command), /no answer within/);
    // What comes late must not be taken for the next answer.
    await assert.rejects(silent.exchange(command), /hung up/);
    server?.close();
    const talks = await open((socket) =>
      socket.on("data", () => socket.write(Buffer.concat([response, response]))),
    );
    await assert.rejects(talks.exchange(command), /an answer that is none/);
    server?.close();
    const boasts = await open((socket) =>
      socket.on("data", () => socket.write(Buffer.from("8001ffffffff", "hex"))),
    );
    await assert.rejects(boasts.exchange(command), /an answer that is none/);
  });

  test("that is not there is named", async () => {
    const place = { kind: "unix", path: path.join(tmpdir(), "signet-no-tpm") } as const;
    await assert.rejects(openTransport(place), /the TPM at unix:\S+signet-no-tpm cannot be reached/);
  });
});

describe("a TPM that is a device", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-tpm-"));
  });
  after(() => rm(folder, { recursive: true }));

  test("is written to in one piece, and read from", async () => {
    const file = path.join(folder, "tpm");
    // A file stands in for the device: what is read lies behind what was written.
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

test("places are written in three ways", () => {
  assert.deepEqual(readTpmPlace("/dev/tpmrm0"), { kind: "device", path: "/dev/tpmrm0" });
  assert.deepEqual(readTpmPlace("unix:/run/tpm"), { kind: "unix", path: "/run/tpm" });
  assert.deepEqual(readTpmPlace("tcp:localhost:2321"), { kind: "tcp", host: "localhost", port: 2321 });
  assert.deepEqual(readTpmPlace("tcp:[::1]:2321"), { kind: "tcp", host: "::1", port: 2321 });
  for (const wrong of ["", "tpm0", "tcp:2321", "tcp:host:99999", "unix:run", "http://localhost"])
    assert.equal(readTpmPlace(wrong), undefined, wrong);
});
