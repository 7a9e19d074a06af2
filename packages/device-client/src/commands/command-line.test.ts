/** The command line: what is typed wrong, where settings come from, and what each error ends with. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { exitCodes } from "../exit-codes.ts";
import { readRecord } from "../state/device-record.ts";
import { testIo } from "../testing/test-io.ts";

const ORG = "33333333-3333-4333-8333-333333333333";
const CODE = "8X2KQ-4M7RT-0WNHB-5VCDJ-9GPYA";

describe("signet-device", () => {
  let folder: string;
  let server: Server;
  let address: string;
  /** What the service was sent, and the answers that it gives, the last one again and again. */
  const asked: Array<Record<string, unknown>> = [];
  let answers: Array<readonly [number, object, Record<string, string>?]> = [];
  const file = (name: string) => path.join(folder, name);
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-cli-"));
    server = createServer(async (request, response) => {
      let text = "";
      for await (const chunk of request) text += chunk;
      if (text !== "") asked.push(JSON.parse(text));
      const [status, body, headers = {}] = (answers.length > 1 ? answers.shift() : answers[0]) ?? [500, {}];
      response.writeHead(status, headers).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  });
  const enroll = (name: string) => ["enroll", "--server", address, "--org", ORG, "--state", file(name)];
  const invalid = [401, { error: "invalid_code", error_description: "no such code" }] as const;

  test("has help for its commands and their options", async () => {
    const io = testIo();
    assert.equal(await io.run(), exitCodes.done);
    for (const name of ["enroll", "status", "renew", "token", "attest", "ca"])
      assert.match(io.out.join("\n"), new RegExp(`signet-device ${name}`));
    assert.equal(await io.run("help", "enroll"), exitCodes.done);
    assert.match(io.out.join("\n"), /--code-file FILE/);
    assert.equal(await io.run("reset"), exitCodes.usage);
  });

  test("usage errors exit with 2, before anything is created", async () => {
    const io = testIo();
    const good = ["--server", address, "--org", ORG, "--state", file("none")];
    const wrong = [
      ["enroll", "--org", ORG],
      ["enroll", "--server", "http://id.example", "--org", ORG],
      ["enroll", "--server", "https://id.example/?a=b", "--org", ORG],
      ["enroll", "--server", address, "--org", "acme"],
      ["enroll", ...good, "--key", "card"],
      ["enroll", ...good, "--tpm", "/dev/tpm0"],
      ["enroll", ...good, "--key", "tpm", "--tpm", "tpm0"],
      ["enroll", ...good, "--key", "tpm", "--ek", "rsa-1024"],
      ["enroll", ...good, "--server-ca", file("missing.pem")],
      ["enroll", ...good, "--unknown"],
      ["enroll", ...good, "more"],
      ["token", "--state", file("none")],
      ["ca", ...good, "--sha256", "abc"],
    ];
    answers = [[200, {}]];
    for (const words of wrong) assert.equal(await io.run(...words), exitCodes.usage, words.join(" "));
    assert.equal(await readRecord(file("none")), undefined);
  });

  test("the code comes from a private file, standard input, the environment or an option", async () => {
    answers = [invalid];
    await writeFile(file("code"), `${CODE}\n`, { mode: 0o600 });
    const ways = [
      testIo().run(...enroll("a"), "--code-file", file("code")),
      testIo({ input: `${CODE}\n` }).run(...enroll("b"), "--code", "-"),
      testIo({ environment: { SIGNET_ENROLLMENT_CODE: CODE } }).run(...enroll("c")),
      testIo().run(...enroll("d"), "--code", CODE),
    ];
    asked.length = 0;
    for (const way of ways) assert.equal(await way, exitCodes.failed);
    assert.deepEqual(
      asked.map(({ code }) => code),
      [CODE, CODE, CODE, CODE],
    );
    const io = testIo();
    assert.equal(await io.run(...enroll("e")), exitCodes.usage);
    await writeFile(file("open"), CODE, { mode: 0o644 });
    assert.equal(await io.run(...enroll("e"), "--code-file", file("open")), exitCodes.failed);
    assert.match(io.err.join("\n"), /can be read by others/);
  });

  test("a refused enrolment is repeated with the same key, but with a new key for another organisation", async () => {
    const io = testIo();
    answers = [invalid];
    await io.run(...enroll("again"), "--code", CODE);
    await io.run(...enroll("again"), "--code", CODE);
    const other = "44444444-4444-4444-8444-444444444444";
    await io.run(...enroll("again"), "--code", CODE, "--org", other);
    const [first, second, third] = asked.slice(-3).map(({ csr }) => csr);
    assert.ok(first === second && first !== third);
    assert.equal((await readRecord(file("again")))?.organisation, other);
  });

  test("a busy service is asked again after Retry-After; one that stays busy exits with 6", async () => {
    const io = testIo();
    answers = [[429, { error: "slow_down" }, { "retry-after": "7" }], [503, {}], invalid];
    assert.equal(await io.run(...enroll("busy"), "--code", CODE), exitCodes.failed);
    assert.deepEqual(io.pauses, [7500, 2500]);
    answers = [[503, {}, { "retry-after": "600" }]];
    assert.equal(await io.run(...enroll("busy"), "--code", CODE), exitCodes.tryLater);
    assert.deepEqual(io.pauses, []);
    const nobody = ["enroll", "--server", "http://127.0.0.1:9", "--org", ORG, "--state", file("busy")];
    assert.equal(await io.run(...nobody, "--code", CODE), exitCodes.tryLater);
  });

  test("an invalid answer, or one for another key, leaves the device not enrolled", async () => {
    const io = testIo();
    const certificate = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
    for (const body of [
      {},
      { device_id: "x" },
      { device_id: "x", certificate, ca: certificate, attestation: "none" },
    ]) {
      answers = [[201, body]];
      assert.equal(await io.run(...enroll("odd"), "--code", CODE), exitCodes.failed);
    }
    assert.equal(await io.run("status", "--state", file("odd")), exitCodes.notEnrolled);
    assert.equal(await io.run("renew", "--daemon", "--state", file("odd")), exitCodes.notEnrolled);
  });

  test("the service's text cannot control the terminal, and redirects are not followed", async () => {
    const io = testIo();
    answers = [[400, { error: "invalid_request", error_description: "\u001b[2Jcleared" }]];
    await io.run(...enroll("odd"), "--code", CODE);
    assert.match(io.err.join("\n"), /\?\[2Jcleared/);
    const before = asked.length;
    answers = [[307, {}, { location: `${address}/elsewhere` }]];
    assert.equal(await io.run(...enroll("odd"), "--code", CODE), exitCodes.failed);
    assert.equal(asked.length, before + 1);
  });

  test("settings come from a file, and options override them", async () => {
    await writeFile(
      file("settings.json"),
      JSON.stringify({ server: address, org: ORG, state: "configured", key: "file" }),
    );
    answers = [invalid];
    const io = testIo({
      environment: { SIGNET_DEVICE_CONFIG: file("settings.json"), SIGNET_ENROLLMENT_CODE: CODE },
    });
    assert.equal(await io.run("enroll"), exitCodes.failed);
    assert.equal((await readRecord(file("configured")))?.server, address);
    assert.equal(await io.run("enroll", "--state", file("typed")), exitCodes.failed);
    assert.ok(await readRecord(file("typed")));
    for (const text of ["{", "[]", '{"stat":"x"}', '{"state":1}']) {
      await writeFile(file("wrong.json"), text);
      assert.equal(await io.run("enroll", "--config", file("wrong.json")), exitCodes.usage, text);
    }
    const systemd = testIo({
      environment: { STATE_DIRECTORY: file("systemd"), SIGNET_ENROLLMENT_CODE: CODE },
    });
    await systemd.run("enroll", "--server", address, "--org", ORG);
    assert.ok(await readFile(path.join(file("systemd"), "device.json")));
  });
});
