/** Enrolment, tokens, renewal and the end of a device with a key in a file, with the real service on loopback. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { chmod, readdir, readFile, readlink, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { certificateThumbprint } from "@signet/protocol/certificates/certificate-binding";
import { exitCodes } from "./exit-codes.ts";
import { readRecord, writeRecord } from "./state/device-record.ts";
import { type ServiceStage, serviceStage } from "./testing/service-stage.ts";

const DAY_MS = 86_400_000;
const run = promisify(execFile);

describe("with the real service", () => {
  let stage: ServiceStage;
  before(async () => {
    stage = await serviceStage();
  });
  after(() => stage.close());

  const printed = () => [...stage.io.out, ...stage.io.err].join("\n");
  const inState = (name: string, file: string) => path.join(stage.state(name), file);
  const certificateOf = async (name: string) =>
    new X509Certificate(await readFile(inState(name, "current/certificate.pem")));
  const token = (name: string, ...more: string[]) =>
    stage.io.run("token", "--client-id", stage.clientId, "--state", stage.state(name), ...more);

  test("a device is enrolled: key and folder are its owner's alone, nothing printed is secret", async () => {
    const code = await stage.newCode();
    assert.equal(await stage.enroll("one", code), exitCodes.done, printed());
    for (const file of ["device.json", "current/key.pem"])
      assert.equal((await stat(inState("one", file))).mode & 0o777, 0o600, file);
    assert.equal((await stat(stage.state("one"))).mode & 0o777, 0o700);
    assert.ok(!printed().includes(code));
    const { deviceId, attestation } = (await readRecord(stage.state("one"))) ?? {};
    assert.match((await certificateOf("one")).subject, new RegExp(`CN=${deviceId}`));
    assert.equal(attestation, "none");
    const names = ["ca.pem", "current", "device.json", "generations"];
    assert.deepEqual((await readdir(stage.state("one"))).sort(), names);
    assert.equal(await readlink(inState("one", "current")), "generations/1");
    const pair = ["certificate.pem", "key.pem", "request.pem"];
    assert.deepEqual((await readdir(inState("one", "current"))).sort(), pair);
    assert.equal(await stage.enroll("one", await stage.newCode()), exitCodes.failed);
    assert.match(printed(), /belongs to device/);
  });

  test("openssl accepts the certificate for TLS, under the CA that was kept", async () => {
    const [ca, certificate] = [inState("one", "ca.pem"), inState("one", "current/certificate.pem")];
    const options = ["verify", "-x509_strict", "-purpose", "sslclient", "-CAfile", ca, certificate];
    assert.match((await run("openssl", options)).stdout, /OK/);
  });

  test("a token is bound to the certificate", async () => {
    assert.equal(await token("one"), exitCodes.done, printed());
    const { access_token: accessToken } = JSON.parse(stage.io.out.join("\n")) as Record<string, string>;
    const claims = JSON.parse(Buffer.from(accessToken?.split(".")[1] ?? "", "base64url").toString());
    assert.equal(claims.cnf["x5t#S256"], certificateThumbprint((await certificateOf("one")).raw));
    assert.equal(claims.device_attestation, "none");
    assert.equal(await token("one", "--only-token"), exitCodes.done);
    assert.match(stage.io.out.join("\n"), /^[\w-]+\.[\w-]+\.[\w-]+$/);
    assert.equal(await token("one", "--scope", "payments:write"), exitCodes.failed);
    assert.match(printed(), /invalid_scope/);
  });

  test("its status is good, in words and in JSON", async () => {
    const state = ["--state", stage.state("one")];
    // At the moment of a whole second it has all of its ninety days.
    stage.clock.advance(1);
    assert.equal(await stage.io.run("status", ...state), exitCodes.done, printed());
    assert.match(printed(), /standing +good/);
    assert.equal(await stage.io.run("status", "--json", "--offline", ...state), exitCodes.done);
    const facts = JSON.parse(stage.io.out.join("\n"));
    assert.deepEqual([facts.daysLeft, facts.key, facts.standing], [89, "file", "not asked"]);
  });

  test("it is not renewed before its time, then once, with its key or a new one", async () => {
    const renew = (...more: string[]) => stage.io.run("renew", "--state", stage.state("one"), ...more);
    const first = await certificateOf("one");
    assert.equal(await renew(), exitCodes.done, printed());
    assert.match(printed(), /Not due/);
    stage.clock.advance(61 * DAY_MS);
    assert.equal(await renew(), exitCodes.done, printed());
    const second = await certificateOf("one");
    assert.notEqual(second.serialNumber, first.serialNumber);
    assert.ok(second.publicKey.equals(first.publicKey));
    stage.clock.advance(61 * DAY_MS);
    assert.equal(await renew("--new-key"), exitCodes.done, printed());
    const third = await certificateOf("one");
    assert.ok(!third.publicKey.equals(second.publicKey));
    assert.deepEqual(await readdir(inState("one", "generations")), ["2", "3"]);
    assert.equal((await stat(inState("one", "current/key.pem"))).mode & 0o777, 0o600);
    assert.equal(await token("one"), exitCodes.done, printed());
  });

  test("an enrolment whose answer was lost starts over with a new key, and one that was refused keeps its own", async () => {
    assert.equal(await stage.enroll("two", "AAAAA-AAAAA-AAAAA-AAAAA-AAAAA"), exitCodes.failed);
    assert.match(printed(), /invalid_code/);
    const request = await readFile(inState("two", "generations/1/request.pem"), "utf8");
    assert.equal(await stage.enroll("two", await stage.newCode()), exitCodes.done, printed());
    assert.equal(await readFile(inState("two", "current/request.pem"), "utf8"), request);
    const record = await readRecord(stage.state("two"));
    assert.ok(record?.deviceId);
    const { deviceId: _lost, attestation: _too, ...begun } = record;
    // As if the answer had never come: the key is there, and its request.
    const again = stage.state("three");
    await run("cp", ["-a", stage.state("two"), again]);
    await run("rm", [path.join(again, "current"), path.join(again, "ca.pem")]);
    await writeRecord(again, begun);
    assert.equal(await stage.enroll("three", await stage.newCode()), exitCodes.done, printed());
    assert.match(printed(), /its answer was lost/);
    assert.notEqual((await readRecord(again))?.deviceId, record.deviceId);
  });

  test("as a program it watches until SIGTERM, and ends in good order", async () => {
    const program = fileURLToPath(new URL("main.ts", import.meta.url));
    const child = spawn(process.execPath, [program, "renew", "--daemon", "--state", stage.state("two")]);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (bytes: Buffer) => (output += bytes));
    try {
      while (!output.includes("renewal watched")) {
        if (child.exitCode !== null) throw new Error(`it ended: ${output}`);
        await once(child.stdout, "data");
      }
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      assert.deepEqual(await ended, [exitCodes.done, null], output);
      assert.match(output, /renewal stops/);
    } finally {
      child.kill("SIGKILL");
    }
  });

  test("a CA that was pinned is the only one that is believed", async () => {
    const place = ["--server", stage.running.baseUrl, "--org", stage.org.organisation.id];
    const state = ["--state", stage.state("four")];
    const wrong = ["--sha256", "00".repeat(32), "--pin"];
    assert.equal(await stage.io.run("ca", ...place, ...state, ...wrong), exitCodes.failed);
    assert.equal(await stage.io.run("ca", ...place), exitCodes.done);
    const [, sha256 = ""] = /SHA-256 (\w+)/.exec(printed()) ?? [];
    const right = ["--sha256", sha256, "--pin"];
    assert.equal(await stage.io.run("ca", ...place, ...state, ...right), exitCodes.done, printed());
    const other = ["--server", stage.running.baseUrl, "--org", stage.other.organisation.id];
    assert.equal(await stage.io.run("ca", ...other, ...state, "--pin"), exitCodes.failed);
    assert.match(printed(), /is it another service/);
    assert.equal(await stage.enroll("four", await stage.newCode()), exitCodes.done, printed());
    const foreign = await fetch(`${stage.other.issuer}/devices/ca.pem`);
    assert.equal(foreign.status, 200);
    const five = stage.state("five");
    await run("mkdir", ["-m", "700", five]);
    await writeFile(path.join(five, "ca.pem"), await foreign.text());
    assert.equal(await stage.enroll("five", await stage.newCode()), exitCodes.failed);
    assert.match(printed(), /of a CA that is not in/);
  });

  test("a revoked device hears of it, until its program has taken note, by a token, a status or a renewal, and gives itself up", async () => {
    const state = stage.state("one");
    const { deviceId = "" } = (await readRecord(state)) ?? {};
    const hook = path.join(stage.folder, "hook");
    await writeFile(
      hook,
      `#!/bin/sh\necho "$SIGNET_DEVICE_ID" >> ${stage.folder}/heard && test -e ${stage.folder}/ready\n`,
    );
    await chmod(hook, 0o700);
    await stage.revoke(deviceId);
    const options = ["--state", state, "--on-revoked", hook];
    assert.equal(await token("one", "--on-revoked", hook), exitCodes.revoked, printed());
    assert.match(printed(), /its key was compromised/);
    assert.match(printed(), /was not told of the revocation: it ended with 1/);
    await writeFile(path.join(stage.folder, "ready"), "");
    assert.equal(await stage.io.run("status", ...options), exitCodes.revoked);
    assert.equal(await stage.io.run("renew", ...options), exitCodes.revoked);
    assert.equal(await stage.io.run("renew", "--daemon", ...options), exitCodes.revoked);
    assert.equal(await readFile(path.join(stage.folder, "heard"), "utf8"), `${deviceId}\n`.repeat(2));
    assert.ok((await readRecord(state))?.revokedAt);
  });

  test("an expired certificate is told apart, and so is a service that does not answer", async () => {
    const state = ["--state", stage.state("two")];
    const away = stage.state("away");
    await run("cp", ["-a", stage.state("two"), away]);
    const record = await readRecord(away);
    assert.ok(record);
    await writeRecord(away, { ...record, server: "http://127.0.0.1:9" });
    assert.equal(await stage.io.run("status", "--state", away), exitCodes.tryLater, printed());
    assert.equal(await stage.io.run("renew", "--state", away), exitCodes.done, "nothing to do yet");
    stage.clock.advance(91 * DAY_MS);
    assert.equal(await stage.io.run("status", ...state), exitCodes.expired, printed());
    assert.equal(await stage.io.run("renew", ...state), exitCodes.expired);
  });
});
