/**
 * "Try it": runs the authorization code flow with PKCE as the demo's single-page app and shows the tokens. It calls the
 * token endpoint and fetches the JWKS over HTTP, like any client.
 */
import type { Form } from "@signet/protocol/form";
import { constantTimeEqual, randomSecret } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { isS256Challenge, s256Challenge } from "@signet/protocol/oauth/pkce";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { createRemoteJWKSet, decodeProtectedHeader, type JWTPayload, jwtVerify } from "jose";
import type { ApplicationDirectory } from "../../core/applications/applications.ts";
import type { Clock } from "../../core/clock.ts";
import { issuerOf } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import { render } from "../../html/html.ts";
import { messages, preferredLocales } from "../../html/messages/messages.ts";
import { copyScript } from "../../html/scripts.ts";
import { stylesheet } from "../../html/stylesheet.ts";
import { parseQuery } from "../../http/form-body.ts";
import { newNonce, sendPage } from "../../http/page.ts";
import { type DecodedToken, tokensPage } from "./tokens.page.ts";

export interface DemoDeps {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly organisations: OrganisationDirectory;
  readonly applications: ApplicationDirectory;
  readonly demo: { readonly orgId: string; readonly clientId: string };
}

const COOKIE = "signet-demo-try";
const SCOPE = "openid profile email offline_access";

export function demoRoutes(app: FastifyInstance, deps: DemoDeps): void {
  const issuer = issuerOf(deps.baseUrl, deps.demo.orgId);
  const redirectUri = `${deps.baseUrl}/demo/callback`;

  app.get("/demo/try", async (_request, reply) => {
    const state = randomSecret("");
    const verifier = randomSecret("");
    reply.setCookie(COOKIE, `${state}.${verifier}`, {
      path: "/demo",
      httpOnly: true,
      sameSite: "lax",
      maxAge: 600,
    });
    const query = new URLSearchParams({
      response_type: "code",
      client_id: deps.demo.clientId,
      redirect_uri: redirectUri,
      scope: SCOPE,
      state,
      nonce: s256Challenge(state),
      code_challenge: s256Challenge(verifier),
      code_challenge_method: "S256",
    });
    return reply.header("cache-control", "no-store").redirect(`${issuer}/authorize?${query}`, 303);
  });

  app.get("/demo/callback", async (request, reply) => {
    const { code, verifier, state } = readCallback(request, issuer);
    reply.clearCookie(COOKIE, { path: "/demo" });
    const tokens = await exchangeCode(issuer, { clientId: deps.demo.clientId, redirectUri, code, verifier });
    return showTokens(deps, request, reply, { issuer, tokens, nonce: s256Challenge(state) });
  });
}

function readCallback(
  request: FastifyRequest,
  issuer: string,
): { code: string; verifier: string; state: string } {
  const { values }: Form = parseQuery(request);
  const [state = "", verifier = ""] = (request.cookies[COOKIE] ?? "").split(".");
  const isOurs = isS256Challenge(state) && constantTimeEqual(state, values.get("state") ?? "");
  if (!isOurs || values.get("iss") !== issuer) {
    throw new OAuthError(
      "invalid_request",
      "This answer does not belong to a sign-in that was started here. Try again from the start page.",
      { reason: "answer-foreign" },
    );
  }
  const code = values.get("code");
  if (code === undefined) throw authorizationError(values.get("error_description"));
  return { code, verifier, state };
}

/** Shows the authorization server's own error description, if it sent one. */
const authorizationError = (description: string | undefined) =>
  description === undefined
    ? new OAuthError("access_denied", "The sign-in was not completed.", {
        status: 400,
        reason: "sign-in-not-completed",
      })
    : new OAuthError("access_denied", description, { status: 400 });

interface Tokens {
  readonly accessToken: string;
  readonly idToken: string;
}

async function exchangeCode(
  issuer: string,
  grant: { clientId: string; redirectUri: string; code: string; verifier: string },
): Promise<Tokens> {
  const response = await fetch(`${issuer}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id: grant.clientId,
      redirect_uri: grant.redirectUri,
      code: grant.code,
      code_verifier: grant.verifier,
    }),
    signal: AbortSignal.timeout(5_000),
  });
  const body = (await response.json()) as {
    access_token?: string;
    id_token?: string;
    error_description?: string;
  };
  if (!body.access_token || !body.id_token) {
    throw new OAuthError("invalid_grant", body.error_description ?? "The code could not be exchanged.");
  }
  return { accessToken: body.access_token, idToken: body.id_token };
}

async function showTokens(
  deps: DemoDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  response: { issuer: string; tokens: Tokens; nonce: string },
): Promise<FastifyReply> {
  const organisation = await deps.organisations.find(deps.demo.orgId);
  const application = await deps.applications.find(deps.demo.orgId, deps.demo.clientId);
  if (!organisation || !application)
    throw new OAuthError("invalid_request", "The demo's organisation or application is disabled.");
  const jwksUri = `${response.issuer}/.well-known/jwks.json`;
  const keys = createRemoteJWKSet(new URL(jwksUri));
  const decode = async (encoded: string): Promise<DecodedToken> => {
    const { payload } = await jwtVerify<JWTPayload>(encoded, keys, { issuer: response.issuer });
    return { encoded, header: { ...decodeProtectedHeader(encoded) }, payload, verified: true };
  };
  const idToken = await decode(response.tokens.idToken);
  if (idToken.payload.nonce !== response.nonce)
    throw new OAuthError("invalid_request", "The ID token was not made for this sign-in.");
  const nonce = newNonce();
  const page = tokensPage({
    messages: messages(preferredLocales(undefined, request.headers["accept-language"])),
    nonce,
    stylesheet: stylesheet.path,
    organisation: { name: organisation.name, accentColor: organisation.settings.branding.accentColor },
    application: { name: application.name, homepageUri: application.settings.homepageUri },
    idToken,
    accessToken: await decode(response.tokens.accessToken),
    jwksUri,
    now: deps.clock(),
    tryAgainUri: "/demo/try",
    signOutUri: `${response.issuer}/end_session`,
    script: copyScript.path,
  });
  await sendPage(reply, render(page), { nonce });
  return reply;
}
