/** A host of client metadata documents: https on localhost, with a certificate that this process trusts while it is open. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import tls from "node:tls";
import { selfSigned } from "../fixtures/self-signed.ts";

export interface DocumentHost {
  /** `localhost:port`. */
  readonly host: string;
  readonly clientId: string;
  /** Paths that were asked for. */
  readonly asked: string[];
  /** By path; a text is sent as JSON, an object with its own client_id. */
  readonly served: Map<
    string,
    object | string | ((request: IncomingMessage, response: ServerResponse) => void)
  >;
  /** Of every answer. */
  headers: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

export async function documentHost(): Promise<DocumentHost> {
  const own = selfSigned();
  const before = tls.getCACertificates("default");
  tls.setDefaultCACertificates([...before, own.cert]);
  const served: DocumentHost["served"] = new Map();
  const asked: string[] = [];
  const server = createServer(own, (request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    const found = served.get(path);
    if (typeof found === "function") return found(request, response);
    if (found === undefined) return void response.writeHead(404).end();
    const body = typeof found === "string" ? found : JSON.stringify(found);
    response.writeHead(200, { "content-type": "application/json", ...host.headers }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const host: DocumentHost = {
    host: `localhost:${port}`,
    clientId: `https://localhost:${port}/agent.json`,
    ...{ asked, served, headers: {} },
    close: async () => {
      tls.setDefaultCACertificates(before);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return host;
}

/** A document as an agent on a person's machine has it. */
export const agentDocument = (clientId: string, more: object = {}): object => ({
  client_id: clientId,
  client_name: "Agent",
  redirect_uris: ["http://127.0.0.1:33418/callback", `${new URL(clientId).origin}/callback`],
  grant_types: ["authorization_code", "refresh_token"],
  response_types: ["code"],
  token_endpoint_auth_method: "none",
  ...more,
});
