/** The session of a request, renewed when due. */
import { SignetError } from "../errors.ts";
import type { SignIn } from "./sign-in.ts";

export type CurrentSession<Session> =
  | { readonly kind: "active"; readonly session: Session; readonly cookies: readonly string[] }
  /** `cookies` delete what is left of it. */
  | { readonly kind: "none"; readonly cookies: readonly string[] }
  /** Unknown for now; the cookie stays. */
  | { readonly kind: "unavailable"; readonly error: SignetError };

export async function readSession<Session>(
  { parseSession, session }: SignIn<Session>,
  request: Request,
): Promise<Session | undefined> {
  return parseSession(await session.read(request));
}

export async function currentSession<Session>(
  signIn: SignIn<Session>,
  request: Request,
): Promise<CurrentSession<Session>> {
  try {
    const session = await readSession(signIn, request);
    if (!session || (await signIn.hasEnded(session)))
      return { kind: "none", cookies: signIn.session.clear(request) };
    const renewed = await signIn.renew(session);
    if (!renewed) return { kind: "none", cookies: signIn.session.clear(request) };
    if (renewed === session) return { kind: "active", session, cookies: [] };
    // It may have been signed out meanwhile; its cookie must not come back. The browser may already have another session's
    // cookie, which must not be deleted: the next request deletes what is still this one's.
    if (await signIn.hasEnded(session)) return { kind: "none", cookies: [] };
    return { kind: "active", session: renewed, cookies: await signIn.session.write(renewed, request) };
  } catch (error) {
    if (error instanceof SignetError) return { kind: "unavailable", error };
    throw error;
  }
}
