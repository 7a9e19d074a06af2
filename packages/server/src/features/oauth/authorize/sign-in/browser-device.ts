/** The machine that a browser runs on, as far as the browser proves it: see core/devices/revoke-device.ts. */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { presentedDevice } from "../../../../core/devices/presented-device.ts";
import { DEVICE_REVOKED } from "../../../../core/sessions/sessions.ts";
import { clientCertificate } from "../../../../http/listeners/client-certificate.ts";
import type { BrowserDeps, Visit } from "../browser.ts";

/**
 * The machine that the browser proves to be on, by the device's certificate in its TLS connection: the session ends with it.
 * Any other certificate says nothing about the browser.
 * @throws OAuthError access_denied for a revoked one
 */
export async function deviceOfBrowser(
  deps: BrowserDeps,
  { organisation, request }: Visit,
): Promise<string | undefined> {
  const der = clientCertificate(request);
  if (!der) return undefined;
  const presented = await presentedDevice(deps, organisation.id, der);
  if (presented.kind === "good") return presented.device.id;
  if (presented.reason !== "revoked") return undefined;
  throw new OAuthError("access_denied", DEVICE_REVOKED, { status: 403, cause: "the certificate is revoked" });
}
