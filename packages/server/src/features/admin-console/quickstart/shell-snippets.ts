/** The same with curl: lines for a shell that has read `.env`. */
import type { SnippetSource } from "./snippet-source.ts";

export interface ShellSnippet {
  readonly id: "discovery" | "token" | "authorize" | "device";
  readonly lines: string;
}

export function shellSnippets(source: SnippetSource): ShellSnippet[] {
  const discovery = {
    id: "discovery",
    lines: `curl -s ${source.issuer}/.well-known/openid-configuration`,
  } as const;
  switch (source.kind) {
    case "legacy":
      return [];
    case "service":
      return [discovery, { id: "token", lines: ownToken(source) }];
    case "device":
      return [discovery, { id: "device", lines: byDevice(source) }];
    default:
      return [discovery, { id: "authorize", lines: byBrowser(source) }];
  }
}

const ownToken = ({ issuer, scopes }: SnippetSource): string => `. ./.env
curl -s ${issuer}/token \\
  -d grant_type=client_credentials \\
  -d client_id="$SIGNET_APPLICATION_ID" \\
  -d client_secret="$SIGNET_OAUTH_CLIENT_SECRET"${
    scopes.length === 0
      ? ""
      : ` \\
  --data-urlencode scope="$SIGNET_OAUTH_SCOPES"`
  }`;

const byDevice = ({ issuer }: SnippetSource): string => `. ./.env
# 1. The device asks for its codes. Open the verification_uri that comes back, and enter the user_code.
curl -s ${issuer}/device \\
  -d client_id="$SIGNET_APPLICATION_ID" \\
  --data-urlencode scope="$SIGNET_OAUTH_SCOPES"
# 2. With the device_code, every five seconds until the tokens come:
printf 'device_code: '; read -r DEVICE_CODE
curl -s ${issuer}/token \\
  -d grant_type=urn:ietf:params:oauth:grant-type:device_code \\
  -d client_id="$SIGNET_APPLICATION_ID" \\
  -d device_code="$DEVICE_CODE"`;

function byBrowser({ issuer, clientId, callback, scopes, hasSecret }: SnippetSource): string {
  const { redirectUri } = callback;
  const query = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopes.join(" "),
    code_challenge_method: "S256",
  });
  return `. ./.env
VERIFIER=$(openssl rand -base64 32 | tr '+/' '-_' | tr -d =)
CHALLENGE=$(printf %s "$VERIFIER" | openssl dgst -sha256 -binary | openssl base64 | tr '+/' '-_' | tr -d =)
echo "Open: ${issuer}/authorize?${query}&code_challenge=$CHALLENGE"
# After the sign-in the address bar holds the code, also where nothing answers yet.
printf 'code: '; read -r CODE
curl -s ${issuer}/token \\
  -d grant_type=authorization_code \\
  -d client_id="$SIGNET_APPLICATION_ID" \\${
    hasSecret
      ? `
  -d client_secret="$SIGNET_OAUTH_CLIENT_SECRET" \\`
      : ""
  }
  --data-urlencode redirect_uri='${redirectUri.replaceAll("'", "%27")}' \\
  -d code="$CODE" \\
  -d code_verifier="$VERIFIER"`;
}
