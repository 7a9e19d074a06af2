// Keeps in the session of Auth.js what Signet grants, and renews it. See README.md.
const { AUTH_SIGNET_ISSUER, AUTH_SIGNET_ID, AUTH_SIGNET_SECRET } = process.env;

const kept = (tokens) => ({
  accessToken: tokens.access_token,
  refreshToken: tokens.refresh_token,
  idToken: tokens.id_token,
  expiresAt: Date.now() + tokens.expires_in * 1000,
});

/** Null ends the session of Auth.js: the sign-in at Signet has ended. */
async function renew(token) {
  const proof = [AUTH_SIGNET_ID, AUTH_SIGNET_SECRET].map(encodeURIComponent).join(":");
  const answer = await fetch(`${AUTH_SIGNET_ISSUER}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${Buffer.from(proof).toString("base64")}` },
    body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: token.refreshToken }),
  });
  if (answer.status === 400) return null;
  if (!answer.ok) throw new Error(`the token was not renewed: ${answer.status}`);
  return { ...token, ...kept(await answer.json()) };
}

export const callbacks = {
  jwt({ token, account, profile }) {
    // At the sign-in: `profile` is the ID token.
    if (account)
      return { ...token, ...kept(account), roles: profile.roles ?? [], org: profile.iss.split("/").at(-1) };
    return Date.now() < token.expiresAt - 60_000 ? token : renew(token);
  },
  // Scripts of the page can read this at /api/auth/session: no token belongs here.
  session({ session, token }) {
    const { roles, org, accessToken } = token;
    return { ...session, roles, org, endOfToken: accessToken.slice(-8) };
  },
};
