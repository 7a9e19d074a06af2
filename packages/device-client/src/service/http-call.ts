/** One HTTP call, bounded in time and size, never led elsewhere by a redirect, with the device's certificate where it is asked for. */
import http from "node:http";
import https from "node:https";
import tls from "node:tls";
import type { DeviceKey } from "../keys/device-key.ts";
import { connectSigned } from "../tls/signed-connection.ts";
import { TpmRefusal } from "../tpm/tpm.ts";

/** What the device shows on an mTLS connection. */
export interface DeviceIdentity {
  readonly key: DeviceKey;
  /** PEM, the device's own first. */
  readonly certificate: string;
  /** The same, as DER. */
  readonly chain: readonly Buffer[];
}

export interface HttpCall {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly identity?: DeviceIdentity | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** Seconds, of Retry-After. */
  readonly retryAfter: number | undefined;
  readonly body: Buffer;
}

/** No answer: refused, cut off, too late, too long, or somebody else's certificate. */
export class CallFailed extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "CallFailed";
  }
}

export type Http = (call: HttpCall) => Promise<HttpAnswer>;

const MOST_BYTES = 1_048_576;
const TIMEOUT_MS = 30_000;
/** Of a P-256 key (RFC 8446 §4.2.3). */
const ECDSA_SECP256R1_SHA256 = 0x0403;

/** @param serverCa PEM that is believed in place of the system's roots. @returns a client that throws CallFailed, and TpmRefusal of the key */
export function httpClient(serverCa: string | undefined, timeoutMs = TIMEOUT_MS): Http {
  return async (call) => {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      return await answerOf(await requestFor(call, serverCa ?? systemRoots(), signal), call);
    } catch (cause) {
      // It answers, and says no: another try would end the same way.
      if (cause instanceof TpmRefusal) throw cause;
      const reason = signal.aborted ? `no answer within ${timeoutMs / 1000} s` : reasonOf(cause);
      throw new CallFailed(`${call.method} ${new URL(call.url).host}: ${reason}`, { cause });
    }
  };
}

/** Those of the machine, where an organisation adds its own; Node's where the machine has none. */
function systemRoots(): string[] | undefined {
  const roots = tls.getCACertificates("system");
  return roots.length === 0 ? undefined : [...roots, ...tls.getCACertificates("extra")];
}

type Roots = string | string[] | undefined;

async function requestFor(call: HttpCall, ca: Roots, signal: AbortSignal): Promise<http.ClientRequest> {
  const { url, method, body, identity } = call;
  const headers: Record<string, string | number> = { accept: "application/json", ...call.headers };
  if (body !== undefined) headers["content-length"] = Buffer.byteLength(body);
  const options = { method, headers, signal };
  const trust = ca === undefined ? {} : { ca };
  if (!url.startsWith("https:")) {
    if (identity) throw new Error("a certificate is shown over https only");
    return http.request(url, { ...options, agent: false });
  }
  if (!identity) return https.request(url, { ...options, ...trust, agent: false });
  const { key, certificate } = identity;
  if (key.privateKey) {
    const pem = key.privateKey.export({ format: "pem", type: "pkcs8" });
    return https.request(url, { ...options, ...trust, agent: false, key: pem, cert: certificate });
  }
  return await signedRequest(new URL(url), identity, { options, ca, signal });
}

/** Over a connection that the TPM's key has signed for. */
async function signedRequest(
  { host, hostname, port, pathname, search }: URL,
  { key, chain }: DeviceIdentity,
  { options, ca, signal }: { options: http.RequestOptions; ca: Roots; signal: AbortSignal },
): Promise<http.ClientRequest> {
  const connection = await connectSigned({
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port === "" ? 443 : Number(port),
    ca,
    identity: { chain, signatureScheme: ECDSA_SECP256R1_SHA256, sign: key.sign },
    signal,
  });
  // The connection is TLS already: what remains is plain HTTP/1.1 over it, under the service's own name.
  return http.request({
    ...options,
    path: `${pathname}${search}`,
    headers: { ...options.headers, host },
    // Node takes this only when no agent is named.
    createConnection: () => connection,
  });
}

function answerOf(request: http.ClientRequest, { body }: HttpCall): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => {
      readBody(response).then((bytes) => {
        const seconds = Number(response.headers["retry-after"]);
        const retryAfter = Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
        resolve({ status: response.statusCode ?? 0, retryAfter, body: bytes });
      }, reject);
    });
    request.end(body);
  });
}

async function readBody(response: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MOST_BYTES) {
      response.destroy();
      throw new Error(`an answer of more than ${MOST_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // OpenSSL's own texts name its source files; `reason` is the part that says something.
  return "reason" in cause && typeof cause.reason === "string" ? cause.reason : cause.message.trim();
}
