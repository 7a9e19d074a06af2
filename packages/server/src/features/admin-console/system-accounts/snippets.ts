/** Code that calls with a system account; the secret key comes from the environment. */
import type { SystemAccount } from "../../../core/system-accounts/system-account.ts";

type Caller = Pick<SystemAccount, "isAdministrator"> & { readonly publicKey: string };

/** The two keys as lines of an environment file. */
export const environmentLines = (key: { publicKey: string; secret: string }): string =>
  `SYSTEM_ACCOUNT_PUBLIC_KEY=${key.publicKey}\nSYSTEM_ACCOUNT_SECRET_KEY=${key.secret}\n`;

/** A first call of the management API, or of the legacy API for accounts without administrator rights. */
export function sdkLines(baseUrl: string, { isAdministrator, publicKey }: Caller): string {
  const [client, module] = isAdministrator
    ? ["managementClient", "management"]
    : ["legacyApiClient", "legacy-api"];
  const list = isAdministrator ? "clients" : "applications";
  return `import { ${client} } from "@signet/client-sdk/${module}";

const signet = ${client}({
  federationServer: ${JSON.stringify(baseUrl)},
  systemAccountPublicKey: ${JSON.stringify(publicKey)},
  systemAccountSecretKey: process.env["SYSTEM_ACCOUNT_SECRET_KEY"] ?? "",
});

for await (const application of signet.${list}.list()) console.log(application);
`;
}

/** The same call with the strict signature, which every account may use. */
export function curlLines(baseUrl: string, { isAdministrator, publicKey }: Caller): string {
  const path = isAdministrator ? "/legacy/api/oauth/clients" : "/legacy/api/Organisation/Application/List";
  return `PUBLIC_KEY=${publicKey}
TIMESTAMP=$(date +%s)
NONCE=$(openssl rand -hex 16)
SIGNATURE=$(printf '%s\\n%s\\n%s\\n%s\\n' GET ${path} "$TIMESTAMP" "$NONCE" \\
  | openssl dgst -sha256 -hmac "$SYSTEM_ACCOUNT_SECRET_KEY" -binary | openssl base64 -A)
curl -s "${baseUrl}${path}" \\
  -H "Authorization: $PUBLIC_KEY:$SIGNATURE" \\
  -H "X-Signet-Timestamp: $TIMESTAMP" -H "X-Signet-Nonce: $NONCE"
`;
}
