/**
 * `fetch` with a client certificate (RFC 8705). Web standards have no way to present one: Deno and Bun have extensions of `fetch`,
 * Node has its own client, which is asked for at run time so that the SDK still imports nothing of Node.
 */
import { configurationError } from "../errors.ts";

/** PEM: the certificate, intermediate ones after it, and its private key (PKCS#8). */
export interface ClientCertificate {
  readonly certificate: string;
  readonly key: string;
}

interface DenoGlobal {
  readonly createHttpClient?: (options: { readonly cert: string; readonly key: string }) => unknown;
}
interface NodeRequest {
  on(event: "error", listener: (error: Error) => void): void;
  on(event: "response", listener: (response: NodeResponse) => void): void;
  end(body?: Uint8Array): void;
  destroy(error?: Error): void;
}
interface NodeResponse extends AsyncIterable<Uint8Array> {
  readonly statusCode?: number;
  readonly rawHeaders: readonly string[];
}
interface NodeHttps {
  readonly Agent: new (options: object) => object;
  request(url: URL, options: object): NodeRequest;
}
interface Platform {
  readonly Deno?: DenoGlobal;
  readonly Bun?: unknown;
  readonly process?: { readonly getBuiltinModule?: (name: string) => unknown };
}

/** @throws SignetError `configuration` on a platform that can't present certificates */
export function mutualTlsFetch({ certificate: cert, key }: ClientCertificate): typeof fetch {
  const { Deno, Bun, process } = globalThis as Platform;
  if (Bun !== undefined) return (url, init) => fetch(url, { ...init, tls: { cert, key } } as RequestInit);
  if (Deno?.createHttpClient) {
    const client = Deno.createHttpClient({ cert, key });
    return (url, init) => fetch(url, { ...init, client } as RequestInit);
  }
  const https = process?.getBuiltinModule?.("node:https") as NodeHttps | undefined;
  if (https === undefined)
    throw configurationError(
      "oauthClientCertificate can't be presented on this platform: give the option fetch, which does.",
    );
  const agent = new https.Agent({ cert, key, keepAlive: true });
  return (input, init) => nodeFetch(https, agent, new Request(input, init));
}

/** Only what the SDK and plain API calls need: no redirects, no compression. */
async function nodeFetch(https: NodeHttps, agent: object, request: Request): Promise<Response> {
  const url = new URL(request.url);
  // Plain http has no certificates: development servers, where there is nothing to prove.
  if (url.protocol !== "https:") return fetch(request);
  const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
  const { method, signal } = request;
  const headers = {
    ...Object.fromEntries(request.headers),
    ...(body ? { "content-length": String(body.length) } : {}),
  };
  const response = await new Promise<NodeResponse>((resolve, reject) => {
    const sent = https.request(url, { agent, method, headers, signal });
    sent.on("error", reject);
    sent.on("response", resolve);
    sent.end(body);
  });
  return toResponse(response);
}

const NO_BODY: readonly number[] = [204, 205, 304];

function toResponse(response: NodeResponse): Response {
  const { statusCode: status = 502, rawHeaders } = response;
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "");
  const chunks = response[Symbol.asyncIterator]();
  const end = async () => void (await chunks.return?.());
  if (NO_BODY.includes(status)) {
    end().catch(() => {});
    return new Response(null, { status, headers });
  }
  const pull = async (stream: ReadableStreamDefaultController<Uint8Array>) => {
    const { done, value } = await chunks.next();
    if (done) stream.close();
    else stream.enqueue(value);
  };
  return new Response(new ReadableStream({ pull, cancel: end }), { status, headers });
}
