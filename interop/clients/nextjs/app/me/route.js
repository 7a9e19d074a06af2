/** A route handler. */
import { auth } from "@signet/nextjs";

export const GET = async () => Response.json((await auth()).user ?? null);
