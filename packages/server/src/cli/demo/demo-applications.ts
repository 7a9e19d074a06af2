/** Creating the demo's applications. */
import type { ClientType } from "@signet/protocol/oauth/redirect-uri";
import type { Application, ApplicationSettings } from "../../core/applications/application.ts";
import { createApplication } from "../../core/applications/applications.ts";
import { createClientSecret } from "../../core/applications/client-secrets.ts";
import type { Service } from "../../modules/open-service.ts";
import { OPERATOR } from "../with-service.ts";
import type { ServiceApp } from "./demo-file.ts";

export function createApp(
  service: Service,
  orgId: string,
  name: string,
  clientType: ClientType,
  settings: Partial<ApplicationSettings>,
): Promise<Application> {
  return createApplication(service, { orgId, name, clientType, settings, actor: OPERATOR });
}

/** A confidential application with a client secret. */
export async function createSecretApp(
  service: Service,
  orgId: string,
  name: string,
  settings: Partial<ApplicationSettings>,
): Promise<ServiceApp> {
  const { id } = await createApp(service, orgId, name, "confidential", settings);
  const secret = { orgId, applicationId: id, label: "demo", expiresAt: null, actor: OPERATOR };
  return { clientId: id, clientSecret: (await createClientSecret(service, secret)).plaintext };
}

/** A machine-to-machine application (client credentials). */
export const createServiceApp = (
  service: Service,
  orgId: string,
  name: string,
  settings: Partial<ApplicationSettings> = {},
): Promise<ServiceApp> =>
  createSecretApp(service, orgId, name, {
    grantTypes: ["client_credentials"],
    allowedScopes: [],
    ...settings,
  });
