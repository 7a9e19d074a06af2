/** An application's back-channel logout endpoint on loopback that records logout tokens. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedLogout {
  readonly path: string;
  readonly contentType: string;
  readonly body: URLSearchParams;
  /** The raw logout token. */
  readonly token: string;
}

export interface LogoutReceiver {
  readonly received: ReceivedLogout[];
  /** The status of the next responses to a path, 200 by default, and of those that "hang" holds back. */
  answer(path: string, status: number | "hang"): void;
  uri(path: string): string;
  /** The requests to a path. */
  at(path: string): ReceivedLogout[];
  close(): Promise<void>;
}

export async function startLogoutReceiver(): Promise<LogoutReceiver> {
  const received: ReceivedLogout[] = [];
  const answers = new Map<string, number | "hang">();
  const held = new Map<string, ServerResponse[]>();
  const respond = (response: ServerResponse, status: number) =>
    response.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end();
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const path = request.url ?? "";
    const body = new URLSearchParams(text);
    received.push({
      path,
      contentType: request.headers["content-type"] ?? "",
      body,
      token: body.get("logout_token") ?? "",
    });
    const status = answers.get(path) ?? 200;
    if (status === "hang") held.set(path, [...(held.get(path) ?? []), response]);
    else respond(response, status);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    received,
    answer: (path, status) => {
      answers.set(path, status);
      if (status === "hang") return;
      for (const response of held.get(path) ?? []) respond(response, status);
      held.delete(path);
    },
    uri: (path) => `http://127.0.0.1:${port}${path}`,
    at: (path) => received.filter((one) => one.path === path),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
