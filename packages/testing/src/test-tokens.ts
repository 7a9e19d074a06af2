/** Real tokens without a browser: the authorization code flow with PKCE, by `fetch` on loopback, with a session that was made. */
import { createHash, randomBytes } from "node:crypto";
import { TestIssuerError } from "./errors.ts";
import { REDIRECT_URI } from "./test-document.ts";
import type { ServerApplication, ServerOrganisation, TestServer } from "./test-server.ts";

/** Tokens as the token endpoint gave them (RFC 6749 §5.1). */
export interface TestTokens {
  readonly accessToken: string;
  readonly idToken: string | undefined;
  readonly refreshToken: string | undefined;
}

export interface TokenRequest {
  readonly organisation: ServerOrganisation;
  readonly application: ServerApplication;
  /** PermId; undefined: the client itself, by client credentials. */
  readonly userId: string | undefined;
  readonly scope: string | undefined;
}

export async function requestTokens(server: TestServer, request: TokenRequest): Promise<TestTokens> {
  const { application, scope, organisation } = request;
  const { clientId, clientSecret } = application;
  const client = {
    client_id: clientId,
    ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
  };
  const grant =
    request.userId === undefined
      ? { grant_type: "client_credentials", ...(scope === undefined ? {} : { scope }) }
      : await codeOf(server, request, request.userId);
  const response = await fetch(`${organisation.issuer}/token`, {
    method: "POST",
    body: new URLSearchParams({ ...client, ...grant }),
  });
  const body = (await response.json()) as Readonly<Record<string, string | undefined>>;
  if (body["access_token"] === undefined)
    throw new TestIssuerError(`no token: ${body["error"]}: ${body["error_description"]}`);
  return {
    accessToken: body["access_token"],
    idToken: body["id_token"],
    refreshToken: body["refresh_token"],
  };
}

async function codeOf(
  server: TestServer,
  { organisation, application, scope }: TokenRequest,
  userId: string,
) {
  const verifier = randomBytes(32).toString("base64url");
  const [registered] = application.redirectUris;
  const redirectUri = registered ?? REDIRECT_URI;
  const url = new URL(`${organisation.issuer}/authorize`);
  const parameters = {
    ...{ response_type: "code", client_id: application.clientId, redirect_uri: redirectUri },
    scope: scope ?? "openid profile email",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    prompt: "none",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const { name, value } = await server.startSession({ orgId: organisation.id, userId });
  const response = await fetch(url, { redirect: "manual", headers: { cookie: `${name}=${value}` } });
  const location = response.headers.get("location");
  const answer = location === null ? undefined : new URL(location).searchParams;
  const code = answer?.get("code");
  if (!code)
    throw new TestIssuerError(
      `${application.name} gets no code for ${userId}: ${answer?.get("error_description") ?? `${response.status}`}`,
    );
  return { grant_type: "authorization_code", code, redirect_uri: redirectUri, code_verifier: verifier };
}
