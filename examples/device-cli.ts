/**
 * A command line that signs a person in by the device grant (RFC 8628): it shows a code and an address, and waits until
 * the person has allowed it in a browser, on a phone for example.
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
  // A public client: a program that everybody can read has no secret.
  applicationId: demo.nativeApp.clientId,
  oauthScopes: "openid profile offline_access",
} as const;

async function onPrompt({ verificationUri, verificationUriComplete, userCode }: DevicePrompt) {
  const link = verificationUriComplete ?? verificationUri;
  console.log(await QRCode.toString(link, { type: "terminal", small: true }));
  console.log(`Scan this, or open  ${verificationUri}`);
  console.log(`and enter the code  ${userCode}`);
  console.log("Waiting until you allow it there …");
}

try {
  // Polls as often as the server wants, and less often when it says slow_down. The ID token is verified.
  const tokens = await deviceGrant(configuration, { onPrompt });
  // Renews the access token when it is about to end, for as long as the program runs.
  const api = refreshingTokens(configuration, tokens);
  const person = (await (await api.fetch(`${demo.issuer}/userinfo`)).json()) as { name: string };
  console.log(`Signed in as ${person.name}`);
} catch (error) {
  if (!(error instanceof SignetError)) throw error;
  // access_denied: the person said no. expired_token: nobody answered within a quarter of an hour.
  console.error(`Not signed in: ${error.oauthError ?? error.message}`);
  process.exitCode = 1;
}
