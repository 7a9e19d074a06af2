/**
 * The listeners beside the ordinary one, where clients show certificates (device-identity.md §4): one that speaks TLS
 * itself, and a private one for proxies that do.
 */
import { type Env, path, text, webAddress, wholeNumber } from "./config-values.ts";

export interface MtlsSettings {
  readonly port: number;
  readonly host: string;
  /** PEM, the server's own; read again when they change. */
  readonly certificateFile: string;
  readonly keyFile: string;
}

export const proxyCertificateFormats = ["rfc9440", "nginx"] as const;
/** How a proxy writes a certificate: as RFC 9440 says, or as nginx's `$ssl_client_escaped_cert`. */
export type ProxyCertificateFormat = (typeof proxyCertificateFormats)[number];

export interface ProxySettings {
  readonly port: number;
  readonly host: string;
  readonly format: ProxyCertificateFormat;
  /** Who is heard there at all: addresses and networks. */
  readonly trusted: readonly string[];
}

export interface CertificateListeners {
  readonly mtls: MtlsSettings | undefined;
  readonly certificateProxy: ProxySettings | undefined;
  /** Where clients find the endpoints that ask for a certificate; undefined: where all the others are. */
  readonly mtlsBaseUrl: string | undefined;
}

/** What discovery tells of them; undefined where nobody asks for certificates. */
export const certificateUse = ({ mtls, certificateProxy, mtlsBaseUrl }: CertificateListeners) =>
  mtls || certificateProxy ? { baseUrl: mtlsBaseUrl } : undefined;

/** What the rest of the configuration says. */
export interface Around {
  readonly host: string;
  readonly port: number;
  readonly baseUrl: string;
  readonly trustedProxies: readonly string[];
}

const MTLS = ["SIGNET_MTLS_PORT", "SIGNET_MTLS_CERT_FILE", "SIGNET_MTLS_KEY_FILE"] as const;
const LOOPBACK = ["127.0.0.0/8", "::1"];

export function certificateListeners(env: Env, around: Around, faults: string[]): CertificateListeners {
  const mtls = mtlsSettings(env, around, faults);
  const certificateProxy = proxySettings(env, around, faults);
  const ports = [
    around.port,
    ...(mtls ? [mtls.port] : []),
    ...(certificateProxy ? [certificateProxy.port] : []),
  ];
  if (new Set(ports).size < ports.length)
    faults.push("PORT, SIGNET_MTLS_PORT and SIGNET_PROXY_PORT must differ");
  return { mtls, certificateProxy, mtlsBaseUrl: mtlsBaseUrl(env, around, mtls, faults) };
}

function mtlsSettings(env: Env, { host }: Around, faults: string[]): MtlsSettings | undefined {
  const missing = MTLS.filter((name) => text(env, name) === undefined);
  if (missing.length === MTLS.length) return undefined;
  if (missing.length > 0)
    faults.push(`${missing.join(" and ")} must be set with the other settings of SIGNET_MTLS_…`);
  return {
    port: wholeNumber(env, "SIGNET_MTLS_PORT", { fallback: 8443, least: 1, most: 65_535 }, faults),
    host: text(env, "SIGNET_MTLS_HOST") ?? host,
    certificateFile: path(env, "SIGNET_MTLS_CERT_FILE") ?? "",
    keyFile: path(env, "SIGNET_MTLS_KEY_FILE") ?? "",
  };
}

function proxySettings(env: Env, { trustedProxies }: Around, faults: string[]): ProxySettings | undefined {
  const named = text(env, "SIGNET_PROXY_CERT_FORMAT") ?? "rfc9440";
  const format = proxyCertificateFormats.find((one) => one === named);
  if (!format) faults.push(`SIGNET_PROXY_CERT_FORMAT must be ${proxyCertificateFormats.join(" or ")}`);
  if (text(env, "SIGNET_PROXY_PORT") === undefined) return undefined;
  const host = text(env, "SIGNET_PROXY_HOST") ?? "127.0.0.1";
  const isLocal = ["localhost", "127.0.0.1", "::1"].includes(host);
  // Whoever reaches that port may say which certificate it has seen, and so be any device.
  if (!isLocal && trustedProxies.length === 0)
    faults.push("TRUSTED_PROXIES must name the proxies when SIGNET_PROXY_HOST is not this machine alone");
  return {
    port: wholeNumber(env, "SIGNET_PROXY_PORT", { fallback: 8081, least: 1, most: 65_535 }, faults),
    host,
    format: format ?? "rfc9440",
    trusted: isLocal ? [...LOOPBACK, ...trustedProxies] : trustedProxies,
  };
}

function mtlsBaseUrl(
  env: Env,
  { baseUrl }: Around,
  mtls: MtlsSettings | undefined,
  faults: string[],
): string | undefined {
  const set = webAddress(env, "SIGNET_MTLS_BASE_URL", faults);
  if (set !== undefined) {
    if (!set.startsWith("https:")) faults.push("SIGNET_MTLS_BASE_URL must be https");
    return set;
  }
  const url = mtls && URL.parse(baseUrl);
  return url ? `https://${url.hostname}:${mtls.port}` : undefined;
}
