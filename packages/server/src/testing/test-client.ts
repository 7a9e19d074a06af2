/** An OAuth client of a test: posts forms to the token, revoke and introspect endpoints. */

import { ask, FORM_TYPE } from "./ask.ts";
import { authorizationRequest, authorize, testBrowser } from "./test-browser.ts";
import type { TestClient, TestOrganisation } from "./test-service.ts";
import { REDIRECT_URI } from "./test-service.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

export const postForm = (
  url: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Answer> => post(url, String(new URLSearchParams(form)), { "content-type": FORM_TYPE, ...headers });

/** @param body a text is sent as it is */
export const postJson = (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  post(url, typeof body === "string" ? body : JSON.stringify(body), {
    "content-type": "application/json",
    ...headers,
  });

async function post(url: string, sent: string, given: Record<string, string>): Promise<Answer> {
  const { status, headers, text } = await ask(url, { method: "POST", body: sent, headers: given });
  return {
    status,
    headers,
    body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}

export const credentials = ({ application, secret }: TestClient) => ({
  client_id: application.id,
  client_secret: secret,
});

export interface CodeGrant {
  readonly code: string;
  readonly verifier: string;
}

/** A fresh code for the organisation's web application, signed in and consented to in a browser of its own. */
export async function getCode(
  org: TestOrganisation,
  more: Record<string, string> = {},
  client = org.web,
): Promise<CodeGrant> {
  const redirectUri = client.application.settings.redirectUris[0] ?? REDIRECT_URI;
  const { query, verifier } = authorizationRequest(client.application.id, redirectUri, more);
  const answer = await authorize(testBrowser(), { issuer: org.issuer, query, ...org.user });
  const code = answer.get("code");
  if (code === null) throw new Error(`no code: ${answer}`);
  return { code, verifier };
}

export function redeem(org: TestOrganisation, grant: CodeGrant, client = org.web): Promise<Answer> {
  return postForm(`${org.issuer}/token`, {
    grant_type: "authorization_code",
    code: grant.code,
    code_verifier: grant.verifier,
    redirect_uri: client.application.settings.redirectUris[0] ?? REDIRECT_URI,
    ...credentials(client),
  });
}

/** Access, refresh and ID token of a new sign-in. */
export async function getTokens(org: TestOrganisation, more: Record<string, string> = {}, client = org.web) {
  const { status, body } = await redeem(org, await getCode(org, more, client), client);
  if (status !== 200) throw new Error(`no tokens: ${status} ${JSON.stringify(body)}`);
  return {
    accessToken: String(body["access_token"]),
    refreshToken: String(body["refresh_token"]),
    idToken: String(body["id_token"]),
    body,
  };
}

export function refresh(
  org: TestOrganisation,
  refreshToken: string,
  more: Record<string, string> = {},
  client = org.web,
): Promise<Answer> {
  return postForm(`${org.issuer}/token`, {
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    ...credentials(client),
    ...more,
  });
}
