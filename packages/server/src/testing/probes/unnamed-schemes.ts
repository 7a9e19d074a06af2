/** Answers that refuse without naming a way to authenticate: every 401 has a challenge (RFC 9110 §15.5.2). */
import type { Server, ServerResponse } from "node:http";

/** @returns method and path of each */
export function watchChallenges(server: Server): () => readonly string[] {
  const found: string[] = [];
  server.prependListener("request", (request, response: ServerResponse) => {
    response.once("finish", () => {
      if (response.statusCode === 401 && !hasChallenge(response))
        found.push(`${request.method} ${request.url?.split("?")[0]}`);
    });
  });
  return () => found;
}

/** `hasHeader` doesn't know what was handed to `writeHead` as a list. */
const hasChallenge = (response: ServerResponse): boolean =>
  /\r\nwww-authenticate: /i.test((response as unknown as { _header: string })._header);
