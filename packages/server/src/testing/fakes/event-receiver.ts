/** A receiver of webhooks or pushed events on loopback. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedEvent {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface EventReceiver {
  readonly url: string;
  readonly received: ReceivedEvent[];
  /** How it answers from now on: a status, or whatever it does. */
  answer: number | ((event: ReceivedEvent, response: ServerResponse) => void);
  /** The ids of what came, in order. */
  ids(): string[];
  close(): Promise<void>;
}

export async function startEventReceiver(): Promise<EventReceiver> {
  const received: ReceivedEvent[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const event = { headers: request.headers, body: Buffer.concat(chunks).toString() };
      received.push(event);
      const { answer } = receiver;
      if (typeof answer === "function") answer(event, response);
      else response.writeHead(answer, answer === 302 ? { location: receiver.url } : {}).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const receiver: EventReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    received,
    answer: 204,
    ids: () => received.map(({ headers }) => String(headers["webhook-id"])),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return receiver;
}
