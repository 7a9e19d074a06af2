/**
 * A device from its code to its end, by outside clients alone: OpenSSL makes its key and its request, curl brings them and
 * shows the certificate, to the TLS listener of a real server and through HAProxy and nginx as Debian has them.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import os from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { certificateBinding } from "../../packages/protocol/src/certificates/certificate-binding.ts";
import { runForJson } from "../../packages/server/src/testing/command-line.ts";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { clientCertHeader } from "../../packages/server/src/testing/fixtures/enrolled-device.ts";
import { payloadOf } from "../../packages/server/src/testing/probes/answers.ts";
import { type TestListeners, testListeners } from "../../packages/server/src/testing/test-listeners.ts";
import { missingProgram } from "../support/programs.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";
import { type CertificateProxy, missingProxy, type ProxyName, startProxy } from "./certificate-proxies.ts";

const skip = missingProgram("curl", ["--version"]) || missingProgram("openssl", ["version"]);
const run = promisify(execFile);

interface Curled {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** @throws what curl says when there is no answer */
async function curl(...parameters: readonly string[]): Promise<Curled> {
  const shared = ["-sS", "--max-time", "20", "-w", "\n%{http_code}"];
  const { stdout } = await run("curl", [...shared, ...parameters]);
  const at = stdout.lastIndexOf("\n");
  const text = stdout.slice(0, at);
  const body = text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: Number(stdout.slice(at + 1)), body };
}

describe("device certificates with third-party clients", { skip }, () => {
  let folder: string;
  let listeners: TestListeners;
  let server: ServerProcess;
  let settings: Record<string, string>;
  let orgId: string;
  let clientId: string;
  const at = (file: string) => path.join(folder, file);

  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-devices-"));
    listeners = await testListeners();
    await writeFile(at("server.pem"), listeners.own.cert);
    server = await startServer({ dataDir: folder, isDemo: false, settings: serverSettings() });
    settings = { SIGNET_DATA_DIR: folder, PORT: String(server.port) };
    orgId = String((await operate(["org", "create", "--name", "Acme"]))["id"]);
    const scope = ["--name", "readings:write", "--display-name", "Write readings"];
    await operate(["scope", "create", "--org", orgId, ...scope]);
    const made = await operate([
      ...["app", "create", "--org", orgId, "--name", "Meters", "--type", "confidential", "--bind-tokens"],
      ...["--auth-method", "tls_client_auth", "--grant", "client_credentials", "--scope", "readings:write"],
    ]);
    clientId = String(made["clientId"]);
    await enrol("meter");
    await enrol("lost");
  });
  after(async () => {
    await server.stop();
    await listeners.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const serverSettings = () => ({ ...listeners.env, TRUSTED_PROXIES: "127.0.0.1" });
  const operate = (args: string[]) => runForJson<Record<string, unknown>>(args, settings);
  async function restart(more: Record<string, string>): Promise<void> {
    await server.stop();
    const again = { dataDir: folder, isDemo: false, port: server.port };
    server = await startServer({ ...again, settings: { ...serverSettings(), ...more } });
  }

  const ids = new Map<string, string>();
  /** `NAME.key` and `NAME.pem`, with the CA's certificate in `ca.pem`. */
  async function enrol(name: string): Promise<void> {
    const key = [
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-noenc",
      "-keyout",
      at(`${name}.key`),
    ];
    await run("openssl", ["req", "-new", ...key, "-subj", `/CN=${name}`, "-out", at(`${name}.csr`)]);
    const { code } = await operate(["device", "register", "--org", orgId, "--name", name]);
    await writeFile(
      at("enrol.json"),
      JSON.stringify({ code, csr: await readFile(at(`${name}.csr`), "utf8") }),
    );
    const json = ["-H", "content-type: application/json", "--data-binary", `@${at("enrol.json")}`];
    const { status, body } = await curl(...json, `${server.baseUrl}/oauth/${orgId}/devices/enroll`);
    assert.equal(status, 201, JSON.stringify(body));
    await writeFile(at(`${name}.pem`), String(body["certificate"]));
    await writeFile(at("ca.pem"), String(body["ca"]));
    ids.set(name, String(body["device_id"]));
  }

  const identity = (name: string) => ["--cert", at(`${name}.pem`), "--key", at(`${name}.key`)];
  const trust = () => ["--cacert", at("server.pem")];
  const form = () => ["-d", "grant_type=client_credentials", "-d", `client_id=${clientId}`];
  const token = (url: string, ...more: string[]) =>
    curl(...trust(), ...form(), ...more, `${url}/oauth/${orgId}/token`);
  const derOf = async (name: string) => new X509Certificate(await readFile(at(`${name}.pem`))).raw;
  const assertToken = async ({ status, body }: Curled, name: string) => {
    assert.equal(status, 200, JSON.stringify(body));
    const claims = payloadOf(body["access_token"]);
    assert.equal(claims["device_id"], ids.get(name));
    assert.equal(certificateBinding(claims, await derOf(name)), "holds");
  };
  const assertRefused = ({ status, body }: Curled) =>
    assert.deepEqual([status, body["error"]], [401, "invalid_client"]);
  const spoofed = async (name: string) => ["-H", `Client-Cert: ${clientCertHeader(await derOf(name))}`];

  test("curl authenticates with its certificate and gets a certificate-bound token", async () => {
    await assertToken(await token(listeners.mtlsUrl, ...identity("meter")), "meter");
    await assertToken(
      await token(listeners.mtlsUrl, ...identity("meter"), "--tlsv1.2", "--tls-max", "1.2"),
      "meter",
    );
    assertRefused(await token(listeners.mtlsUrl));
    assertRefused(await token(listeners.mtlsUrl, ...(await spoofed("meter"))));
    assertRefused(await token(server.baseUrl, ...(await spoofed("meter"))));
    await assertToken(
      await token(listeners.mtlsUrl, ...identity("meter"), ...(await spoofed("lost"))),
      "meter",
    );
  });

  test("rejects a self-signed certificate for the same name", async () => {
    const san = `subjectAltName=URI:${server.baseUrl}/oauth/${orgId}/devices/${ids.get("meter")}`;
    const subject = `/O=${orgId}/CN=${ids.get("meter")}`;
    const made = ["-x509", "-key", at("meter.key"), "-subj", subject, "-addext", san, "-days", "30"];
    await run("openssl", ["req", "-new", ...made, "-out", at("forged.pem")]);
    assertRefused(await token(listeners.mtlsUrl, "--cert", at("forged.pem"), "--key", at("meter.key")));
  });

  for (const name of ["haproxy", "nginx"] as const satisfies readonly ProxyName[])
    describe(`behind ${name}`, { skip: missingProxy(name) }, () => {
      let proxy: CertificateProxy;
      before(async () => {
        // The one listener for proxies understands one form.
        if (name === "nginx") await restart({ SIGNET_PROXY_CERT_FORMAT: "nginx" });
        const authorities = await readFile(at("ca.pem"), "utf8");
        const port = Number(new URL(listeners.proxyUrl).port);
        proxy = await startProxy(name, { own: listeners.own, authorities, port });
      });
      after(() => proxy?.stop());

      test("accepts the certificate header from the proxy only", async () => {
        await assertToken(await token(proxy.url, ...identity("meter")), "meter");
        assertRefused(await token(proxy.url));
        for (const header of [
          await spoofed("meter"),
          [...(await spoofed("meter")), ...(await spoofed("lost"))],
        ]) {
          assertRefused(await token(proxy.url, ...header));
          await assertToken(await token(proxy.url, ...identity("lost"), ...header), "lost");
          assertRefused(await token(server.baseUrl, ...header));
        }
        const underscored = (await spoofed("meter")).map((part) =>
          part.replace("Client-Cert", "Client_Cert"),
        );
        assertRefused(await token(proxy.url, ...underscored));
      });

      test("ignores a client's own X-Forwarded-For when it counts guesses", async () => {
        const statuses: number[] = [];
        while (statuses.length < 11 && statuses.at(-1) !== 429) {
          const forged = `X-Forwarded-For: 2001:db8:${name.length}:${statuses.length}::1`;
          const json = ["-H", "content-type: application/json", "-d", '{"code":"x","csr":"x"}'];
          const url = `${proxy.url}/oauth/${orgId}/devices/enroll`;
          statuses.push((await curl(...trust(), "-H", forged, ...json, url)).status);
        }
        assert.equal(statuses.at(-1), 429, statuses.join());
      });

      test("rejects two certificate headers, and malformed ones", async () => {
        const twice = [...(await spoofed("meter")), ...(await spoofed("meter"))];
        for (const header of [twice, ["-H", "Client-Cert: nonsense"]]) {
          const { status, body } = await token(listeners.proxyUrl, ...header);
          assert.deepEqual([status, body["error"]], [400, "invalid_request"]);
        }
      });
    });

  test("rejects the next request on a kept-alive connection after the revocation", async () => {
    const agent = new Agent({
      ...{ keepAlive: true, maxSockets: 1, ca: listeners.own.cert },
      ...{ cert: await readFile(at("lost.pem")), key: await readFile(at("lost.key")) },
    });
    const ports = new Set<number | undefined>();
    const ask = async (): Promise<Curled> => {
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const sent = request(`${listeners.mtlsUrl}/oauth/${orgId}/token`, { agent, method: "POST", headers });
      sent.end(`grant_type=client_credentials&client_id=${clientId}`);
      const [response] = await once(sent, "response");
      ports.add(response.socket.localPort);
      let text = "";
      for await (const chunk of response) text += String(chunk);
      return { status: response.statusCode, body: JSON.parse(text) as Record<string, unknown> };
    };
    await assertToken(await ask(), "lost");
    await operate(["device", "revoke", String(ids.get("lost")), "--org", orgId]);
    assertRefused(await ask());
    assert.equal(ports.size, 1, "it was the same connection");
    agent.destroy();
    assertRefused(await token(listeners.mtlsUrl, ...identity("lost")));
    await assertToken(await token(listeners.mtlsUrl, ...identity("meter")), "meter");
  });

  test("SIGHUP reloads the server certificate", async () => {
    const next = await listeners.replace();
    await writeFile(at("next.pem"), next.cert);
    process.kill(server.pid, "SIGHUP");
    await eventually(
      "curl trusts the new one",
      () =>
        curl("--cacert", at("next.pem"), `${listeners.mtlsUrl}/readyz`).then(
          ({ status }) => status === 200,
          () => false,
        ),
      10_000,
    );
    await assert.rejects(curl(...trust(), `${listeners.mtlsUrl}/readyz`));
  });
});
