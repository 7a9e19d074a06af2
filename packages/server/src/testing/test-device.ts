/** A device of a test (RFC 8628), and the person who lets it in on the pages of the organisation. */
import {
  type Application,
  type ApplicationSettings,
  deviceCodeGrantType,
} from "../core/applications/application.ts";
import { createApplication } from "../core/applications/applications.ts";
import type { Service } from "../open-service.ts";
import type { TestBrowser, TestPage } from "./test-browser.ts";
import { type Answer, postForm } from "./test-client.ts";
import type { TestOrganisation } from "./test-service.ts";
import { follow, logIn, showsLogin } from "./test-visit.ts";

export interface WaitingCodes {
  readonly application: Application;
  readonly deviceCode: string;
  readonly userCode: string;
  readonly body: Record<string, unknown>;
}

/** A public application for televisions and command lines. */
export function makeDeviceApp(
  service: Service,
  org: TestOrganisation,
  settings: Partial<ApplicationSettings> = {},
): Promise<Application> {
  return createApplication(service, {
    orgId: org.organisation.id,
    name: "Television",
    clientType: "native",
    settings: { grantTypes: [deviceCodeGrantType, "refresh_token"], ...settings },
    actor: "test",
  });
}

export async function askForCodes(
  org: TestOrganisation,
  application: Application,
  more: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<WaitingCodes> {
  const form = { client_id: application.id, scope: "openid profile email", ...more };
  const { status, body } = await postForm(`${org.issuer}/device`, form, headers);
  if (status !== 200) throw new Error(`no device code: ${status} ${JSON.stringify(body)}`);
  return {
    application,
    deviceCode: String(body["device_code"]),
    userCode: String(body["user_code"]),
    body,
  };
}

export function poll(
  org: TestOrganisation,
  { application, deviceCode }: Pick<WaitingCodes, "application" | "deviceCode">,
  more: Record<string, string> = {},
): Promise<Answer> {
  return postForm(`${org.issuer}/token`, {
    grant_type: deviceCodeGrantType,
    device_code: deviceCode,
    client_id: application.id,
    ...more,
  });
}

/** The page for the code, signed in first where nobody is. */
export async function openVerify(
  browser: TestBrowser,
  org: TestOrganisation,
  userCode?: string,
): Promise<TestPage> {
  const query = userCode === undefined ? "" : `?user_code=${encodeURIComponent(userCode)}`;
  const page = await follow(browser, await browser.get(`${org.issuer}/device/verify${query}`));
  return showsLogin(page) ? logIn(browser, org, page) : page;
}

export function typeCode(
  browser: TestBrowser,
  org: TestOrganisation,
  page: TestPage,
  userCode: string,
): Promise<TestPage> {
  return browser.post(`${org.issuer}/device/verify`, { ...page.hidden, user_code: userCode });
}

/** Presses a button of the page that asks. */
export function answerQuestion(
  browser: TestBrowser,
  org: TestOrganisation,
  question: TestPage,
  decision: "allow" | "deny" = "allow",
): Promise<TestPage> {
  return browser.post(`${org.issuer}/device/verify`, { ...question.hidden, decision });
}

/** From the code to the answer. */
export async function letIn(
  browser: TestBrowser,
  org: TestOrganisation,
  { userCode }: Pick<WaitingCodes, "userCode">,
  decision: "allow" | "deny" = "allow",
): Promise<TestPage> {
  const question = await typeCode(browser, org, await openVerify(browser, org), userCode);
  if (!showsQuestion(question))
    throw new Error(`no question: ${question.status} ${question.body.slice(0, 2_000)}`);
  return answerQuestion(browser, org, question, decision);
}

export const showsCodeForm = ({ body }: TestPage): boolean => body.includes('id="verify-submit"');
export const showsQuestion = ({ body }: TestPage): boolean => body.includes('id="device-allow"');
export const showsDone = ({ body }: TestPage): boolean => body.includes('id="device-done"');
