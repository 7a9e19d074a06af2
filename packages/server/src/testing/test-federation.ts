/** An application of the legacy federation, and a browser's way to it. */
import type { Application, ApplicationSettings } from "../core/applications/application.ts";
import type { Service } from "../open-service.ts";
import type { TestBrowser, TestPage } from "./test-browser.ts";
import { makeClient, type TestOrganisation } from "./test-service.ts";
import { follow } from "./test-visit.ts";

export const RETURN_URL = "https://portal.example/app";

export async function makeFederatedApp(
  service: Service,
  org: TestOrganisation,
  settings: Partial<ApplicationSettings> = {},
): Promise<Application> {
  const { application } = await makeClient(service, org.organisation, {
    returnUrls: [RETURN_URL],
    homepageUri: "https://portal.example/",
    ...settings,
  });
  return application;
}

export function loginAddress(
  { service }: { readonly service: Service },
  application: Pick<Application, "id">,
  more: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams({ appId: application.id, returnUrl: RETURN_URL, ...more });
  return `${service.config.baseUrl}/federation/Login?${query}`;
}

/** To a page, or to the address outside that it ends at. */
export async function federate(
  browser: TestBrowser,
  running: { readonly service: Service },
  application: Pick<Application, "id">,
  more: Readonly<Record<string, string>> = {},
): Promise<TestPage> {
  return follow(browser, await browser.get(loginAddress(running, application, more)));
}

/** The key that the browser was sent back with. @throws when it was not sent anywhere */
export function keyOf({ location, status, body }: TestPage): string | null {
  if (location === undefined) throw new Error(`not sent anywhere: ${status} ${body.slice(0, 1_000)}`);
  return new URL(location).searchParams.get("service_key");
}
