/** The records of an organisation by API v1: answers, lists to their end, and refusals in words (api-v1.md). */
import { escapeControls } from "../output.ts";
import type { ApiAnswer, LineReader, Method, RecordApi, Transport, Wire } from "./api-types.ts";

/** An answer that is an error, in words for the operator. */
export class ApiRefusal extends Error {
  override name = "ApiRefusal";
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const PAGE = 200;

const noLines: LineReader = () => {
  throw new Error("long answers are read of a server alone");
};

/** @param orgId "" for all organisations */
export function recordApi(transport: Transport, orgId: string, readLines = noLines): RecordApi {
  const base = orgId === "" ? "/api/v1" : `/api/v1/organisations/${encodeURIComponent(orgId)}`;
  const call = async <T>(method: Method, path: string, body?: unknown): Promise<T> => {
    const answer = await transport({ method, path: base + path, ...(body === undefined ? {} : { body }) });
    if (answer.status >= 200 && answer.status < 300) return answer.body as T;
    throw toRefusal(answer);
  };
  return {
    orgId,
    issuer: async () => {
      const path = `/oauth/${encodeURIComponent(orgId)}/.well-known/openid-configuration`;
      const answer = await transport({ method: "GET", path });
      if (answer.status !== 200) throw toRefusal(answer);
      return String((answer.body as Wire)["issuer"]);
    },
    readLines: (path) => readLines(base + path),
    read: (path) => call("GET", path),
    send: (method, path, body) => call(method, path, body),
    replace: async <T>(path: string, change: (before: Wire) => unknown) => {
      const before = await transport({ method: "GET", path: base + path });
      if (before.status !== 200) throw toRefusal(before);
      const { etag } = before;
      const answer = await transport({
        ...{ method: "PUT", path: base + path, body: change(before.body as Wire) },
        ...(etag === undefined ? {} : { ifMatch: etag }),
      });
      if (answer.status !== 200) throw toRefusal(answer);
      return answer.body as T;
    },
    list: async <T extends Wire>(
      path: string,
      { limit = Number.POSITIVE_INFINITY, query = {} }: Parameters<RecordApi["list"]>[1] = {},
    ) => {
      const items: T[] = [];
      const cursors = new Set<string>();
      for (let cursor: string | undefined; ; ) {
        const asked = new URLSearchParams({
          ...query,
          limit: String(Math.min(PAGE, limit - items.length)),
          ...(cursor === undefined ? {} : { cursor }),
        });
        const page = await call<{ items: T[]; nextCursor?: string | null }>("GET", `${path}?${asked}`);
        items.push(...page.items);
        cursor = page.nextCursor ?? undefined;
        if (cursor === undefined || items.length >= limit)
          return { items: items.slice(0, limit), more: cursor !== undefined || items.length > limit };
        if (cursors.has(cursor) || cursors.size === MAX_PAGES) throw endless(path);
        cursors.add(cursor);
      }
    },
  };
}

/** 2 million records: a command holds them all. */
const MAX_PAGES = 10_000;

const endless = (path: string): Error =>
  new Error(`the server's list ${path} does not end: narrow it with --limit, or ask the server's operator`);

/** RFC 9457. */
interface Problem {
  readonly type?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly errors?: ReadonlyArray<{ readonly path: string; readonly message: string }>;
}

/** What an operator can do about an error, where its own words do not say. */
const advice: Readonly<Record<string, string>> = {
  "not-authenticated":
    "The token has expired, was revoked, or is not for this server. Sign in again with signet login, or get another token.",
  "not-found": "There is no such record, or the token is of another organisation.",
};

export function toRefusal({ status, body }: ApiAnswer): ApiRefusal {
  const problem = typeof body === "object" && body !== null ? (body as Problem) : {};
  const code = problem.type?.replace(/^urn:signet:error:/, "") ?? "unknown";
  const title = problem.title ?? `the server answered ${status}`;
  const faults = (problem.errors ?? []).map(({ path, message }) => `\n  ${path || "/"}: ${message}`);
  const more = advice[code] ?? problem.detail;
  // Whatever the server answers must not control the operator's terminal.
  const text = escapeControls(`${title}${more === undefined ? "" : `. ${more}`}`);
  return new ApiRefusal(status, code, [text, ...faults.map(escapeFault)].join(""));
}

const escapeFault = (line: string): string => `\n${escapeControls(line.slice(1))}`;
