/** Issues codes and tokens from one signed-in browser with remembered consent. */

import { type Answer, type CodeGrant, credentials, postForm } from "../fixtures/client.ts";
import { REDIRECT_URI, type TestClient, type TestOrganisation } from "../test-service.ts";
import { authorizationRequest, authorize, type TestBrowser, testBrowser } from "./browser.ts";

export interface CodeSource {
  readonly browser: TestBrowser;
  /** @param more parameters of the authorization request; an empty one is left out */
  code(more?: Record<string, string>, client?: TestClient): Promise<CodeGrant>;
  /** The tokens of a new code. */
  tokens(more?: Record<string, string>, client?: TestClient): Promise<IssuedTokens>;
}

export interface IssuedTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly idToken: string;
  readonly body: Record<string, unknown>;
}

export function codeSource(org: TestOrganisation): CodeSource {
  const browser = testBrowser();
  const code = async (more: Record<string, string> = {}, client = org.web): Promise<CodeGrant> => {
    const redirectUri = redirectUriOf(client);
    const { parameters, verifier } = authorizationRequest(client.application.id, redirectUri, more);
    const sent = Object.entries(parameters).filter(([, value]) => value !== "");
    const query = new URLSearchParams(sent).toString();
    const answer = await authorize(browser, { issuer: org.issuer, query, ...org.user });
    const issued = answer.get("code");
    if (issued === null) throw new Error(`no code: ${answer}`);
    return { code: issued, verifier };
  };
  return {
    browser,
    code,
    tokens: async (more = {}, client = org.web) => {
      const { status, body } = await redeemWith(org, await code(more, client), {}, client);
      if (status !== 200) throw new Error(`no tokens: ${status} ${JSON.stringify(body)}`);
      return {
        accessToken: String(body["access_token"]),
        refreshToken: String(body["refresh_token"]),
        idToken: String(body["id_token"]),
        body,
      };
    },
  };
}

/** Redeems a code. @param more replaces parameters; an empty one is left out */
export function redeemWith(
  org: TestOrganisation,
  grant: CodeGrant,
  more: Record<string, string> = {},
  client = org.web,
): Promise<Answer> {
  const parameters = {
    grant_type: "authorization_code",
    code: grant.code,
    code_verifier: grant.verifier,
    redirect_uri: redirectUriOf(client),
    ...clientParameters(client),
    ...more,
  };
  const sent = Object.entries(parameters).filter(([, value]) => value !== "");
  return postForm(`${org.issuer}/token`, Object.fromEntries(sent));
}

/** `client_id`, and the secret of a client that has one. */
function clientParameters(client: TestClient): Record<string, string> {
  return client.secret === "" ? { client_id: client.application.id } : credentials(client);
}

const redirectUriOf = ({ application }: TestClient): string =>
  application.settings.redirectUris[0] ?? REDIRECT_URI;
