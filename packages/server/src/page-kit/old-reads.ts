/**
 * What pages read from a replica (db/old-reads.ts), and the cookie that has a browser read its own changes: as a position in the
 * database's log, it names what a replica must have replayed before the browser's pages are read there.
 */
import type {} from "@fastify/cookie";
import type { FastifyInstance } from "fastify";
import { type OldReader, oldReader, type Seen } from "../db/old-reads.ts";
import type { Database } from "../db/open.ts";
import type { ConsoleDeps, Visit } from "./page.ts";

/** A replica that is further behind is not read from anyway. */
const MAX_AGE_SECONDS = 60;
const UNKNOWN = "unknown";

const cookieName = (baseUrl: string): string =>
  `${baseUrl.startsWith("https:") ? "__Host-" : ""}signet-changed`;

/** No credential: whoever makes one up is read to from the primary. */
function readMark({ request }: Pick<Visit, "request">, baseUrl: string): Seen | undefined {
  const value = request.cookies[cookieName(baseUrl)];
  if (value === undefined) return undefined;
  return /^\d{1,20}$/.test(value) ? BigInt(value) : UNKNOWN;
}

/** In the answers to all forms. Nothing at all without a replica. Called in a scope with cookies, before its routes. */
export function markChanges(scope: FastifyInstance, { replica }: Database, baseUrl: string): void {
  if (!replica) return;
  // What an answer tells of is committed when it is sent.
  scope.addHook("onSend", async ({ method, headers }, reply) => {
    if (method === "GET" || method === "HEAD" || headers.cookie === undefined) return;
    const seen = await replica.position().catch(() => UNKNOWN);
    reply.setCookie(cookieName(baseUrl), String(seen), {
      ...{ path: "/", httpOnly: true, sameSite: "lax", secure: baseUrl.startsWith("https:") },
      maxAge: MAX_AGE_SECONDS,
    });
  });
}

/** For one answer. The reader's own changes are in it. */
export const oldReaderFor = (
  { database, baseUrl }: Pick<ConsoleDeps, "database" | "baseUrl">,
  visit: Pick<Visit, "request">,
): OldReader => oldReader(database, readMark(visit, baseUrl));

/** A page's deps, whose database may be old. */
export const withOldReads =
  <Deps extends Pick<ConsoleDeps, "database">>(
    deps: Deps,
    read: OldReader,
  ): (<T>(work: (old: Deps) => Promise<T>) => Promise<T>) =>
  (work) =>
    read((database) => work({ ...deps, database }));
