// The library ends its own session alone: this leads through Signet's, with the ID token as its hint.
export default defineEventHandler(async (event) => {
  const { secure } = await getUserSession(event);
  const tokens = await forgetTokens(secure?.tokensId);
  await clearUserSession(event);
  if (!tokens) return sendRedirect(event, "/", 303);
  const { end_session_endpoint } = await discovery();
  const { origin } = new URL(useRuntimeConfig(event).oauth.oidc.redirectURL);
  const query = new URLSearchParams({
    id_token_hint: tokens.id_token,
    post_logout_redirect_uri: `${origin}/`,
  });
  return sendRedirect(event, `${end_session_endpoint}?${query}`, 303);
});
