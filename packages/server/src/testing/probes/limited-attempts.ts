/** One attempt at everything that is limited, and what came of it. */
import { newEcKey } from "@signet/protocol/testing/test-certificate";
import { authorizationRequest, type TestBrowser, testBrowser } from "../fakes/browser.ts";
import type { SoftPasskey } from "../fakes/soft-passkey.ts";
import { requestAuthentication } from "../fixtures/ciba.ts";
import { postForm, postJson } from "../fixtures/client.ts";
import { csrOf } from "../fixtures/enrolments.ts";
import { passkeyOptions } from "../fixtures/factors.ts";
import type { LimitsWorld } from "../fixtures/limits-world.ts";
import { callScim, type ScimClient } from "../fixtures/scim-connection.ts";
import { callApi, type TestAccount } from "../fixtures/system-account.ts";
import { follow, logIn, visit } from "../fixtures/visit.ts";
import { REDIRECT_URI, type TestClient, type TestOrganisation } from "../test-service.ts";
import { consoleBrowser } from "./console-browser.ts";

/** Let in, not let in, or refused by the named limit. */
export type Outcome = "in" | "wrong" | `refused by ${string}`;

/** @param isIn whether the answer is what the caller wanted */
export function outcomeOf({ status, headers }: { status: number; headers: Headers }, isIn: boolean): Outcome {
  const [, name = "no named limit"] = /^"([^"]+)"/.exec(headers.get("ratelimit-policy") ?? "") ?? [];
  if (status === 429) return `refused by ${name}`;
  return isIn ? "in" : "wrong";
}

export const cameFrom = (network: string) => ({ "x-forwarded-for": network });

/** By password on the sign-in page. */
export async function signIn(
  world: LimitsWorld,
  login: { readonly email: string; readonly password: string },
  network: string,
): Promise<Outcome> {
  const { page } = await afterPassword(world, login, network);
  return outcomeOf(page, !page.body.includes('id="login-submit"'));
}

/** By password and code. */
export async function signInWithCode(
  world: LimitsWorld,
  { user }: TestOrganisation,
  code: string,
  network: string,
): Promise<Outcome> {
  const { browser, page } = await afterPassword(world, user, network);
  if (!page.body.includes('id="twofactor-submit"')) return outcomeOf(page, false);
  const method = /^\d+$/.test(code) ? "totp" : "recovery";
  const form = { ...page.hidden, method, code };
  const answer = await browser.post(`${world.org.issuer}/twofactor`, form, cameFrom(network));
  return outcomeOf(answer, answer.status === 303);
}

async function afterPassword(
  { org }: LimitsWorld,
  { email, password }: { readonly email: string; readonly password: string },
  network: string,
) {
  const browser = testBrowser();
  const { hidden } = await visit(browser, org);
  const form = { ...hidden, email, password };
  const answer = await browser.post(`${org.issuer}/login`, form, cameFrom(network));
  return { browser, page: await follow(browser, answer) };
}

/** By passkey alone. @param passkey none: nonsense */
export async function signInWithPasskey(
  { org }: LimitsWorld,
  passkey: SoftPasskey | undefined,
  network: string,
): Promise<Outcome> {
  const browser = testBrowser();
  const page = await visit(browser, org);
  const { csrf = "", flow = "" } = page.hidden;
  const options = passkeyOptions<Parameters<SoftPasskey["answer"]>[0]>(page);
  const form = { csrf, flow, passkey: passkey?.answer(options) ?? "{" };
  const answer = await browser.post(`${org.issuer}/login`, form, cameFrom(network));
  return outcomeOf(answer, answer.status === 303);
}

/** To an identity provider that cannot be reached: the refusal comes before. */
export async function startUpstream({ org }: LimitsWorld, id: string, network: string): Promise<Outcome> {
  const browser = testBrowser();
  const { hidden } = await visit(browser, org);
  const address = `${org.issuer}/connections/${id}/start?flow=${hidden["flow"] ?? ""}`;
  const page = await browser.get(address, cameFrom(network));
  return outcomeOf(page, page.body.includes('id="connection-error"'));
}

/** A call of an application's backend. */
export async function callBackend(
  { running }: LimitsWorld,
  account: TestAccount,
  path: string,
  body?: unknown,
): Promise<Outcome> {
  const asked = body === undefined ? {} : { body };
  const answer = await callApi(`${running.baseUrl}/legacy/api/${path}`, account, asked);
  return outcomeOf(answer, answer.status < 300);
}

export const backendLogin = (
  world: LimitsWorld,
  account: TestAccount,
  { email, password, code }: { readonly email: string; readonly password: string; readonly code?: string },
): Promise<Outcome> =>
  callBackend(world, account, "Authentication/User/Login", {
    ...{ Email: email, Password: password },
    ...(code === undefined ? {} : { TwoFactorCode: code }),
  });

export const register = (world: LimitsWorld, account: TestAccount, email: string): Promise<Outcome> =>
  callBackend(world, account, "Authentication/User/Register", {
    ...{ Email: email, Password: "plum tractor ninety", Firstname: "A", Surname: "B" },
  });

/** On the page for those who have forgotten their password. */
export async function requestReset({ org }: LimitsWorld, email: string, network: string): Promise<Outcome> {
  const browser = testBrowser();
  const { hidden } = await browser.get(`${org.issuer}/recovery`);
  const answer = await browser.post(`${org.issuer}/recovery`, { ...hidden, email }, cameFrom(network));
  return outcomeOf(answer, answer.status < 400);
}

/** On the sign-in page of an organisation that offers it. */
export async function requestEmailCode(
  org: TestOrganisation,
  browser: TestBrowser,
  email: string,
  network: string,
): Promise<Outcome> {
  const { hidden } = await visit(browser, org, { more: { prompt: "login" } });
  const form = { ...hidden, email, act: "send" };
  const answer = await browser.post(`${org.issuer}/email-code`, form, cameFrom(network));
  return outcomeOf(answer, answer.status < 400);
}

/** A device authorization request. */
export async function requestCodes(
  { org, device }: LimitsWorld,
  network: string,
): Promise<{ outcome: Outcome; userCode: string }> {
  const form = { client_id: device.id, scope: "openid" };
  const answer = await postForm(`${org.issuer}/device`, form, cameFrom(network));
  return { outcome: outcomeOf(answer, answer.status === 200), userCode: String(answer.body["user_code"]) };
}

/** A pushed authorization request. */
export async function pushRequest(
  { org }: LimitsWorld,
  client: { readonly client_id: string; readonly client_secret?: string },
  network: string,
): Promise<Outcome> {
  const uri = client.client_secret === undefined ? "http://127.0.0.1/callback" : REDIRECT_URI;
  const { parameters } = authorizationRequest(client.client_id, uri);
  const answer = await postForm(`${org.issuer}/par`, { ...parameters, ...client }, cameFrom(network));
  return outcomeOf(answer, answer.status === 201);
}

/** A request that is refused before any sign-in, with a response for agents to sign: none is there, which whoever is let in hears. */
export async function askForSignedError(
  { org }: LimitsWorld,
  { application }: Pick<TestClient, "application">,
  network: string,
): Promise<Outcome> {
  const asked = { response_mode: "jwt", prompt: "none" };
  const { query } = authorizationRequest(application.id, REDIRECT_URI, asked);
  const page = await testBrowser().get(`${org.issuer}/authorize?${query}`, cameFrom(network));
  return outcomeOf(page, page.status === 503);
}

/** A client asks for a user's approval. */
export async function askForApproval(
  { org }: LimitsWorld,
  client: TestClient,
  email: string,
): Promise<Outcome> {
  const answer = await requestAuthentication(org, client, { login_hint: email });
  return outcomeOf(answer, answer.status === 200);
}

/** On the page for device codes, signed in. */
export async function typeUserCode(
  { org }: LimitsWorld,
  { user }: TestOrganisation,
  userCode: string,
  network: string,
): Promise<Outcome> {
  const browser = testBrowser();
  const address = `${org.issuer}/device/verify`;
  const page = await logIn(browser, { ...org, user }, await follow(browser, await browser.get(address)));
  const answer = await browser.post(address, { ...page.hidden, user_code: userCode }, cameFrom(network));
  return outcomeOf(answer, answer.body.includes('id="device-allow"'));
}

export async function claimAsAgent(
  { org, agent }: LimitsWorld,
  apiKey: string,
  network: string,
): Promise<Outcome> {
  const headers = { authorization: `Bearer ${apiKey}`, ...cameFrom(network) };
  const body = { kids: agent.keys.map(({ kid }) => kid) };
  const answer = await postJson(`${org.issuer}/sovereign/agent/claim`, body, headers);
  return outcomeOf(answer, answer.status < 300);
}

/** Reads users as a connection to a directory. */
export async function provision({ root }: ScimClient, token: string, network: string): Promise<Outcome> {
  const answer = await callScim("GET", `${root}/Users?count=1`, { token, headers: cameFrom(network) });
  return outcomeOf(answer, answer.status === 200);
}

export async function enrolDevice({ org }: LimitsWorld, code: string, network: string): Promise<Outcome> {
  const body = { code, csr: await csrOf(newEcKey()) };
  const answer = await postJson(`${org.issuer}/devices/enroll`, body, cameFrom(network));
  return outcomeOf(answer, answer.status === 201);
}

/** A user's export of their own data. */
export async function exportData({ org }: LimitsWorld, { user }: TestOrganisation): Promise<Outcome> {
  const browser = testBrowser();
  const address = `${org.issuer}/account/data`;
  const page = await logIn(browser, { ...org, user }, await follow(browser, await browser.get(address)));
  const answer = await browser.post(`${address}/export`, page.hidden);
  return outcomeOf(answer, answer.status === 200);
}

/** An administrator's test mail. */
export async function sendTestMail(
  { running, org }: LimitsWorld,
  administrator: TestOrganisation["user"],
): Promise<Outcome> {
  const here = await consoleBrowser(running, { ...org, administrator });
  const answer = await here.send("/mail-templates/ResetPassword?language=en", { language: "en" });
  return outcomeOf(answer, answer.status === 303);
}
