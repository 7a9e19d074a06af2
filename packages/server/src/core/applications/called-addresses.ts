/** What a client registers for us to call (`jwks_uri`, back-channel logout), and its inline keys. */
import { addressRules } from "../outbound/address-rules.ts";
import type { ApplicationSettings } from "./application.ts";
import { clientJwksFaults } from "./client-jwks.ts";

interface Fault {
  readonly path: string;
  readonly message: string;
}

/** OpenID Connect Registration §2: `jwks` and `jwks_uri` are not used together; private_key_jwt needs one. */
export function clientKeyFaults({ jwks, jwksUri, tokenEndpointAuthMethod }: ApplicationSettings): Fault[] {
  const faults = jwks === undefined ? [] : clientJwksFaults(jwks).map(prefixed("jwks"));
  if (jwks !== undefined && jwksUri !== undefined)
    faults.push({ path: "jwksUri", message: "give jwks or jwksUri, not both" });
  if (tokenEndpointAuthMethod === "private_key_jwt" && jwks === undefined && jwksUri === undefined)
    faults.push({ path: "jwks", message: "private_key_jwt needs public keys: jwks or jwksUri" });
  return faults;
}

const prefixed =
  (member: string) =>
  ({ path, message }: Fault): Fault => ({ path: `${member}.${path}`, message });

/** Where the host may be is decided at each call, by the address that it then has (core/outbound). */
export function calledAddressFaults(settings: ApplicationSettings): Fault[] {
  return (["jwksUri", "backchannelLogoutUri"] as const).flatMap((path) => {
    const uri = settings[path];
    return uri === undefined || isCallable(uri)
      ? []
      : [{ path, message: "must be an https address without credentials and fragment" }];
  });
}

function isCallable(uri: string): boolean {
  const url = URL.parse(uri);
  // OpenID Connect Back-Channel Logout §2.2: no fragment.
  if (!url || uri.length > 2_048 || uri.includes("#") || url.username || url.password) return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url.hostname));
}

const { isLoopback } = addressRules([]);

/** http is for the developer's own machine; whether even that may be called is the operator's word. */
const isLoopbackHost = (host: string): boolean =>
  host === "localhost" || isLoopback(host.replace(/^\[(.*)\]$/, "$1"));
