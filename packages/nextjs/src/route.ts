/**
 * The routes under `/signet` as a route handler, for applications whose middleware does not cover them:
 * `export { GET, POST } from "@signet/nextjs/route"` in `app/signet/[...signet]/route.ts`.
 *
 * @module nextjs-route
 */
import { signet } from "./signet.ts";

async function answer(request: Request): Promise<Response> {
  const result = await signet().filter.authenticate(request, { isOptional: true });
  if (result.kind === "answer") return result.response;
  return new Response("Not found", { status: 404 });
}

/** Login, callback and sign-out. */
export const GET = answer;

/** Sign-out and back-channel logout. */
export const POST = answer;
