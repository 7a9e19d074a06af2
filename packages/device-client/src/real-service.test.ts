/** Enrolment, tokens, renewal and revocation of a device with a key file, with the real service on loopback. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { generateKeyPairSync, randomUUID, X509Certificate } from "node:crypto";
import { once } from "node:events";
import { chmod, readdir, readFile, readlink, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { sha256Base64url } from "@signet/protocol/hash";
import { eventually } from "@signet/server/testing/eventually";
import { serviceSettings } from "@signet/server/testing/fixtures/certificate-fixture";
import { postForm } from "@signet/server/testing/fixtures/client";
import { SignJWT } from "jose";
import { exitCodes } from "./exit-codes.ts";
import { readRecord, writeRecord } from "./state/device-record.ts";
import { type ServiceHarness, serviceHarness } from "./testing/service-harness.ts";

const DAY_MS = 86_400_000;
const run = promisify(execFile);

describe("with the real service", () => {
  let harness: ServiceHarness;
  before(async () => {
    harness = await serviceHarness();
  });
  after(() => harness.close());

  const printed = () => [...harness.io.out, ...harness.io.err].join("\n");
  const inState = (name: string, file: string) => path.join(harness.state(name), file);
  const certificateOf = async (name: string) =>
    new X509Certificate(await readFile(inState(name, "current/certificate.pem")));
  const token = (name: string, ...more: string[]) =>
    harness.io.run("token", "--client-id", harness.clientId, "--state", harness.state(name), ...more);

  test("enrolment writes a private key and folder, and prints no secret", async () => {
    const code = await harness.newCode();
    assert.equal(await harness.enroll("one", code), exitCodes.done, printed());
    for (const file of ["device.json", "current/key.pem"])
      assert.equal((await stat(inState("one", file))).mode & 0o777, 0o600, file);
    assert.equal((await stat(harness.state("one"))).mode & 0o777, 0o700);
    assert.ok(!printed().includes(code));
    const { deviceId, attestation } = (await readRecord(harness.state("one"))) ?? {};
    assert.match((await certificateOf("one")).subject, new RegExp(`CN=${deviceId}`));
    assert.equal(attestation, "none");
    const names = ["ca.pem", "current", "device.json", "generations", "lock.db"];
    assert.deepEqual((await readdir(harness.state("one"))).sort(), names);
    assert.equal(await readlink(inState("one", "current")), "generations/1");
    const pair = ["certificate.pem", "key.pem", "request.pem"];
    assert.deepEqual((await readdir(inState("one", "current"))).sort(), pair);
    assert.equal(await harness.enroll("one", await harness.newCode()), exitCodes.failed);
    assert.match(printed(), /already belongs to device/);
  });

  test("OpenSSL accepts the certificate for TLS under the saved CA", async () => {
    const [ca, certificate] = [inState("one", "ca.pem"), inState("one", "current/certificate.pem")];
    const options = ["verify", "-x509_strict", "-purpose", "sslclient", "-CAfile", ca, certificate];
    assert.match((await run("openssl", options)).stdout, /OK/);
  });

  test("a token is bound to the certificate", async () => {
    assert.equal(await token("one"), exitCodes.done, printed());
    const { access_token: accessToken } = JSON.parse(harness.io.out.join("\n")) as Record<string, string>;
    const claims = JSON.parse(Buffer.from(accessToken?.split(".")[1] ?? "", "base64url").toString());
    assert.equal(claims.cnf["x5t#S256"], sha256Base64url((await certificateOf("one")).raw));
    assert.equal(claims.device_attestation, "none");
    assert.equal(await token("one", "--only-token"), exitCodes.done);
    assert.match(harness.io.out.join("\n"), /^[\w-]+\.[\w-]+\.[\w-]+$/);
    assert.equal(await token("one", "--scope", "payments:write"), exitCodes.failed);
    assert.match(printed(), /invalid_scope/);
  });

  test("the device vouches for the key of an application, which is then the client", async () => {
    const { application } = await harness.application({
      ...serviceSettings,
      tokenEndpointAuthMethod: "attest_jwt_client_auth",
    });
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const [pem, jwk, secret] = ["one.pem", "one.jwk", "secret.pem"].map((name) =>
      path.join(harness.folder, name),
    ) as [string, string, string];
    await writeFile(pem, publicKey.export({ format: "pem", type: "spki" }));
    await writeFile(jwk, JSON.stringify(publicKey.export({ format: "jwk" })));
    await writeFile(secret, privateKey.export({ format: "pem", type: "pkcs8" }));
    const attest = (file: string, ...more: string[]) =>
      harness.io.run(
        ...["attest", "--client-id", application.id, "--public-key", file],
        ...["--state", harness.state("one"), ...more],
      );
    const issuer = `${harness.running.baseUrl}/oauth/${harness.org.organisation.id}`;
    for (const file of [pem, jwk]) {
      assert.equal(await attest(file), exitCodes.done, printed());
      const proof = await new SignJWT({ jti: randomUUID(), iat: Math.floor(harness.clock() / 1000) })
        .setProtectedHeader({ alg: "ES256", typ: "oauth-client-attestation-pop+jwt" })
        .setAudience(issuer)
        .sign(privateKey);
      const { status, body } = await postForm(
        `${issuer}/token`,
        { grant_type: "client_credentials" },
        {
          "oauth-client-attestation": harness.io.out.join(""),
          "oauth-client-attestation-pop": proof,
        },
      );
      assert.equal(status, 200, JSON.stringify(body));
    }
    assert.equal(await attest(secret), exitCodes.usage);
    assert.match(printed(), /private key/);
    assert.equal(await attest(pem, "--lifetime", "86401"), exitCodes.usage);
    assert.equal(await attest(path.join(harness.folder, "nothing.pem")), exitCodes.usage);
  });

  test("the status is good, as text and as JSON", async () => {
    const state = ["--state", harness.state("one")];
    // In its very first second it still has ninety days.
    harness.clock.advance(1);
    assert.equal(await harness.io.run("status", ...state), exitCodes.done, printed());
    assert.match(printed(), /standing +good/);
    assert.equal(await harness.io.run("status", "--json", "--offline", ...state), exitCodes.done);
    const status = JSON.parse(harness.io.out.join("\n"));
    assert.deepEqual([status.daysLeft, status.key, status.standing], [89, "file", "not asked"]);
  });

  test("it is renewed only when due, with its key or a new one", async () => {
    const renew = (...more: string[]) => harness.io.run("renew", "--state", harness.state("one"), ...more);
    const first = await certificateOf("one");
    assert.equal(await renew(), exitCodes.done, printed());
    assert.match(printed(), /Not due/);
    harness.clock.advance(61 * DAY_MS);
    assert.equal(await renew(), exitCodes.done, printed());
    const second = await certificateOf("one");
    assert.notEqual(second.serialNumber, first.serialNumber);
    assert.ok(second.publicKey.equals(first.publicKey));
    harness.clock.advance(61 * DAY_MS);
    assert.equal(await renew("--new-key"), exitCodes.done, printed());
    const third = await certificateOf("one");
    assert.ok(!third.publicKey.equals(second.publicKey));
    assert.deepEqual(await readdir(inState("one", "generations")), ["2", "3"]);
    assert.equal((await stat(inState("one", "current/key.pem"))).mode & 0o777, 0o600);
    assert.equal(await token("one"), exitCodes.done, printed());
  });

  test("after a lost answer enrolment starts over with a new key; after a refusal it keeps the key", async () => {
    assert.equal(await harness.enroll("two", "AAAAA-AAAAA-AAAAA-AAAAA-AAAAA"), exitCodes.failed);
    assert.match(printed(), /invalid_code/);
    const request = await readFile(inState("two", "generations/1/request.pem"), "utf8");
    assert.equal(await harness.enroll("two", await harness.newCode()), exitCodes.done, printed());
    assert.equal(await readFile(inState("two", "current/request.pem"), "utf8"), request);
    const record = await readRecord(harness.state("two"));
    assert.ok(record?.deviceId);
    const { deviceId: _lost, attestation: _too, ...begun } = record;
    // As if the answer had never come: key and request exist.
    const again = harness.state("three");
    await run("cp", ["-a", harness.state("two"), again]);
    await run("rm", [path.join(again, "current"), path.join(again, "ca.pem")]);
    await writeRecord(again, begun);
    assert.equal(await harness.enroll("three", await harness.newCode()), exitCodes.done, printed());
    assert.match(printed(), /its answer was lost/);
    assert.notEqual((await readRecord(again))?.deviceId, record.deviceId);
  });

  test("the daemon runs until SIGTERM, and stops cleanly", async () => {
    const program = fileURLToPath(new URL("main.ts", import.meta.url));
    const child = spawn(process.execPath, [program, "renew", "--daemon", "--state", harness.state("two")]);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (bytes: Buffer) => (output += bytes));
    try {
      await eventually("the renewal daemon has started", () => {
        if (child.exitCode !== null) throw new Error(`the daemon ended: ${output}`);
        return output.includes("renewal daemon started");
      });
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      assert.deepEqual(await ended, [exitCodes.done, null], output);
      assert.match(output, /renewal daemon stopping/);
    } finally {
      child.kill("SIGKILL");
    }
  });

  test("only a pinned CA is trusted", async () => {
    const place = ["--server", harness.running.baseUrl, "--org", harness.org.organisation.id];
    const state = ["--state", harness.state("four")];
    const wrong = ["--sha256", "00".repeat(32), "--pin"];
    assert.equal(await harness.io.run("ca", ...place, ...state, ...wrong), exitCodes.failed);
    assert.equal(await harness.io.run("ca", ...place), exitCodes.done);
    const [, sha256 = ""] = /SHA-256 (\w+)/.exec(printed()) ?? [];
    const right = ["--sha256", sha256, "--pin"];
    assert.equal(await harness.io.run("ca", ...place, ...state, ...right), exitCodes.done, printed());
    const other = ["--server", harness.running.baseUrl, "--org", harness.other.organisation.id];
    assert.equal(await harness.io.run("ca", ...other, ...state, "--pin"), exitCodes.failed);
    assert.match(printed(), /is this another service/);
    assert.equal(await harness.enroll("four", await harness.newCode()), exitCodes.done, printed());
    const foreign = await fetch(`${harness.other.issuer}/devices/ca.pem`);
    assert.equal(foreign.status, 200);
    const five = harness.state("five");
    await run("mkdir", ["-m", "700", five]);
    await writeFile(path.join(five, "ca.pem"), await foreign.text());
    assert.equal(await harness.enroll("five", await harness.newCode()), exitCodes.failed);
    assert.match(printed(), /CA is not in/);
  });

  test("a revoked device exits with 3 on token, status and renew, and runs the hook until it succeeds", async () => {
    const state = harness.state("one");
    const { deviceId = "" } = (await readRecord(state)) ?? {};
    const hook = path.join(harness.folder, "hook");
    await writeFile(
      hook,
      `#!/bin/sh\necho "$SIGNET_DEVICE_ID" >> ${harness.folder}/heard && test -e ${harness.folder}/ready\n`,
    );
    await chmod(hook, 0o700);
    await harness.revoke(deviceId);
    const options = ["--state", state, "--on-revoked", hook];
    assert.equal(await token("one", "--on-revoked", hook), exitCodes.revoked, printed());
    assert.match(printed(), /key compromise/);
    assert.match(printed(), /could not be notified of the revocation: exit code 1/);
    await writeFile(path.join(harness.folder, "ready"), "");
    assert.equal(await harness.io.run("status", ...options), exitCodes.revoked);
    assert.equal(await harness.io.run("renew", ...options), exitCodes.revoked);
    assert.equal(await harness.io.run("renew", "--daemon", ...options), exitCodes.revoked);
    assert.equal(await readFile(path.join(harness.folder, "heard"), "utf8"), `${deviceId}\n`.repeat(2));
    assert.ok((await readRecord(state))?.revokedAt);
  });

  test("an expired certificate and an unreachable service have exit codes of their own", async () => {
    const state = ["--state", harness.state("two")];
    const away = harness.state("away");
    await run("cp", ["-a", harness.state("two"), away]);
    const record = await readRecord(away);
    assert.ok(record);
    await writeRecord(away, { ...record, server: "http://127.0.0.1:9" });
    assert.equal(await harness.io.run("status", "--state", away), exitCodes.tryLater, printed());
    assert.equal(await harness.io.run("renew", "--state", away), exitCodes.done, "not due yet");
    harness.clock.advance(91 * DAY_MS);
    assert.equal(await harness.io.run("status", ...state), exitCodes.expired, printed());
    assert.equal(await harness.io.run("renew", ...state), exitCodes.expired);
  });
});
