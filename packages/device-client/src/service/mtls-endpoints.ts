/** The endpoints that ask for a certificate: the aliases of RFC 8705 §5. */
import { isServiceAddress } from "@signet/protocol/service-address";
import { type DeviceService, issuerUrl, type ServiceAddress } from "./device-service.ts";

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
