/** Userinfo and the pages of what a token leaves out: one organisation's token says nothing at another's address. */

/** @param probe asks both organisations; its last argument is the status at the token's own */
export function userinfoProbes<Probe>(
  probe: (method: "GET" | "POST", path: string, own: number) => Probe,
  preflight: (path: string) => Probe,
): Record<string, Probe> {
  const pages = ["roles", "groups", "permissions"].map((claim) => `userinfo/${claim}`);
  return {
    ...Object.fromEntries(
      ["userinfo", ...pages].map((path) => [`OPTIONS /oauth/:org/${path}`, preflight(path)]),
    ),
    "GET /oauth/:org/userinfo": probe("GET", "userinfo", 200),
    "POST /oauth/:org/userinfo": probe("POST", "userinfo", 200),
    // The token is known, and lacks the scope.
    ...Object.fromEntries(pages.map((path) => [`GET /oauth/:org/${path}`, probe("GET", path, 403)])),
  };
}
