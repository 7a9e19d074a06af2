/** The service's endpoints for devices (device-identity.md §1), and what it answers there. */
import type { DeviceIdentity, Http, HttpAnswer, HttpCall } from "./http-call.ts";

export interface ServicePlace {
  /** The service's address, without a slash at its end. */
  readonly server: string;
  readonly organisation: string;
}

export const issuerOf = ({ server, organisation }: ServicePlace): string => `${server}/oauth/${organisation}`;

/** The service has answered, and the answer is no. */
export class ServiceRefusal extends Error {
  readonly status: number;
  /** As in `{error}`: OAuth's, or one of device-identity.md §1; empty when there is none. */
  readonly code: string;
  /** Seconds. */
  readonly retryAfter: number | undefined;

  constructor({ status, retryAfter, body }: HttpAnswer) {
    const { error, error_description: description } = jsonOf(body) ?? {};
    const words = [error, description].filter((part) => typeof part === "string").join(": ");
    super(`the service answered ${status}${words === "" ? "" : ` ${printable(words)}`}`);
    this.name = "ServiceRefusal";
    this.status = status;
    this.code = typeof error === "string" ? error : "";
    this.retryAfter = retryAfter;
  }

  /** Overloaded, limited or broken for the moment: the same call may go well later. */
  get isPassing(): boolean {
    return this.status === 429 || this.status >= 500;
  }
}

export interface IssuedCertificate {
  readonly deviceId: string;
  /** PEM. */
  readonly certificate: string;
  /** PEM. */
  readonly ca: string;
  readonly attestation: string;
}

export interface Challenge {
  readonly challengeId: string;
  readonly credentialBlob: Buffer;
  readonly encryptedSecret: Buffer;
  readonly nonce: Buffer;
}

/** What a TPM says of a key, base64. */
export interface Evidence {
  readonly attest: string;
  readonly signature: string;
  readonly key_public: string;
}

/** All throw ServiceRefusal and CallFailed. */
export interface DeviceService {
  enroll(body: { code: string; csr: string }): Promise<IssuedCertificate>;
  begin(body: {
    code: string;
    ek_certificate: string;
    ek_chain?: string[];
    ak_public: string;
  }): Promise<Challenge>;
  complete(
    body: { challenge_id: string; secret: string; csr: string } & Evidence,
  ): Promise<IssuedCertificate>;
  renew(
    url: string,
    identity: DeviceIdentity,
    body: { csr: string } & Partial<Evidence>,
  ): Promise<IssuedCertificate>;
  /** PEM, all generations, the newest first. */
  caPem(): Promise<string>;
  /** @param request DER (RFC 6960 appendix A.1) */
  ocsp(request: Buffer): Promise<Buffer>;
  /** @returns the token endpoint's answer. @param url of the alias for mTLS */
  token(
    url: string,
    identity: DeviceIdentity,
    form: URLSearchParams,
  ): Promise<Readonly<Record<string, unknown>>>;
  /** The metadata of RFC 8414. */
  metadata(): Promise<Readonly<Record<string, unknown>>>;
}

export function deviceService(http: Http, place: ServicePlace): DeviceService {
  const devices = `${issuerOf(place)}/devices`;
  const json = async (call: HttpCall): Promise<Readonly<Record<string, unknown>>> => {
    const answer = await expectSuccess(http, call);
    const body = jsonOf(answer.body);
    if (!body) throw new Error(`${new URL(call.url).host} gave an answer that is no JSON object`);
    return body;
  };
  const post = (url: string, body: object, identity?: DeviceIdentity) => {
    const headers = { "content-type": "application/json" };
    return json({ method: "POST", url, headers, body: JSON.stringify(body), identity });
  };
  return {
    enroll: async (body) => issuedOf(await post(`${devices}/enroll`, body)),
    begin: async (body) => challengeOf(await post(`${devices}/enroll/begin`, body)),
    complete: async (body) => issuedOf(await post(`${devices}/enroll/complete`, body)),
    renew: async (url, identity, body) => issuedOf(await post(url, body, identity)),
    caPem: async () => {
      const headers = { accept: "*/*" };
      return (await expectSuccess(http, { method: "GET", url: `${devices}/ca.pem`, headers })).body.toString(
        "utf8",
      );
    },
    ocsp: async (request) => {
      const headers = { accept: "application/ocsp-response", "content-type": "application/ocsp-request" };
      return (await expectSuccess(http, { method: "POST", url: `${devices}/ocsp`, headers, body: request }))
        .body;
    },
    token: (url, identity, form) => {
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      return json({ method: "POST", url, headers, body: form.toString(), identity });
    },
    metadata: () => json({ method: "GET", url: `${issuerOf(place)}/.well-known/openid-configuration` }),
  };
}

async function expectSuccess(http: Http, call: HttpCall): Promise<HttpAnswer> {
  const answer = await http(call);
  if (answer.status < 200 || answer.status > 299) throw new ServiceRefusal(answer);
  return answer;
}

function issuedOf(body: Readonly<Record<string, unknown>>): IssuedCertificate {
  const texts = textsOf(body, ["device_id", "certificate", "ca", "attestation"]);
  const [deviceId = "", certificate = "", ca = "", attestation = ""] = texts;
  return { deviceId, certificate, ca, attestation };
}

function challengeOf(body: Readonly<Record<string, unknown>>): Challenge {
  const names = ["challenge_id", "credential_blob", "encrypted_secret", "nonce"];
  const [challengeId = "", ...rest] = textsOf(body, names);
  const [credentialBlob, encryptedSecret, nonce] = rest.map((text) => Buffer.from(text, "base64"));
  const none = Buffer.alloc(0);
  return {
    challengeId,
    credentialBlob: credentialBlob ?? none,
    encryptedSecret: encryptedSecret ?? none,
    nonce: nonce ?? none,
  };
}

function textsOf(body: Readonly<Record<string, unknown>>, names: readonly string[]): string[] {
  return names.map((name) => {
    const value = body[name];
    if (typeof value !== "string") throw new Error(`the service's answer has no ${name}`);
    return value;
  });
}

function jsonOf(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = JSON.parse(body.toString("utf8")) as unknown;
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** What somebody else wrote: short, and unable to steer a terminal. */
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, "?").slice(0, 300);
