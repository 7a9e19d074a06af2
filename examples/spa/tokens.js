/**
 * Sign-in and tokens of a single-page application, without a library: code flow with PKCE (RFC 7636), refresh, sign-out.
 * Tokens are only kept in this module's memory; after a reload the service still has the session.
 */
const { issuer, clientId } = await (await fetch("/settings.json")).json();
const provider = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
const redirectUri = `${location.origin}/`;
let tokens;
let renewal;

const encoded = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
const base64url = (bytes) => encoded(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));
const goTo = (url, query) => location.assign(`${url}?${new URLSearchParams(query)}`);
const post = (url, form) =>
  fetch(url, { method: "POST", body: new URLSearchParams({ ...form, client_id: clientId }) });

/** Leaves for the sign-in page; what is kept meanwhile is good for nothing without the answer. */
export async function signIn(scope) {
  const asked = { state: random(), verifier: random() };
  sessionStorage.setItem("asked", JSON.stringify(asked));
  const challenge = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(asked.verifier));
  goTo(provider.authorization_endpoint, {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    scope,
    state: asked.state,
    code_challenge: base64url(challenge),
    code_challenge_method: "S256",
  });
}

/** The answer must be to what this browser has asked, from whom it has asked it (RFC 6749 §10.12, RFC 9207). */
export async function takeAnswer(answer) {
  const { state, verifier } = JSON.parse(sessionStorage.getItem("asked") ?? "{}");
  sessionStorage.removeItem("asked");
  history.replaceState(null, "", "/");
  if (!state || answer.get("state") !== state || answer.get("iss") !== issuer)
    throw new Error("This answer belongs to no sign-in of this page.");
  if (answer.has("error")) throw new Error(answer.get("error_description") ?? answer.get("error"));
  const code = { code: answer.get("code"), redirect_uri: redirectUri, code_verifier: verifier };
  await redeem({ grant_type: "authorization_code", ...code });
}

async function redeem(grant) {
  const response = await post(provider.token_endpoint, grant);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error_description ?? answer.error);
  tokens = { ...tokens, ...answer, until: Date.now() + answer.expires_in * 1000 };
}

/** Calls at the same time share one renewal: a refresh token is good once. */
export async function renew() {
  renewal ??= redeem({ grant_type: "refresh_token", refresh_token: tokens.refresh_token });
  await renewal.finally(() => {
    renewal = undefined;
  });
}

/** A call with the access token, which is renewed when half a minute is left of it. */
export async function call(url, init) {
  if (Date.now() > tokens.until - 30_000) await renew();
  return fetch(url, {
    ...init,
    headers: { ...init?.headers, authorization: `Bearer ${tokens.access_token}` },
  });
}

/** Who has signed in, from the service itself: nothing is believed that only came through the address bar. */
export const person = async () => (await call(provider.userinfo_endpoint)).json();

/** Ends the tokens, then the session at the service, which sends the browser back here. */
export async function signOut() {
  await post(provider.revocation_endpoint, { token: tokens.refresh_token });
  const hint = { id_token_hint: tokens.id_token, post_logout_redirect_uri: redirectUri };
  goTo(provider.end_session_endpoint, hint);
}
