/**
 * A command line that signs a person in by the device grant (RFC 8628): it shows a code and an address, and waits until
 * the person has allowed it in a browser, on a phone for example.
 *
 *   npm start                      # in one terminal: the server, with its demo applications
 *   npx node examples/device-cli.ts [data/demo.json]
 */
import { readFile } from "node:fs/promises";
import * as oidc from "openid-client";
import QRCode from "qrcode";

interface Demo {
  readonly issuer: string;
  readonly nativeApp: { readonly clientId: string };
}

const [demoFile = "data/demo.json"] = process.argv.slice(2);
const { issuer, nativeApp } = JSON.parse(await readFile(demoFile, "utf8")) as Demo;

// A public client has no secret. Plain http is for the demo on this machine only.
const config = await oidc.discovery(new URL(issuer), nativeApp.clientId, undefined, oidc.None(), {
  execute: [oidc.allowInsecureRequests],
});
const device = await oidc.initiateDeviceAuthorization(config, { scope: "openid profile offline_access" });

const complete = device.verification_uri_complete ?? device.verification_uri;
console.log(await QRCode.toString(complete, { type: "terminal", small: true }));
console.log(`Scan this, or open  ${device.verification_uri}`);
console.log(`and enter the code  ${device.user_code}`);
console.log("Waiting until you allow it there …");

try {
  // Waits between two polls as long as the server wants, and longer when it says slow_down.
  const tokens = await oidc.pollDeviceAuthorizationGrant(config, device);
  const claims = tokens.claims();
  if (!claims) throw new Error("the answer holds no ID token");
  const person = await oidc.fetchUserInfo(config, tokens.access_token, claims.sub);
  console.log(`Signed in as ${person.name}`);
} catch (error) {
  if (!(error instanceof oidc.ResponseBodyError)) throw error;
  // access_denied: the person said no. expired_token: nobody answered within a quarter of an hour.
  console.error(`Not signed in: ${error.error}`);
  process.exitCode = 1;
}
