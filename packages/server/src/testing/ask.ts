/**
 * Sends a test's request with Node's HTTP client: `fetch` takes as much CPU time per request as
 * the service takes to serve a page, and the tests send tens of thousands.
 */
import { Agent, request } from "node:http";

export interface RawRequest {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const agent = new Agent({ keepAlive: true });

/** The default headers of `fetch`. */
const always = { accept: "*/*", "accept-language": "*", "user-agent": "node" };

/** Follows no redirect. @param url an http URL. @throws the connection's error */
export function ask(url: string, { method, headers, body }: RawRequest): Promise<RawResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
  // Node's client leaves the length of a DELETE's body out.
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const asked = request(url, { agent, method, headers: { ...always, ...length, ...headers } }, (answer) => {
    const chunks: Buffer[] = [];
    answer.on("data", (chunk: Buffer) => chunks.push(chunk));
    answer.on("error", reject);
    answer.on("end", () => {
      const received = new Headers();
      for (const [name, values = []] of Object.entries(answer.headersDistinct))
        for (const value of values) received.append(name, value);
      resolve({ status: answer.statusCode ?? 0, headers: received, text: Buffer.concat(chunks).toString() });
    });
  });
  asked.on("error", reject);
  asked.end(body);
  return promise;
}

/** The content type with which browsers and `fetch` send forms. */
export const FORM_TYPE = "application/x-www-form-urlencoded;charset=UTF-8";
