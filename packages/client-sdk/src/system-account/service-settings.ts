/** Where the service is, and which system account calls it: what the clients of its APIs need of a configuration. */
import type { SignetConfiguration } from "../configuration.ts";
import { SignetError } from "../errors.ts";
import { isAcceptableAddress } from "../provider/acceptable-address.ts";
import type { SystemAccountKeys } from "./hmac.ts";

/** A whole `SignetConfiguration` is one as well. */
export type ServiceConfiguration = Pick<
  SignetConfiguration,
  "federationServer" | "environment" | "systemAccountPublicKey" | "systemAccountSecretKey"
>;

export interface ServiceSettings {
  /** Without a slash at the end. */
  readonly federationServer: string;
  readonly environment: "production" | "staging" | "development";
  readonly systemAccount: SystemAccountKeys | undefined;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** @throws SignetError `configuration` with every fault in `reasons` */
export function serviceSettings(
  configuration: ServiceConfiguration,
  { isSigned }: { readonly isSigned: boolean },
): ServiceSettings {
  const { environment = "production", systemAccountPublicKey, systemAccountSecretKey } = configuration;
  const federationServer = configuration.federationServer?.replace(/\/$/, "") ?? "";
  const reasons: string[] = [];
  if (!isAcceptableAddress(federationServer, environment))
    reasons.push(
      "federationServer must be an https address (http only for this machine, or outside production).",
    );
  const publicKey = systemAccountPublicKey?.toLowerCase();
  const isThere = publicKey !== undefined || systemAccountSecretKey !== undefined || isSigned;
  if (isThere && !uuid.test(publicKey ?? ""))
    reasons.push("systemAccountPublicKey must be the public key of a system account, a UUID.");
  if (isThere && !systemAccountSecretKey)
    reasons.push("systemAccountSecretKey must be the secret key that belongs to it.");
  if (reasons.length > 0)
    throw new SignetError("configuration", `The configuration cannot work: ${reasons.join(" ")}`, {
      reasons,
    });
  const systemAccount =
    publicKey === undefined || systemAccountSecretKey === undefined
      ? undefined
      : { publicKey, secretKey: systemAccountSecretKey };
  return { federationServer, environment, systemAccount };
}
