/** An organisation, and one elsewhere, whose devices call the token endpoint with their certificates over real TLS. */

import type { ClientType } from "@signet/protocol/redirect-uri";
import {
  type Application,
  type ApplicationSettings,
  deviceCodeGrantType,
} from "../core/applications/application.ts";
import { createApplication } from "../core/applications/applications.ts";
import type { EnrolledDevice } from "./enrolled-device.ts";
import { enrolledDevice } from "./enrolled-device.ts";
import { type FakeClock, fakeClock } from "./fake-clock.ts";
import type { Answer } from "./test-client.ts";
import { type MtlsClient, mtlsClient, type TestListeners, testListeners } from "./test-listeners.ts";
import {
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "./test-service.ts";

export interface CertificateScene {
  readonly running: TestService;
  readonly listeners: TestListeners;
  readonly clock: FakeClock;
  readonly org: TestOrganisation;
  readonly other: TestOrganisation;
  /** A new device of the organisation, or of another. */
  device(of?: TestOrganisation): Promise<EnrolledDevice>;
  /** A connection that is kept alive, with that certificate or none. */
  client(shown?: Pick<EnrolledDevice, "certificate" | "key">): MtlsClient;
  /** An application without a secret. */
  application(settings: Partial<ApplicationSettings>, clientType?: ClientType): Promise<TestClient>;
  /** A form to an endpoint of the organisation, by a connection or by the ordinary listener's neighbour for proxies. */
  post(by: MtlsClient, endpoint: string, form: Record<string, string>): Promise<Answer>;
  close(): Promise<void>;
}

export async function certificateScene(databaseUrl: string): Promise<CertificateScene> {
  const clock = fakeClock();
  const listeners = await testListeners();
  const running = await startTestService({ databaseUrl, clock, env: listeners.env });
  const { service } = running;
  const org = await makeOrganisation(service);
  const other = await makeOrganisation(service, "Elsewhere");
  const clients: MtlsClient[] = [];
  return {
    ...{ running, listeners, clock, org, other },
    device: (of = org) => enrolledDevice(service, of.organisation.id),
    client: (shown) => {
      const made = mtlsClient(listeners, shown);
      clients.push(made);
      return made;
    },
    application: async (settings, clientType = "confidential") => {
      const made = { orgId: org.organisation.id, name: "Meters", clientType, settings, actor: "test" };
      return { application: await createApplication(service, made), secret: "" };
    },
    post: (by, endpoint, form) => by.post(`/oauth/${org.organisation.id}/${endpoint}`, form),
    close: async () => {
      for (const one of clients) one.close();
      await running.close();
      await listeners.remove();
    },
  };
}

/** A client whose devices speak for themselves. */
export const serviceSettings = {
  tokenEndpointAuthMethod: "tls_client_auth",
  grantTypes: ["client_credentials"],
  allowedScopes: ["readings:write"],
} as const satisfies Partial<ApplicationSettings>;

/** A client that people sign in to on a device. */
export const signInSettings = {
  redirectUris: [REDIRECT_URI],
  grantTypes: ["authorization_code", "refresh_token", deviceCodeGrantType],
} as const satisfies Partial<ApplicationSettings>;

export const clientCredentials = ({ id }: Application) => ({
  grant_type: "client_credentials",
  client_id: id,
});
