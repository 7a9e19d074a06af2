/**
 * The Pages Router: who `getServerSideProps` and API routes are for.
 *
 * @module nextjs-pages
 */
import { type Auth, authOfCookies } from "./auth.ts";

export type { Auth } from "./auth.ts";

/** The used part of the requests that Next.js gives to `getServerSideProps` and API routes. */
export interface PagesRequest {
  readonly headers: { readonly cookie?: string | undefined };
}

/**
 * Who the request is from. The middleware has renewed the session before.
 * @example
 * export const getServerSideProps = async ({ req }) => ({ props: { name: (await getAuth(req)).user?.firstname ?? null } });
 */
export const getAuth = (request: PagesRequest): Promise<Auth> => authOfCookies(request.headers.cookie ?? "");
