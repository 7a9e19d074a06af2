/** A service with scripted responses, as a `fetch`. Records the requests. */

export interface ReceivedRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Headers;
  readonly body: string;
}

export interface StubService {
  readonly fetch: typeof fetch;
  readonly asked: ReceivedRequest[];
}

/** @param answer responds to each request; an Error is a broken connection */
export function stubService(
  answer: (request: ReceivedRequest, count: number) => Response | Error | Promise<Response | Error>,
): StubService {
  const asked: ReceivedRequest[] = [];
  return {
    asked,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const { pathname, search } = new URL(request.url);
      const target = `${pathname}${search}`;
      const seen = { method: request.method, target, headers: request.headers, body: await request.text() };
      asked.push(seen);
      const given = await answer(seen, asked.length);
      if (given instanceof Error) throw given;
      return given;
    },
  };
}

export const jsonResponse = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  Response.json(body, { status, headers });

/** A problem document of the service (RFC 9457). */
export const problemResponse = (
  status: number,
  code: string,
  more: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Response =>
  new Response(
    JSON.stringify({ type: `urn:signet:error:${code}`, title: code, status, instance: "test-1", ...more }),
    { status, headers: { "content-type": "application/problem+json", ...headers } },
  );
