/** What a fingerprint vouches for: one CA, whatever else a service shows beside it. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { exitCodes } from "../exit-codes.ts";
import { testIo } from "../testing/test-io.ts";

const ORG = "33333333-3333-4333-8333-333333333333";
const [old, next, strange] = ["old", "next", "strange"].map((subject) => testCertificate({ subject }).pem);

describe("signet-device ca", () => {
  let folder: string;
  let server: Server;
  let shown = "";
  const io = testIo();
  const print = async (...words: string[]) => {
    const { port } = server.address() as AddressInfo;
    return await io.run("ca", "--server", `http://127.0.0.1:${port}`, "--org", ORG, ...words);
  };
  const pin = (...words: string[]) => print("--state", path.join(folder, "state"), "--pin", ...words);
  const pinned = async () => {
    const text = await readFile(path.join(folder, "state", "ca.pem"), "utf8");
    return [old, next, strange].map((pem = assert.fail()) => text.includes(pem.trim()));
  };
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-ca-"));
    server = createServer((_request, response) => response.end(shown));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  after(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });

  test("prints and pins only the CA with the fingerprint, whatever else the service sends", async () => {
    shown = `${strange}\u001b[2J\n${old}`;
    assert.equal(await print(), exitCodes.done);
    assert.ok(!io.out.join("\n").includes("\u001b"));
    const [, sha256] = [...io.err.join("\n").matchAll(/SHA-256 (\w+)/g)].map(([, one = ""]) => one);
    assert.ok(sha256);
    assert.equal(await print("--sha256", sha256), exitCodes.done);
    assert.equal(io.out.join("\n").trim(), old?.trim());
    assert.equal(await pin("--sha256", sha256), exitCodes.done, io.err.join("\n"));
    assert.deepEqual(await pinned(), [true, false, false]);
  });

  test("pins the next CA beside the previous one when the service sends both", async () => {
    shown = `${next}`;
    assert.equal(await print(), exitCodes.done);
    const [, sha256 = ""] = /SHA-256 (\w+)/.exec(io.err.join("\n")) ?? [];
    assert.equal(await pin("--sha256", sha256), exitCodes.failed);
    assert.match(io.err.join("\n"), /is this another service/);
    shown = `${strange}${next}${old}`;
    assert.equal(await pin("--sha256", sha256), exitCodes.done, io.err.join("\n"));
    assert.deepEqual(await pinned(), [true, true, false]);
  });
});
