/** The part of a configuration that clients of the service's APIs use. */
import { isUuid, withVariables } from "../configuration/properties.ts";
import type { ConfigurationProperties } from "../configuration/settings.ts";
import { configurationError } from "../errors.ts";
import { isAllowedUrl } from "../provider/http.ts";

/** A filter's configuration works as well. */
export type ServiceConfiguration = Pick<
  ConfigurationProperties,
  "federationServer" | "environment" | "systemAccountPublicKey" | "systemAccountSecretKey"
>;

export type ServiceSettings = ReturnType<typeof serviceSettings>;

/** @throws SignetError `configuration`, with every problem in `reasons` */
export function serviceSettings(
  configuration: ServiceConfiguration,
  { isSigned }: { readonly isSigned: boolean },
) {
  const { environment = "production", systemAccountSecretKey: secretKey } = configuration;
  const federationServer = configuration.federationServer?.replace(/\/$/, "") ?? "";
  const publicKey = configuration.systemAccountPublicKey?.toLowerCase();
  const needsKeys = publicKey !== undefined || secretKey !== undefined || isSigned;
  const reasons: string[] = [];
  if (!isAllowedUrl(federationServer, environment))
    reasons.push(
      "federationServer must be an https URL (http is allowed for localhost, or outside production).",
    );
  if (needsKeys && !isUuid(publicKey ?? ""))
    reasons.push("systemAccountPublicKey must be the public key of a system account, a UUID.");
  if (needsKeys && !secretKey)
    reasons.push("systemAccountSecretKey must be the system account's secret key.");
  if (reasons.length > 0) throw configurationError(...reasons.map(withVariables));
  const systemAccount =
    publicKey === undefined || secretKey === undefined ? undefined : { publicKey, secretKey };
  return { federationServer, environment, systemAccount };
}
