/** Who the application is, and the secrets it holds. */
import { base64url } from "jose";
import type { Fault } from "./configuration-fault.ts";
import type { FilterType } from "./filter.ts";

interface CredentialProperties {
  readonly filterType: FilterType;
  readonly federationServer?: string;
  readonly issuer?: string;
  readonly applicationId?: string;
  readonly oauthClientId?: string;
  readonly oauthClientSecret?: string;
  readonly cookieSecrets?: readonly string[];
  readonly systemAccountPublicKey?: string;
  readonly systemAccountSecretKey?: string;
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export function checkedCredentials(configuration: CredentialProperties, fault: Fault) {
  const { oauthClientSecret: clientSecret, cookieSecrets = [] } = configuration;
  checkCookieSecrets(configuration, fault);
  const systemAccount = checkedSystemAccount(configuration, fault);
  return {
    ...checkedClient(configuration, fault),
    ...(clientSecret === undefined ? {} : { clientSecret }),
    cookieSecrets,
    ...(systemAccount === undefined ? {} : { systemAccount }),
  };
}

function checkedClient(configuration: CredentialProperties, fault: Fault) {
  const { filterType, federationServer, issuer } = configuration;
  // Signet's ids are UUIDs and lower case in tokens; those of other providers stay as they are.
  const idOf = (id: string | undefined) => (federationServer === undefined ? id : id?.toLowerCase());
  const applicationId = idOf(configuration.applicationId);
  const clientId = idOf(configuration.oauthClientId) ?? applicationId;
  if (filterType !== "None" && federationServer !== undefined) {
    if (applicationId === undefined) fault("applicationId is missing: it is the application's PublicId.");
    else if (!uuid.test(applicationId)) fault("applicationId must be the application's PublicId, a UUID.");
    else if (clientId !== applicationId) fault("oauthClientId equals applicationId: leave it out.");
  }
  if (filterType === "OAuthFederated" && issuer !== undefined && clientId === undefined)
    fault("OAuthFederated with issuer needs oauthClientId.");
  return {
    ...(applicationId === undefined ? {} : { applicationId }),
    ...(clientId === undefined ? {} : { clientId }),
  };
}

function checkCookieSecrets({ filterType, cookieSecrets }: CredentialProperties, fault: Fault): void {
  const isNeeded = filterType === "OAuthFederated" || filterType === "UserFederated";
  if (isNeeded && cookieSecrets === undefined) fault(`${filterType} needs cookieSecrets, at least one.`);
  // A list that is there but empty is an accident: of a variable that was not set, or of the last secret being taken out.
  if (cookieSecrets?.length === 0) fault("cookieSecrets is empty.");
  for (const [index, secret] of (cookieSecrets ?? []).entries()) {
    if (!isRandom(secret))
      fault(
        `cookieSecrets[${index}] must be 32 random bytes or more, in base64url without padding: ` +
          "openssl rand -base64 32 | tr '+/' '-_' | tr -d = makes one.",
      );
  }
}

/** Long enough, and not one of the placeholders that examples have: random bytes are nearly all different. */
function isRandom(secret: string): boolean {
  // No bytes are written with one character more than a multiple of four.
  if (!/^[A-Za-z0-9_-]{43,}$/.test(secret) || secret.length % 4 === 1) return false;
  return new Set(base64url.decode(secret)).size >= 16;
}

function checkedSystemAccount(
  { systemAccountPublicKey: publicKey, systemAccountSecretKey: secretKey }: CredentialProperties,
  fault: Fault,
): { publicKey: string; secretKey: string } | undefined {
  if (publicKey === undefined && secretKey === undefined) return undefined;
  if (publicKey === undefined || secretKey === undefined) {
    fault("systemAccountPublicKey and systemAccountSecretKey belong together: give both.");
    return undefined;
  }
  if (!uuid.test(publicKey)) fault("systemAccountPublicKey must be a UUID: the secret key is the other one.");
  return { publicKey, secretKey };
}
