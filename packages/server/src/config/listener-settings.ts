/**
 * The additional listeners for client certificates (device-identity.md §4): one that terminates TLS itself, and a
 * private one for proxies that do.
 */
import { type Env, path, text, webAddress, wholeNumber } from "./config-values.ts";

export interface MtlsSettings {
  readonly port: number;
  readonly host: string;
  /** PEM of the server; reloaded when it changes. */
  readonly certificateFile: string;
  readonly keyFile: string;
}

export const proxyCertificateFormats = ["rfc9440", "nginx"] as const;
/** How a proxy encodes a certificate: as RFC 9440 specifies, or as nginx's `$ssl_client_escaped_cert`. */
export type ProxyCertificateFormat = (typeof proxyCertificateFormats)[number];

export interface ProxySettings {
  readonly port: number;
  readonly host: string;
  readonly format: ProxyCertificateFormat;
  readonly trusted: readonly string[];
}

export interface CertificateListeners {
  readonly mtls: MtlsSettings | undefined;
  readonly certificateProxy: ProxySettings | undefined;
  /** The base URL of the endpoints that request a certificate; undefined: that of all others. */
  readonly mtlsBaseUrl: string | undefined;
}

/** What discovery publishes of them; undefined without a listener for certificates. */
export const certificateUse = ({ mtls, certificateProxy, mtlsBaseUrl }: CertificateListeners) =>
  mtls || certificateProxy ? { baseUrl: mtlsBaseUrl } : undefined;

export interface BaseSettings {
  readonly host: string;
  readonly port: number;
  readonly baseUrl: string;
  readonly trustedProxies: readonly string[];
}

const MTLS = ["SIGNET_MTLS_PORT", "SIGNET_MTLS_CERT_FILE", "SIGNET_MTLS_KEY_FILE"] as const;
const LOOPBACK = ["127.0.0.0/8", "::1"];

export function certificateListeners(env: Env, base: BaseSettings, faults: string[]): CertificateListeners {
  const mtls = mtlsSettings(env, base, faults);
  const certificateProxy = proxySettings(env, base, faults);
  const ports = [
    base.port,
    ...(mtls ? [mtls.port] : []),
    ...(certificateProxy ? [certificateProxy.port] : []),
  ];
  if (new Set(ports).size < ports.length)
    faults.push("PORT, SIGNET_MTLS_PORT and SIGNET_PROXY_PORT must differ");
  return { mtls, certificateProxy, mtlsBaseUrl: mtlsBaseUrl(env, base, mtls, faults) };
}

function mtlsSettings(env: Env, { host }: BaseSettings, faults: string[]): MtlsSettings | undefined {
  const missing = MTLS.filter((name) => text(env, name) === undefined);
  if (missing.length === MTLS.length) return undefined;
  if (missing.length > 0)
    faults.push(`${missing.join(" and ")} must be set with the other settings of SIGNET_MTLS_…`);
  return {
    port: wholeNumber(env, "SIGNET_MTLS_PORT", { fallback: 8443, min: 1, max: 65_535 }, faults),
    host: text(env, "SIGNET_MTLS_HOST") ?? host,
    certificateFile: path(env, "SIGNET_MTLS_CERT_FILE") ?? "",
    keyFile: path(env, "SIGNET_MTLS_KEY_FILE") ?? "",
  };
}

function proxySettings(
  env: Env,
  { trustedProxies }: BaseSettings,
  faults: string[],
): ProxySettings | undefined {
  const named = text(env, "SIGNET_PROXY_CERT_FORMAT") ?? "rfc9440";
  const format = proxyCertificateFormats.find((one) => one === named);
  if (!format) faults.push(`SIGNET_PROXY_CERT_FORMAT must be ${proxyCertificateFormats.join(" or ")}`);
  if (text(env, "SIGNET_PROXY_PORT") === undefined) return undefined;
  const host = text(env, "SIGNET_PROXY_HOST") ?? "127.0.0.1";
  const isLocal = ["localhost", "127.0.0.1", "::1"].includes(host);
  // Whoever reaches that port can present any certificate, and so impersonate any device.
  if (!isLocal && trustedProxies.length === 0)
    faults.push("TRUSTED_PROXIES must name the proxies when SIGNET_PROXY_HOST is not this machine alone");
  return {
    port: wholeNumber(env, "SIGNET_PROXY_PORT", { fallback: 8081, min: 1, max: 65_535 }, faults),
    host,
    format: format ?? "rfc9440",
    trusted: isLocal ? [...LOOPBACK, ...trustedProxies] : trustedProxies,
  };
}

function mtlsBaseUrl(
  env: Env,
  { baseUrl }: BaseSettings,
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
