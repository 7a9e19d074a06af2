/** Client id, client secret, cookie secrets and the key pair of a system account. */
import { base64url } from "jose";
import { isUuid } from "./properties.ts";
import type { FilterProperties } from "./settings.ts";

export function checkCredentials(configuration: FilterProperties, reasons: string[]) {
  const { oauthClientSecret: clientSecret, cookieSecrets = [] } = configuration;
  checkCookieSecrets(configuration, reasons);
  const systemAccount = checkSystemAccount(configuration, reasons);
  return { ...checkClient(configuration, reasons), clientSecret, cookieSecrets, systemAccount };
}

function checkClient(configuration: FilterProperties, reasons: string[]) {
  const { filterType, federationServer } = configuration;
  // Signet's ids are UUIDs, in lower case in tokens. Other providers' ids are case-sensitive.
  const normalise = (id: string | undefined) => (federationServer === undefined ? id : id?.toLowerCase());
  const applicationId = normalise(configuration.applicationId);
  const clientId = normalise(configuration.oauthClientId) ?? applicationId;
  if (filterType !== "None" && federationServer !== undefined) {
    if (applicationId === undefined) reasons.push("applicationId is missing: the application's PublicId.");
    else if (!isUuid(applicationId))
      reasons.push("applicationId must be the application's PublicId, a UUID.");
    else if (clientId !== applicationId)
      reasons.push("oauthClientId must equal applicationId: leave oauthClientId out.");
  }
  if (filterType === "OAuthFederated" && federationServer === undefined && clientId === undefined)
    reasons.push("OAuthFederated needs oauthClientId, or clientId.");
  return { applicationId, clientId };
}

function checkCookieSecrets({ filterType, cookieSecrets }: FilterProperties, reasons: string[]): void {
  const isRequired = filterType === "OAuthFederated" || filterType === "UserFederated";
  if (isRequired && cookieSecrets === undefined)
    reasons.push(`${filterType} needs cookieSecrets, at least one.`);
  // An empty list is a mistake, such as an unset variable.
  if (cookieSecrets?.length === 0) reasons.push("cookieSecrets is empty.");
  for (const [index, secret] of (cookieSecrets ?? []).entries()) {
    if (!isRandom(secret))
      reasons.push(
        `cookieSecrets[${index}] must be at least 32 random bytes in base64url without padding. Generate one with: ` +
          "openssl rand -base64 32 | tr '+/' '-_' | tr -d =",
      );
  }
}

/** Long enough and not a placeholder: random bytes are nearly all different. */
function isRandom(secret: string): boolean {
  // Base64 never has a length of 4n + 1.
  if (!/^[A-Za-z0-9_-]{43,}$/.test(secret) || secret.length % 4 === 1) return false;
  return new Set(base64url.decode(secret)).size >= 16;
}

function checkSystemAccount(
  { systemAccountPublicKey: publicKey, systemAccountSecretKey: secretKey }: FilterProperties,
  reasons: string[],
) {
  if (publicKey === undefined && secretKey === undefined) return undefined;
  if (publicKey === undefined || secretKey === undefined) {
    reasons.push("systemAccountPublicKey and systemAccountSecretKey must be set together.");
    return undefined;
  }
  if (!isUuid(publicKey))
    reasons.push("systemAccountPublicKey must be a UUID. The secret key goes in systemAccountSecretKey.");
  return { publicKey, secretKey };
}
