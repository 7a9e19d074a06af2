/** The listeners for certificates in a test, and the client that comes by them over real TLS. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProxyCertificateFormat } from "../config/listener-settings.ts";
import type { Answer } from "./fixtures/client.ts";
import { type SelfSigned, selfSigned } from "./fixtures/self-signed.ts";
import { freePort } from "./free-port.ts";

export interface TestListeners {
  /** For `startTestService`. */
  readonly env: Readonly<Record<string, string>>;
  readonly mtlsUrl: string;
  readonly proxyUrl: string;
  /** The server's own certificate, which is its own root. */
  readonly own: SelfSigned;
  /** Puts another one in its place on disk. */
  replace(): Promise<SelfSigned>;
  remove(): Promise<void>;
}

export async function testListeners(format: ProxyCertificateFormat = "rfc9440"): Promise<TestListeners> {
  const folder = await mkdtemp(join(tmpdir(), "signet-mtls-"));
  const [certificateFile, keyFile] = [join(folder, "server.pem"), join(folder, "server.key")];
  const put = async () => {
    const made = selfSigned();
    await writeFile(certificateFile, made.cert);
    await writeFile(keyFile, made.key, { mode: 0o600 });
    return made;
  };
  const own = await put();
  const [mtlsPort, proxyPort] = [await freePort(), await freePort()];
  const mtlsUrl = `https://127.0.0.1:${mtlsPort}`;
  return {
    env: {
      SIGNET_MTLS_PORT: String(mtlsPort),
      SIGNET_MTLS_HOST: "127.0.0.1",
      SIGNET_MTLS_CERT_FILE: certificateFile,
      SIGNET_MTLS_KEY_FILE: keyFile,
      SIGNET_MTLS_BASE_URL: mtlsUrl,
      SIGNET_PROXY_PORT: String(proxyPort),
      SIGNET_PROXY_HOST: "127.0.0.1",
      SIGNET_PROXY_CERT_FORMAT: format,
    },
    mtlsUrl,
    proxyUrl: `http://127.0.0.1:${proxyPort}`,
    own,
    replace: put,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

export interface MtlsClient {
  /** A form by POST. @param path from the root */
  post(
    path: string,
    form: Record<string, string>,
    headers?: Record<string, string | string[]>,
  ): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** How many connections it has opened: with one only, all its requests came by one handshake. */
  connections(): number;
  close(): void;
}

/** One connection that is kept alive. @param shown PEM; undefined: a client without a certificate */
export function mtlsClient(
  { mtlsUrl, own }: Pick<TestListeners, "mtlsUrl" | "own">,
  shown?: { readonly certificate: string; readonly key: string },
): MtlsClient {
  const identity = shown ? { cert: shown.certificate, key: shown.key } : {};
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: own.cert, ...identity });
  const seen = new Set<string>();
  const send = (method: string, path: string, headers: Record<string, string | string[]>, body?: string) =>
    new Promise<Answer>((resolve, reject) => {
      const sent = request(`${mtlsUrl}${path}`, { agent, method, headers }, (response) => {
        const { localPort } = response.socket;
        seen.add(String(localPort ?? randomUUID()));
        answerOf(response).then(resolve, reject);
      });
      sent.on("error", reject);
      sent.end(body);
    });
  return {
    post: (path, form, headers = {}) =>
      send(
        "POST",
        path,
        { "content-type": "application/x-www-form-urlencoded", ...headers },
        new URLSearchParams(form).toString(),
      ),
    get: (path, headers = {}) => send("GET", path, headers),
    connections: () => seen.size,
    close: () => agent.destroy(),
  };
}

async function answerOf(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const headers = new Headers();
  for (const [name, value] of Object.entries(response.headers))
    headers.set(name, [value ?? ""].flat().join(", "));
  const isJson = headers.get("content-type")?.includes("json") && text !== "";
  const body = isJson ? (JSON.parse(text) as Record<string, unknown>) : {};
  return { status: response.statusCode ?? 0, headers, body };
}
