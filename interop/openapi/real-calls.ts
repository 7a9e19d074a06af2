/**
 * A call that succeeds, for operations whose values nobody can make up: a secret, a code, a link of a mail, what an agent has
 * signed. Each is made at the moment that schemathesis asks for it, because many live for seconds and most count once.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** What takes the place of a generated value. */
export interface RealCall {
  readonly path?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** In place of those that the operation's calls have: somebody else's. */
  readonly credentials?: Readonly<Record<string, string>>;
  /** The session key in the query, where it is the credential. */
  readonly sessionKey?: string;
  /** A form's fields, or JSON, as the operation takes it. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/** By method and path, as /openapi.json has them. */
export type RealCalls = Readonly<Record<string, () => Promise<RealCall>>>;

export const bearer = (token: string) => ({ credentials: { Authorization: `Bearer ${token}` } });

/**
 * Answers `?operation=…` with the calls for it: none or one.
 * @param prepare undoes what another operation has set, before a call is made
 */
export async function serveRealCalls(
  calls: RealCalls,
  prepare: () => Promise<unknown>,
): Promise<{ address: string; close(): Promise<void> }> {
  const server = createServer(async ({ url = "" }, response) => {
    const operation = new URL(url, "http://localhost").searchParams.get("operation") ?? "";
    try {
      const make = calls[operation];
      if (make) await prepare();
      const made = await make?.();
      response.end(JSON.stringify(made ? [made] : []));
    } catch (error) {
      response.writeHead(500).end(`${operation}: ${error}`);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}/`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
