/**
 * A command line that signs a user in with the device grant (RFC 8628): it shows a code and a URL, and waits until the user
 * has allowed it in a browser, for example on a phone.
 *
 *   npm start                        # in one terminal: the server, with its demo applications
 *   npx node examples/device-cli.ts  # in another
 */
import { type DevicePrompt, deviceGrant, refreshingTokens, SignetError } from "@signet/client-sdk";
import QRCode from "qrcode";
import { readDemo } from "./shared/demo.ts";

const demo = await readDemo();
const configuration = {
  federationServer: demo.baseUrl,
  oauthOrganisationId: demo.org,
  // A public client: a distributed program can't keep a secret.
  applicationId: demo.nativeApp.clientId,
  oauthScopes: "openid profile offline_access",
} as const;

async function onPrompt({ verificationUri, verificationUriComplete, userCode }: DevicePrompt) {
  const link = verificationUriComplete ?? verificationUri;
  console.log(await QRCode.toString(link, { type: "terminal", small: true }));
  console.log(`Scan this, or open  ${verificationUri}`);
  console.log(`and enter the code  ${userCode}`);
  console.log("Waiting for you to allow it there …");
}

try {
  // Polls at the server's interval, and more slowly on slow_down. The ID token is verified.
  const tokens = await deviceGrant(configuration, { onPrompt });
  // Refreshes the access token while the program runs.
  const api = refreshingTokens(configuration, tokens);
  const user = (await (await api.fetch(`${demo.issuer}/userinfo`)).json()) as { name: string };
  console.log(`Signed in as ${user.name}`);
} catch (error) {
  if (!(error instanceof SignetError)) throw error;
  // access_denied: the user declined. expired_token: no response within 15 minutes.
  console.error(`Not signed in: ${error.oauthError ?? error.message}`);
  process.exitCode = 1;
}
