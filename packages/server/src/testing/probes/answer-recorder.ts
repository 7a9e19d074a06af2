/** Records every response of a server during a test. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";

export interface RecordedAnswer {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly status: number;
  /** The media type without parameters; empty if none was sent. */
  readonly contentType: string;
  readonly body: string;
}

/** @returns the list that grows with each answer */
export function recordAnswers(server: Server): RecordedAnswer[] {
  const answers: RecordedAnswer[] = [];
  server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    const keep = (chunk: unknown, encoding: unknown) => {
      if (typeof chunk === "string") chunks.push(Buffer.from(chunk, encoding as BufferEncoding));
      else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
    };
    const write = response.write.bind(response) as (...args: unknown[]) => boolean;
    const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
    response.write = ((...args: unknown[]) => {
      keep(args[0], typeof args[1] === "string" ? args[1] : "utf8");
      return write(...args);
    }) as ServerResponse["write"];
    response.end = ((...args: unknown[]) => {
      keep(args[0], typeof args[1] === "string" ? args[1] : "utf8");
      const contentType = headerOf(response, "content-type");
      answers.push({
        method: request.method ?? "",
        path: (request.url ?? "").split("?")[0] ?? "",
        status: response.statusCode,
        contentType: contentType.split(";")[0] ?? "",
        body: Buffer.concat(chunks).toString(),
      });
      return end(...args);
    }) as ServerResponse["end"];
  });
  return answers;
}

/** `writeHead` with a flat list of headers leaves nothing for `getHeader`: the head says it then. */
function headerOf(response: ServerResponse, name: string): string {
  const set = response.getHeader(name);
  if (set !== undefined) return String(set);
  const head = (response as ServerResponse & { _header?: string | null })._header ?? "";
  return new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1]?.trim() ?? "";
}
