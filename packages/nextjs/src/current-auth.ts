/** Who the page, action or route handler of the App Router is for: its request is known to Next.js. */
import { cookies } from "next/headers";
import { redirect } from "next/navigation";
import { type Auth, authOfCookies } from "./auth.ts";

/**
 * Who the page, action or route handler is for. The middleware has renewed the session before.
 * @example
 * const { user } = await auth();
 */
export async function auth(): Promise<Auth> {
  const all = (await cookies()).getAll();
  return authOfCookies(all.map(({ name, value }) => `${name}=${value}`).join("; "));
}

/**
 * The same for a page that needs somebody: who is not signed in is sent to sign in, and comes back.
 * @param returnTo a path of the application. Default: `/`
 */
export async function requireAuth(returnTo?: string): Promise<Auth> {
  const found = await auth();
  if (!found.isSignedIn) redirect(found.signInUrl(returnTo));
  return found;
}
