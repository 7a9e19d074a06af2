/**
 * A single-page application, as a browser runs it: `oauth4webapi` and fetch, no server of its own. At `/` it sends the
 * visitor to sign in; at `/callback` it does all that such an application does and leaves the outcome for the test.
 */
import * as oauth from "/oauth4webapi.js";

const insecure = { [oauth.allowInsecureRequests]: true };
const { issuer, clientId } = JSON.parse(
  sessionStorage.getItem("settings") ?? decodeURIComponent(location.hash.slice(1)),
);
const client = { client_id: clientId };
const redirectUri = `${location.origin}/callback`;

async function discover() {
  const response = await oauth.discoveryRequest(new URL(issuer), insecure);
  return oauth.processDiscoveryResponse(new URL(issuer), response);
}

async function askForCode() {
  const server = await discover();
  const asked = {
    verifier: oauth.generateRandomCodeVerifier(),
    state: oauth.generateRandomState(),
    nonce: oauth.generateRandomNonce(),
  };
  sessionStorage.setItem("settings", JSON.stringify({ issuer, clientId }));
  sessionStorage.setItem("asked", JSON.stringify(asked));
  const url = new URL(server.authorization_endpoint);
  url.search = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: "openid email",
    state: asked.state,
    nonce: asked.nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(asked.verifier),
    code_challenge_method: "S256",
  }).toString();
  location.assign(url);
}

async function redeem() {
  const server = await discover();
  const { verifier, state, nonce } = JSON.parse(sessionStorage.getItem("asked"));
  const parameters = oauth.validateAuthResponse(server, client, new URL(location.href), state);
  const response = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    parameters,
    redirectUri,
    verifier,
    insecure,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: nonce,
    requireIdToken: true,
  });
  return { server, tokens, nonce };
}

async function useTokens({ server, tokens, nonce }) {
  const { sub } = oauth.getValidatedIdTokenClaims(tokens);
  const userinfo = await oauth.userInfoRequest(server, client, tokens.access_token, insecure);
  const person = await oauth.processUserInfoResponse(server, client, sub, userinfo);
  const refreshing = oauth.refreshTokenGrantRequest(
    server,
    client,
    oauth.None(),
    tokens.refresh_token,
    insecure,
  );
  const refreshed = await oauth.processRefreshTokenResponse(server, client, await refreshing);
  const token = refreshed.refresh_token;
  await oauth.processRevocationResponse(
    await oauth.revocationRequest(server, client, oauth.None(), token, insecure),
  );
  const after = await oauth.userInfoRequest(server, client, refreshed.access_token, insecure);
  return { nonce, person, tokens, refreshed, statusAfterRevocation: after.status };
}

/** Endpoints that no page has business with do not let its scripts read their answers. */
async function readIntrospection({ server, tokens }) {
  const body = new URLSearchParams({ client_id: clientId, token: tokens.access_token });
  return fetch(server.introspection_endpoint, { method: "POST", body }).then(
    () => "read",
    () => "refused",
  );
}

try {
  if (location.pathname === "/callback") {
    const redeemed = await redeem();
    const introspection = await readIntrospection(redeemed);
    globalThis.outcome = { ...(await useTokens(redeemed)), introspection };
  } else {
    await askForCode();
  }
} catch (error) {
  globalThis.outcome = { error: String(error), code: error.code, cause: String(error.cause) };
}
