/** The service's agent endpoints on loopback, honest unless a test overrides them. */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { ClaimedRequest, SignedJwts } from "../service/signing-service.ts";

export type Ended =
  | { readonly outcome: "signed"; readonly jwts: SignedJwts }
  | {
      readonly outcome: "rejected";
      readonly reason: string;
      readonly detail: string;
      readonly retryable: boolean;
    };

export interface ReceivedCall {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Record<string, unknown>;
  readonly traceparent: string | undefined;
}

/** Replaces the fake's answer; undefined leaves it. */
export type Override = (call: ReceivedCall) => Answer | undefined | Promise<Answer | undefined>;

export interface FakeService {
  /** `http://127.0.0.1:port` */
  readonly url: string;
  readonly apiKey: string;
  readonly calls: ReceivedCall[];
  override: Override;
  /** Whether several requests are handed out at once and several signatures taken; older services do neither. */
  inBatches: boolean;
  /** Queues a request. @returns how it ends */
  enqueue(request: Omit<ClaimedRequest, "leaseToken" | "attempt">): Promise<Ended>;
  /** The user's answer on the wait page, delivered by the next poll. */
  answer(requestId: string, challengeId: string, answer: unknown): void;
  /** From the next poll on, the lease belongs to another agent. */
  loseLease(requestId: string): void;
  /** Calls that wait for something to return. */
  waiting(): number;
  close(): Promise<void>;
}

interface State {
  readonly pending: ClaimedRequest[];
  readonly open: Map<string, (ended: Ended) => void>;
  readonly responses: Array<{ requestId: string; challengeId: string; outcome: string; answer: unknown }>;
  readonly lost: Set<string>;
  readonly wake: Set<() => void>;
  readonly inBatches: () => boolean;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly retryAfter?: number;
}

export const ORGANISATION = "33333333-3333-4333-8333-333333333333";
export const POOL = "44444444-4444-4444-8444-444444444444";

export async function startFakeService(): Promise<FakeService> {
  const calls: ReceivedCall[] = [];
  const apiKey = `sgn_ak_${randomUUID()}`;
  const service = { override: (() => undefined) as Override, inBatches: false };
  const state: State = {
    pending: [],
    open: new Map(),
    responses: [],
    lost: new Set(),
    wake: new Set(),
    inBatches: () => service.inBatches,
  };
  const server = createServer((request, response) => {
    void handleCall(request, state, calls, apiKey, () => service.override).then((answer) =>
      send(response, answer),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const wake = () => {
    for (const one of state.wake) one();
  };
  return Object.assign(service, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey,
    calls,
    enqueue: (request: Omit<ClaimedRequest, "leaseToken" | "attempt">) =>
      new Promise<Ended>((resolve) => {
        state.open.set(request.requestId, resolve);
        state.pending.push({ ...request, leaseToken: randomUUID(), attempt: 1 });
        wake();
      }),
    answer: (requestId: string, challengeId: string, answer: unknown) => {
      state.responses.push({ requestId, challengeId, outcome: "answered", answer });
      wake();
    },
    loseLease: (requestId: string) => {
      state.lost.add(requestId);
      wake();
    },
    waiting: () => state.wake.size,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

async function handleCall(
  request: IncomingMessage,
  state: State,
  calls: ReceivedCall[],
  apiKey: string,
  override: () => Override,
): Promise<Answer> {
  const url = new URL(request.url ?? "/", "http://fake");
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const path = url.pathname.replace(`/oauth/${ORGANISATION}/sovereign/`, "");
  const traceparent = request.headers["traceparent"] as string | undefined;
  const call = { path, query: url.searchParams, body: text === "" ? {} : JSON.parse(text), traceparent };
  calls.push(call);
  const other = await override()(call);
  if (other) return other;
  if (request.headers.authorization !== `Bearer ${apiKey}`) return error(401, "invalid_token");
  switch (path) {
    case "agent/queue":
      return await queue(call, state, request);
    case "agent/claim":
      return await claim(call, state, request);
    case "agent/sign":
      return "signatures" in call.body ? endAll(call, state) : end(call, state, signedBy(call.body));
    case "agent/reject":
      return end(call, state, { ...(call.body as object), outcome: "rejected" } as Ended);
    case "agent/challenge":
      return { status: 202, body: { status: "challenge", leaseSeconds: 45 } };
    default:
      return error(404, "not_found");
  }
}

const error = (status: number, code: string): Answer => ({ status, body: { error: code } });

async function claim(
  { body, query }: ReceivedCall,
  state: State,
  { socket }: IncomingMessage,
): Promise<Answer> {
  if (state.pending.length === 0) await nextEvent(state, Number(body["wait"] ?? 0), socket);
  // A caller that has hung up must not take the request from the next one.
  if (socket.destroyed) return { status: 204 };
  const max = state.inBatches() ? query.get("max") : null;
  const requests = state.pending.splice(0, Number(max ?? 1));
  if (requests.length === 0) return { status: 204 };
  return { status: 200, body: max === null ? requests[0] : { requests } };
}

const signedBy = (body: Record<string, unknown>): Ended => ({
  outcome: "signed",
  jwts: body["jwts"] as SignedJwts,
});

function endAll(call: ReceivedCall, state: State): Answer {
  const { body } = call;
  if (!state.inBatches()) return error(400, "invalid_request");
  const signatures = body["signatures"] as Array<Record<string, unknown>>;
  const results = signatures.map((one) => {
    const answer = end({ ...call, body: one }, state, signedBy(one)).body as object;
    return { requestId: one["requestId"], ...answer };
  });
  const { max = 0 } = (body["claim"] ?? {}) as { max?: number };
  return { status: 200, body: { results, requests: state.pending.splice(0, max) } };
}

async function queue({ query }: ReceivedCall, state: State, { socket }: IncomingMessage): Promise<Answer> {
  const known = (query.get("known") ?? "").split(",");
  const responses = () => state.responses.filter(({ challengeId }) => !known.includes(challengeId));
  if (responses().length + state.lost.size === 0) await nextEvent(state, Number(query.get("wait")), socket);
  const renewed = (query.get("renew") ?? "").split(",").filter(Boolean);
  const body = {
    serverTime: Date.now(),
    pending: [],
    responses: responses(),
    renewed: renewed.map((requestId) => ({ requestId, leaseSeconds: 45 })),
    lost: [...state.lost],
  };
  return { status: 200, body };
}

function end({ body }: ReceivedCall, state: State, ended: Ended): Answer {
  const requestId = String(body["requestId"]);
  const resolve = state.open.get(requestId);
  if (!resolve) return error(409, "already_final");
  state.open.delete(requestId);
  resolve(ended);
  return { status: 200, body: { requestId, status: ended.outcome } };
}

function nextEvent({ wake }: State, seconds: number, socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off("close", done);
      wake.delete(done);
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, seconds * 1000);
    timer.unref();
    wake.add(done);
    socket.once("close", done);
  });
}

function send(response: ServerResponse, { status, body, retryAfter }: Answer): void {
  if (retryAfter !== undefined) response.setHeader("retry-after", String(retryAfter));
  response.writeHead(status, { "content-type": "application/json" });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
