// Whenever the session is read, for a page as for a script: its tokens are renewed when they are about to expire.
export default defineNitroPlugin(() => {
  sessionHooks.hook("fetch", async (session, event) => {
    if (!session.user) return;
    const tokens = await freshTokens(session.secure?.tokensId);
    // Scripts of the page can read what is added here: no token belongs here.
    if (tokens) session.endOfToken = tokens.access_token.slice(-8);
    else {
      // The sign-in at Signet has ended.
      await clearUserSession(event);
      delete session.user;
    }
  });
});
