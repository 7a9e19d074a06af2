// Begins the sign-in, and is where Signet sends the browser back to. See README.md.
export default defineOAuthOidcEventHandler({
  config: { scope: ["openid", "profile", "email", "roles", "offline_access"] },
  async onSuccess(event, { user, tokens }) {
    const { iss, sub } = claimsOf(tokens.id_token);
    // The library has asked userinfo, and leaves this to the application (OpenID Connect Core 5.3.2).
    if (user.sub !== sub) throw createError({ statusCode: 401, message: "userinfo is of somebody else" });
    const { name, email, roles = [] } = user;
    await replaceUserSession(event, {
      user: { sub, name, email, roles, org: iss.split("/").at(-1) },
      secure: { tokensId: await keepTokens(tokens) },
    });
    return sendRedirect(event, "/");
  },
});
