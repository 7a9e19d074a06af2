/** Calls of a server over HTTP: bounded in time and size; redirects are not followed, so the token goes nowhere else. */
import { version } from "../../config/version.ts";
import { errorMessage, escapeControls } from "../output.ts";
import type { ApiAnswer, LineReader, Transport } from "./api-types.ts";

const TIMEOUT_MS = 60_000;
const MAX_BYTES = 32 * 1024 * 1024;
const MERGE_PATCH = "application/merge-patch+json";
const ownHeaders = { "user-agent": `signet/${version}` };

/** @param token read before each call: a login refreshes it */
export const httpTransport =
  (server: string, token: () => Promise<string>): Transport =>
  async ({ method, path, body, ifMatch }) =>
    exchange(server, path, {
      method,
      headers: {
        authorization: `Bearer ${await token()}`,
        ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
        ...(body === undefined
          ? {}
          : { "content-type": method === "PATCH" ? MERGE_PATCH : "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

/** @param refuse what the answer that is an error means */
export const httpLines = (
  server: string,
  token: () => Promise<string>,
  refuse: (answer: ApiAnswer) => Error,
): LineReader =>
  async function* readLines(path) {
    // Each piece is waited for so long, and not the whole answer.
    const idle = new AbortController();
    const timer = setTimeout(() => idle.abort(new Error("no answer in time")), TIMEOUT_MS);
    try {
      const answer = await fetch(`${server}${path}`, {
        headers: { ...ownHeaders, authorization: `Bearer ${await token()}` },
        redirect: "manual",
        signal: idle.signal,
      }).catch((error: unknown) => {
        throw unreachable(server, error);
      });
      if (answer.status !== 200)
        throw refuse({ status: answer.status, body: parsed(await readBounded(answer), answer) });
      yield* linesOf(answer, () => timer.refresh());
    } finally {
      clearTimeout(timer);
      idle.abort();
    }
  };

async function* linesOf({ body }: Response, isAlive: () => void): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of body ?? []) {
    isAlive();
    const lines = (rest + decoder.decode(piece as Uint8Array, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_BYTES) throw new Error("a line of the answer is too long");
    yield* lines;
  }
  if (rest !== "") yield rest;
}

export const postForm = (url: string, form: Readonly<Record<string, string>>): Promise<ApiAnswer> =>
  exchange(url, "", { method: "POST", body: new URLSearchParams(form) });

export const getJson = (url: string): Promise<ApiAnswer> => exchange(url, "", { method: "GET" });

/** @throws Error naming the server */
async function exchange(server: string, path: string, init: RequestInit): Promise<ApiAnswer> {
  try {
    const answer = await fetch(`${server}${path}`, {
      ...init,
      headers: { accept: "application/json", ...ownHeaders, ...init.headers },
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const etag = answer.headers.get("etag") ?? undefined;
    return { status: answer.status, body: parsed(await readBounded(answer), answer), etag };
  } catch (error) {
    throw unreachable(server, error);
  }
}

const unreachable = (server: string, error: unknown): Error =>
  new Error(`can't reach ${new URL(server).origin} (--server): ${escapeControls(reasonOf(error))}`, {
    cause: error,
  });

async function readBounded({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body ?? []) {
    size += piece.length;
    if (size > MAX_BYTES) throw new Error("the answer is too long");
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

function parsed(text: string, { headers }: Response): unknown {
  if (text === "" || !/\bjson\b/.test(headers.get("content-type") ?? "")) return undefined;
  return JSON.parse(text) as unknown;
}

/** Fetch says "fetch failed"; its cause says why. */
const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error ? error.cause : undefined;
  return errorMessage(cause instanceof Error && errorMessage(cause) !== "" ? cause : error);
};
