/** Where GitHub is: github.com, an organisation of its own at ghe.com, or a GitHub Enterprise Server. */

const PUBLIC = "https://github.com";

/** The last two of data residency: an enterprise has a name of its own below it, and its API one beside that. */
const RESIDENT = /^https:\/\/([a-z0-9-]+)\.ghe\.com$/;

export interface GithubHost {
  readonly authorize: string;
  readonly token: string;
  readonly user: string;
  readonly emails: string;
  /** As the `iss` of the authorization response names it (RFC 9207). */
  readonly names: readonly string[];
}

/** @param issuer the origin, as the connection is set to it */
export function githubHost(issuer: string): GithubHost {
  const api = apiOf(issuer);
  return {
    authorize: `${issuer}/login/oauth/authorize`,
    token: `${issuer}/login/oauth/access_token`,
    user: `${api}/user`,
    // The primary address is on the first page of all but a few.
    emails: `${api}/user/emails?per_page=100`,
    names: [`${issuer}/login/oauth`, issuer],
  };
}

function apiOf(issuer: string): string {
  if (issuer === PUBLIC) return "https://api.github.com";
  const [, name] = RESIDENT.exec(issuer) ?? [];
  return name === undefined ? `${issuer}/api/v3` : `https://api.${name}.ghe.com`;
}
