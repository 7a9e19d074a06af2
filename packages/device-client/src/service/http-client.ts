/** HTTP calls, with the device's certificate on those that need it. */
import http from "node:http";
import https from "node:https";
import tls from "node:tls";
import { callFailed, exchange, type HttpAnswer, requestHeaders } from "@signet/cli-runtime/http";
import type { DeviceKey } from "../keys/open-device-key.ts";
import { connectSigned } from "../tls/signed-connection.ts";
import { TpmRefusal } from "../tpm/tpm.ts";

export interface DeviceIdentity {
  readonly key: DeviceKey;
  /** PEM, leaf first. */
  readonly certificate: string;
  /** The same in DER. */
  readonly chain: readonly Buffer[];
}

export interface HttpCall {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly identity?: DeviceIdentity | undefined;
}

export type Http = (call: HttpCall) => Promise<HttpAnswer>;

const MAX_BYTES = 1_048_576;
const TIMEOUT_MS = 30_000;
/** SignatureScheme of a P-256 key (RFC 8446 §4.2.3). */
const ECDSA_SECP256R1_SHA256 = 0x0403;

/** @param serverCa PEM to trust instead of the system's roots. @returns a client that throws CallFailed, and the key's TpmRefusal */
export function httpClient(serverCa: string | undefined, timeoutMs = TIMEOUT_MS): Http {
  return async (call) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const request = await openRequest(call, serverCa ?? systemRoots(), timeout);
      return await exchange(request, call.body, MAX_BYTES);
    } catch (error) {
      // Not transient: another attempt would end the same way.
      if (error instanceof TpmRefusal) throw error;
      throw callFailed({ ...call, timeoutMs }, error, timeout);
    }
  };
}

const MAX_ATTEMPTS = 3;
const MAX_WAIT_SECONDS = 30;

/** Repeats calls that were answered with 429 or 503: the service has done nothing yet. */
export function retryWhenBusy(
  http: Http,
  { pause, random }: { pause(milliseconds: number): Promise<void>; random(): number },
): Http {
  return async (call) => {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await http(call);
      const isBusy = answer.status === 429 || answer.status === 503;
      const seconds = answer.retryAfter ?? attempt;
      if (!isBusy || attempt >= MAX_ATTEMPTS || seconds > MAX_WAIT_SECONDS) return answer;
      await pause((seconds + random()) * 1000);
    }
  };
}

/** The machine's roots, where an organisation adds its own; Node's if the machine has none. */
function systemRoots(): string[] | undefined {
  const roots = tls.getCACertificates("system");
  return roots.length === 0 ? undefined : [...roots, ...tls.getCACertificates("extra")];
}

type Roots = string | string[] | undefined;

async function openRequest(call: HttpCall, ca: Roots, signal: AbortSignal): Promise<http.ClientRequest> {
  const { url, method, body, identity } = call;
  const options = { method, headers: requestHeaders(call.headers, body), signal, agent: false as const };
  const trust = ca === undefined ? {} : { ca };
  if (!url.startsWith("https:")) {
    if (identity) throw new Error("a certificate is presented over https only");
    return http.request(url, options);
  }
  if (!identity) return https.request(url, { ...options, ...trust });
  const { key, certificate } = identity;
  if (key.privateKey) {
    const pem = key.privateKey.export({ format: "pem", type: "pkcs8" });
    return https.request(url, { ...options, ...trust, key: pem, cert: certificate });
  }
  return await openTpmRequest(new URL(url), identity, ca, options);
}

/** Over a connection whose handshake the TPM signs. */
async function openTpmRequest(
  { host, hostname, port, pathname, search }: URL,
  { key, chain }: DeviceIdentity,
  ca: Roots,
  { method, headers, signal }: { method: string; headers: http.OutgoingHttpHeaders; signal: AbortSignal },
): Promise<http.ClientRequest> {
  const connection = await connectSigned({
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port === "" ? 443 : Number(port),
    ca,
    identity: { chain, signatureScheme: ECDSA_SECP256R1_SHA256, sign: key.sign },
    signal,
  });
  // The connection is TLS already: over it goes plain HTTP/1.1, with the service's own Host. Node ignores
  // `createConnection` when an agent is given.
  const request = { method, signal, path: `${pathname}${search}`, headers: { ...headers, host } };
  return http.request({ ...request, createConnection: () => connection });
}
