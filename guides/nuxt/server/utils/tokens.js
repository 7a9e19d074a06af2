// Tokens stay on the server: a cookie has room for 4,096 bytes, and the session's can be read by scripts of the page.
import { randomUUID } from "node:crypto";

/** In the memory of this process; `nitro.storage.tokens` in nuxt.config.js names a Redis or a database. */
const storage = () => useStorage("tokens");

/** Signet's addresses. */
export const discovery = () => $fetch(useRuntimeConfig().oauth.oidc.openidConfig);

/** Of a token that came from Signet itself, by TLS. */
export const claimsOf = (token) => JSON.parse(Buffer.from(token.split(".")[1], "base64url"));

const withExpiry = (tokens) => ({ ...tokens, expiresAt: Date.now() + tokens.expires_in * 1000 });

/** @returns under which ID */
export async function keepTokens(tokens) {
  const id = randomUUID();
  await storage().setItem(id, withExpiry(tokens));
  return id;
}

/** @returns what was kept */
export async function forgetTokens(id) {
  const tokens = id ? await storage().getItem(id) : null;
  if (tokens) await storage().removeItem(id);
  return tokens;
}

/** @returns null when the sign-in at Signet has ended */
export async function freshTokens(id) {
  const tokens = id ? await storage().getItem(id) : null;
  if (!tokens || Date.now() < tokens.expiresAt - 60_000) return tokens;
  const renewed = await renew(tokens);
  if (renewed) await storage().setItem(id, renewed);
  else await storage().removeItem(id);
  return renewed;
}

async function renew(tokens) {
  const { clientId, clientSecret } = useRuntimeConfig().oauth.oidc;
  const { token_endpoint } = await discovery();
  const answer = await fetch(token_endpoint, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "refresh_token",
      refresh_token: tokens.refresh_token,
      client_id: clientId,
      client_secret: clientSecret,
    }),
  });
  if (answer.status === 400) return null;
  if (!answer.ok) throw createError({ statusCode: 502, message: `not renewed: ${answer.status}` });
  return withExpiry({ ...tokens, ...(await answer.json()) });
}
