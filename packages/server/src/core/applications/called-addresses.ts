/** URLs that a client registers for Signet to call (`jwks_uri`, back-channel logout), and its inline keys. */
import { addressRules } from "../outbound/address-rules.ts";
import type { ApplicationSettings } from "./application.ts";
import { clientJwksFaults } from "./client-jwks.ts";

interface Fault {
  readonly path: string;
  readonly message: string;
}

/** OpenID Connect Registration §2: `jwks` and `jwks_uri` are exclusive; private_key_jwt needs one. */
export function clientKeyFaults({ jwks, jwksUri, tokenEndpointAuthMethod }: ApplicationSettings): Fault[] {
  const faults = jwks === undefined ? [] : clientJwksFaults(jwks).map(prefixed("jwks"));
  if (jwks !== undefined && jwksUri !== undefined)
    faults.push({ path: "jwksUri", message: "jwks and jwksUri are mutually exclusive" });
  if (tokenEndpointAuthMethod === "private_key_jwt" && jwks === undefined && jwksUri === undefined)
    faults.push({ path: "jwks", message: "private_key_jwt needs public keys: jwks or jwksUri" });
  return faults;
}

const prefixed =
  (member: string) =>
  ({ path, message }: Fault): Fault => ({ path: `${member}.${path}`, message });

/** The host's address is checked at each call (core/outbound). */
export function calledAddressFaults(settings: ApplicationSettings): Fault[] {
  return (["jwksUri", "backchannelLogoutUri"] as const).flatMap((path) => {
    const uri = settings[path];
    return uri === undefined || isCallable(uri)
      ? []
      : [{ path, message: "must be an https URL without credentials and fragment" }];
  });
}

function isCallable(uri: string): boolean {
  const url = URL.parse(uri);
  // OpenID Connect Back-Channel Logout §2.2: no fragment.
  if (!url || uri.length > 2_048 || uri.includes("#") || url.username || url.password) return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname));
}

const { isLoopback } = addressRules([]);

/** http for local development only; whether loopback may be called is the operator's setting. */
const isLoopbackHost = (host: string): boolean =>
  host === "localhost" || isLoopback(host.replace(/^\[(.*)\]$/, "$1"));
