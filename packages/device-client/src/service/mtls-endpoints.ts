/** Where the service asks for certificates: the aliases of RFC 8705 §5. */
import { isServiceAddress } from "@signet/protocol/service-address";
import { type DeviceService, issuerOf, type ServicePlace } from "./device-service.ts";

export interface MtlsEndpoints {
  readonly token: string;
  readonly renew: string;
}

/** @throws Error when the service has none, or its metadata is another's */
export async function mtlsEndpoints(
  service: Pick<DeviceService, "metadata">,
  place: ServicePlace,
): Promise<MtlsEndpoints> {
  const metadata = await service.metadata();
  // RFC 8414 §3.3: what another issuer says does not count.
  if (metadata["issuer"] !== issuerOf(place))
    throw new Error(`the service calls itself ${JSON.stringify(metadata["issuer"])}, not ${issuerOf(place)}`);
  const aliases = metadata["mtls_endpoint_aliases"] as Readonly<Record<string, unknown>> | undefined;
  const token = aliases?.["token_endpoint"] ?? metadata["token_endpoint"];
  if (typeof token !== "string" || !token.startsWith("https:") || !isServiceAddress(token))
    throw new Error("the service has no address where a device can show its certificate (SIGNET_MTLS_PORT)");
  // Beside the token endpoint: the metadata of RFC 8705 names those of OAuth alone.
  return { token, renew: token.replace(/\/token$/, "/devices/renew") };
}
