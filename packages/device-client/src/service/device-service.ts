/** The service's endpoints for devices and their answers (device-identity.md §1). */
import type { HttpAnswer } from "@signet/cli-runtime/http";
import { isServiceAddress } from "@signet/protocol/service-address";
import type { DeviceIdentity, Http, HttpCall } from "./http-client.ts";

export interface ServiceAddress {
  /** Without a trailing slash. */
  readonly server: string;
  readonly organisation: string;
}

const issuerUrl = ({ server, organisation }: ServiceAddress): string => `${server}/oauth/${organisation}`;

export class ServiceRefusal extends Error {
  override name = "ServiceRefusal";
  readonly status: number;
  /** `error` of the body: OAuth's, or one of device-identity.md §1; may be empty. */
  readonly code: string;
  /** Seconds. */
  readonly retryAfter: number | undefined;

  constructor({ status, retryAfter, body }: Pick<HttpAnswer, "status" | "retryAfter" | "body">) {
    const { error, error_description: description } = parseObject(body) ?? {};
    const reason = [error, description].filter((part) => typeof part === "string").join(": ");
    super(`the service answered ${`${status} ${printable(reason)}`.trim()}`);
    this.status = status;
    this.code = typeof error === "string" ? error : "";
    this.retryAfter = retryAfter;
  }

  /** Overloaded, rate-limited or broken for the moment: the same call may succeed later. */
  get isTransient(): boolean {
    return this.status === 429 || this.status >= 500;
  }
}

export type IssuedCertificate = ReturnType<typeof readIssued>;
export type Challenge = ReturnType<typeof readChallenge>;

/** A TPM's statement about a key, base64. */
export interface Evidence {
  readonly attest: string;
  readonly signature: string;
  readonly key_public: string;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Every call throws ServiceRefusal and CallFailed. */
export type DeviceService = ReturnType<typeof deviceService>;

export function deviceService(http: Http, address: ServiceAddress) {
  const issuer = issuerUrl(address);
  const send = async (call: HttpCall): Promise<Buffer> => {
    const answer = await http(call);
    if (answer.status < 200 || answer.status > 299) throw new ServiceRefusal(answer);
    return answer.body;
  };
  const json = async (call: HttpCall): Promise<JsonObject> => {
    const body = parseObject(await send(call));
    if (!body) throw new Error(`${new URL(call.url).host} answered with something other than a JSON object`);
    return body;
  };
  const post = (url: string, body: object, identity?: DeviceIdentity) => {
    const headers = { "content-type": "application/json" };
    return json({ method: "POST", url, headers, body: JSON.stringify(body), identity });
  };
  return {
    enroll: async (body: { code: string; csr: string }) =>
      readIssued(await post(`${issuer}/devices/enroll`, body)),
    beginEnrolment: async (
      body: Readonly<Record<"code" | "ek_certificate" | "ak_public", string>> & { ek_chain?: string[] },
    ) => readChallenge(await post(`${issuer}/devices/enroll/begin`, body)),
    completeEnrolment: async (body: { challenge_id: string; secret: string; csr: string } & Evidence) =>
      readIssued(await post(`${issuer}/devices/enroll/complete`, body)),
    renew: async (url: string, identity: DeviceIdentity, body: { csr: string } & Partial<Evidence>) =>
      readIssued(await post(url, body, identity)),
    /** PEM, all generations of the CA, the newest first. */
    caPem: async () => {
      const call = { method: "GET", url: `${issuer}/devices/ca.pem`, headers: { accept: "*/*" } } as const;
      return (await send(call)).toString("utf8");
    },
    /** @param body DER (RFC 6960 appendix A.1) */
    ocsp: (body: Buffer) => {
      const headers = { accept: "application/ocsp-response", "content-type": "application/ocsp-request" };
      return send({ method: "POST", url: `${issuer}/devices/ocsp`, headers, body });
    },
    token: (url: string, identity: DeviceIdentity, form: URLSearchParams) => {
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      return json({ method: "POST", url, headers, body: form.toString(), identity });
    },
    metadata: () => json({ method: "GET", url: `${issuer}/.well-known/openid-configuration` }),
  };
}

const readIssued = (body: JsonObject) => ({
  deviceId: requireText(body, "device_id"),
  /** PEM. */
  certificate: requireText(body, "certificate"),
  /** PEM. */
  ca: requireText(body, "ca"),
  attestation: requireText(body, "attestation"),
});

const readChallenge = (body: JsonObject) => ({
  challengeId: requireText(body, "challenge_id"),
  credentialBlob: requireBytes(body, "credential_blob"),
  encryptedSecret: requireBytes(body, "encrypted_secret"),
  nonce: requireBytes(body, "nonce"),
});

const requireBytes = (body: JsonObject, name: string): Buffer =>
  Buffer.from(requireText(body, name), "base64");

function requireText(body: JsonObject, name: string): string {
  const value = body[name];
  if (typeof value !== "string") throw new Error(`the service's answer has no ${name}`);
  return value;
}

function parseObject(body: Buffer): JsonObject | undefined {
  try {
    const value = JSON.parse(body.toString("utf8")) as unknown;
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** Untrusted text: short, and unable to control a terminal. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, "?").slice(0, 300);

/** @throws Error when the service has none, or its metadata is another issuer's */
export async function mtlsEndpoints(service: Pick<DeviceService, "metadata">, address: ServiceAddress) {
  const { issuer, mtls_endpoint_aliases: aliases, token_endpoint: fallback } = await service.metadata();
  // RFC 8414 §3.3: metadata of another issuer must not be used.
  const expected = issuerUrl(address);
  if (issuer !== expected)
    throw new Error(`the service's issuer is ${JSON.stringify(issuer)}, not ${expected}`);
  const token = (aliases as Readonly<Record<string, unknown>> | undefined)?.["token_endpoint"] ?? fallback;
  if (typeof token !== "string" || !token.startsWith("https:") || !isServiceAddress(token))
    throw new Error("the service has no endpoint for client certificates (SIGNET_MTLS_PORT)");
  // RFC 8705 names only OAuth's endpoints; renewal is next to the token endpoint.
  return { token, renew: token.replace(/\/token$/, "/devices/renew") };
}
