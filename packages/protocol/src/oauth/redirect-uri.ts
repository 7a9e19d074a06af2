/** Redirect URIs: what may be registered, and exact comparison (RFC 9700 §4.1, RFC 8252 §7.3). */
export type ClientType = "confidential" | "public" | "native" | "spa";

const maxLength = 2048;
const hostName = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/;
const ipv6Literal = /^\[[0-9a-f:]+\]$/;
const loopbackHosts: readonly string[] = ["127.0.0.1", "[::1]", "localhost"];
const loopbackUri = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost))(?::([1-9][0-9]{0,4}))?([/?].*)?$/;
const userinfo = /^[^/?]*(?:\/\/)?[^/?]*@/;

// Every spelling that some parser treats as "." or "..": escaped, with a path parameter, after an escaped slash.
const dotSegment = /(?:\/|%2f|%5c)(?:\.|%2e){1,2}(?:;[^/]*)?(?:\/|%2f|%5c|$)/i;

export interface RedirectUriFault {
  readonly code:
    | "tooLong"
    | "printable"
    | "backslash"
    | "wildcard"
    | "fragment"
    | "absolute"
    | "userinfo"
    | "dotSegments"
    | "host"
    | "https"
    | "privateUse"
    | "slash"
    | "normalForm";
  /** The end of a sentence for an administrator. */
  readonly message: string;
}

const fault = (code: RedirectUriFault["code"], message: string): RedirectUriFault => ({ code, message });

/**
 * Why a client of this type may not register the URI; undefined if it may. An allowlist: https, http
 * on the loopback interface (RFC 8252 §7.3), and private-use schemes of native clients (§7.1).
 */
export function checkRegistrableRedirectUri(
  uri: string,
  clientType: ClientType,
): RedirectUriFault | undefined {
  if (uri.length > maxLength) return fault("tooLong", `must not be longer than ${maxLength} characters`);
  if (/[^\x21-\x7e]/.test(uri)) return fault("printable", "must be printable ASCII without spaces");
  if (uri.includes("\\")) return fault("backslash", "must not hold a backslash");
  if (uri.includes("*")) return fault("wildcard", "must not hold a wildcard");
  if (uri.includes("#")) return fault("fragment", "must not have a fragment"); // RFC 6749 §3.1.2
  const url = URL.parse(uri);
  if (!url) return fault("absolute", "must be an absolute URI");
  if (userinfo.test(uri)) return fault("userinfo", "must not hold a user name or password");
  if (dotSegment.test(uri.replace(/\?.*/, ""))) return fault("dotSegments", "must not hold dot segments");
  return checkScheme(url, clientType) ?? checkNormalForm(uri, url);
}

function checkScheme(url: URL, clientType: ClientType): RedirectUriFault | undefined {
  if (url.protocol === "https:" || url.protocol === "http:") {
    if (!hostName.test(url.hostname) && !ipv6Literal.test(url.hostname))
      return fault("host", "must have a plain host name");
    if (url.protocol === "https:" || loopbackHosts.includes(url.hostname)) return undefined;
    return fault("https", "must be https; http is for the loopback interface only");
  }
  // RFC 8252 §7.1: the reverse of a domain name that the client's owner controls, hence the dot.
  if (!url.protocol.includes(".")) return fault("https", "must be https");
  if (clientType !== "native")
    return fault("privateUse", "may use a private-use scheme only for a native client");
  return url.pathname.startsWith("/") || url.host
    ? undefined
    : fault("slash", "must have a slash after its scheme");
}

/** Compared byte by byte, so what browsers rewrite is refused: upper case, default ports, odd forms of IP addresses. */
function checkNormalForm(uri: string, url: URL): RedirectUriFault | undefined {
  const isNormal = uri === url.href || uri === url.origin || uri === `${url.origin}${url.search}`;
  return isNormal ? undefined : fault("normalForm", `must be written in its normal form, ${url.href}`);
}

/**
 * Whether it is a registered redirect URI, byte for byte (RFC 9700 §2.1). Of native clients only, the port of an http loopback
 * URI may differ: they learn it at run time (RFC 8252 §7.3).
 */
export function matchRedirectUri(
  requested: string,
  registered: readonly string[],
  clientType: ClientType,
): boolean {
  if (registered.includes(requested)) return true;
  if (clientType !== "native") return false;
  const portless = withoutLoopbackPort(requested);
  return portless !== undefined && registered.some((uri) => withoutLoopbackPort(uri) === portless);
}

/** A redirect that does not leave the machine (RFC 8252 §7.3). */
export const isLoopbackUri = (uri: string): boolean => loopbackUri.test(uri);

function withoutLoopbackPort(uri: string): string | undefined {
  const match = loopbackUri.exec(uri);
  if (!match || Number(match[2] ?? 80) > 65_535) return undefined;
  return `${match[1]}${match[3] ?? ""}`;
}
