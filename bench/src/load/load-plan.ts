/** The request that a row sends: a GET, or a POST of a form. */
export type Call = {
  method: "GET" | "POST";
  path: string;
  form?: Record<string, string>;
  headers?: Record<string, string>;
};

/**
 * The form field that changes from request to request. `once`: each value is sent once, and the run ends early when
 * none is left. `cycle`: the values go round. `chain`: every connection starts with a value of its own and goes on
 * with the one that it received last, under the same name. `bodies`: whole JSON bodies, each sent once. `calls`: whole
 * requests in place of the plan's own, which go round; `headers`: headers that are added to it, each sent once.
 */
export type Vary =
  | { kind: "once" | "cycle" | "chain"; field: string; values: readonly string[] }
  | { kind: "bodies"; values: readonly string[] }
  | { kind: "headers"; name: string; values: readonly string[] }
  | { kind: "calls"; calls: readonly Call[] };

/** One interval of load against one server on a loopback port. */
export type LoadPlan = {
  port: number;
  call: Call;
  vary?: Vary;
  connections: number;
  /** Sent at this rate whatever the server does, a second's share by each connection; absent: as fast as it answers. */
  perSecond?: number;
  seconds: number;
  /** 200 when left out. */
  expectedStatus?: number;
  /** A text that every answer must hold beside that status (`"active":false` is a 200 as well). */
  expectedText: string;
  /** A 503 with Retry-After is counted apart, and its connection goes on: an overloaded server says so. */
  mayRefuse?: boolean;
};

/** What came out. Latencies in milliseconds; a run with errors proves nothing. */
export type LoadResult = {
  requests: number;
  /** With those that came after the end: what the server worked for. */
  answers: number;
  seconds: number;
  perSecond: number;
  p50: number;
  p95: number;
  p99: number;
  /** With `mayRefuse`: how many, and the latency under which 99 of 100 of these answers stay. */
  refused?: { count: number; p99: number };
  errors: number;
  firstError?: string;
  /** How busy the load process itself was, 0 to 1: near 1 it is the bottleneck and the figure is its own. */
  loadBusy: number;
};

const headOf = (port: number, { method, path, headers = {} }: Call): string =>
  `${method} ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}`;

/** The bytes of a request on a persistent connection. */
export function encodeRequest(port: number, call: Call, changed: Record<string, string> = {}): Buffer {
  const head = headOf(port, call);
  if (call.form === undefined) return Buffer.from(`${head}\r\n`);
  const body = new URLSearchParams({ ...call.form, ...changed }).toString();
  return withBody(head, "application/x-www-form-urlencoded", body);
}

const withBody = (head: string, type: string, body: string): Buffer =>
  Buffer.from(`${head}Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);

/** A string member of a JSON body, found without parsing the rest: tokens hold nothing that JSON escapes. */
export function memberOf(body: string, name: string): string | undefined {
  const found = body.indexOf(`"${name}"`);
  if (found === -1) return undefined;
  const from = body.indexOf('"', body.indexOf(":", found)) + 1;
  const to = body.indexOf('"', from);
  return from === 0 || to === -1 ? undefined : body.slice(from, to);
}

/**
 * Gives each connection (`slot`) its next request, undefined when there is none left. All requests are built before
 * the interval starts, except in chains, where the next one is not known before the answer is there; `learn` reads
 * it from an answer's body and says whether it found one.
 */
export type RequestSource = {
  connections: number;
  next: (slot: number) => Buffer | undefined;
  learn: (slot: number, body: () => string) => boolean;
};

/** The requests of a plan, in the order in which connections ask for them. */
export function requestSource(plan: LoadPlan): RequestSource {
  const { port, call, vary, connections } = plan;
  const learn = () => true;
  if (vary === undefined) {
    const request = encodeRequest(port, call);
    return { connections, next: () => request, learn };
  }
  if (vary.kind === "bodies") {
    const head = headOf(port, call);
    const bodies = vary.values.map((body) => withBody(head, "application/json", body));
    return { connections, next: inTurn(bodies), learn };
  }
  if (vary.kind === "headers") {
    const withHeader = (value: string) => ({ ...call, headers: { ...call.headers, [vary.name]: value } });
    const requests = vary.values.map((value) => encodeRequest(port, withHeader(value)));
    return { connections, next: inTurn(requests), learn };
  }
  if (vary.kind === "calls") {
    const requests = vary.calls.map((one) => encodeRequest(port, one));
    return { connections, next: inTurn(requests, true), learn };
  }
  const encode = (value: string | undefined) =>
    value === undefined ? undefined : encodeRequest(port, call, { [vary.field]: value });
  if (vary.kind === "chain") {
    const latest = [...vary.values];
    return {
      connections: Math.min(connections, latest.length),
      next: (slot) => encode(latest[slot]),
      learn: (slot, body) => {
        const value = memberOf(body(), vary.field);
        if (value !== undefined) latest[slot] = value;
        return value !== undefined;
      },
    };
  }
  const requests = vary.values.map(encode);
  return { connections, next: inTurn(requests, vary.kind === "cycle"), learn };
}

function inTurn(requests: ReadonlyArray<Buffer | undefined>, isRound = false): () => Buffer | undefined {
  let sent = 0;
  return () => {
    const request = requests[isRound ? sent % requests.length : sent];
    sent += 1;
    return request;
  };
}
