/** Who a page, an action or a route handler is rendered for. */
import type { Principal, User } from "@signet/client-sdk";
import { signet } from "./signet.ts";

/** What `auth` gives. */
export interface Auth {
  readonly isSignedIn: boolean;
  /** Undefined for nobody. */
  readonly user: User | undefined;
  /** The user's permanent id. */
  readonly sub: string | undefined;
  readonly organisationId: string | undefined;
  /** For calls to APIs on the user's behalf, on the server alone. */
  readonly accessToken: string | undefined;
  readonly principal: Principal | undefined;
  /** Whether the user has the role, in the claims `role` or `roles`. */
  hasRole(role: string): boolean;
  /**
   * Where the user signs in, to come back to a path of the application.
   * @param organisation to sign in to, for an application of several (`SIGNET_ORGANISATIONS`)
   */
  signInUrl(returnTo?: string, organisation?: string): string;
}

/** @param cookie header of the request */
export async function authOfCookies(cookie: string): Promise<Auth> {
  const { filter, basePath } = signet();
  // Only its cookies are read: no host, no path.
  const request = new Request("https://application.invalid/", { headers: { cookie } });
  const principal = await filter.peek?.(request);
  const roles = [principal?.user?.role, principal?.claims["roles"] ?? []].flat();
  return {
    isSignedIn: principal !== undefined,
    user: principal?.user,
    sub: principal?.sub,
    organisationId: principal?.user?.organisationId,
    accessToken: principal?.accessToken,
    principal,
    hasRole: (role) => roles.includes(role),
    signInUrl: (returnTo = "/", organisation) => {
      const query = new URLSearchParams({ return_to: returnTo });
      if (organisation !== undefined) query.set("organisation", organisation);
      return `${basePath}/login?${query}`;
    },
  };
}
