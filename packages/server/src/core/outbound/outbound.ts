/**
 * The only HTTP client for URLs that others registered (`jwks_uri`, back-channel logout): https only, checked
 * addresses only, no redirects, 5 s and 64 KiB in total (wire-contract.md §1). The name is resolved once, and the
 * connection uses exactly the checked addresses, which defeats DNS rebinding. Each organisation has a share of the calls
 * that may run at once.
 */
import type { LookupAddress } from "node:dns";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { inSpan } from "../../telemetry/tracing.ts";
import { fairPlaces, NoPlaceLeft } from "../fair-places.ts";
import { type AddressRules, addressRules } from "./address-rules.ts";
import { nameResolver, type ResolveName } from "./name-resolver.ts";

export interface OutboundCall {
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Of the answer; 64 KiB when left out. 0: its body is not read, whatever its length. */
  readonly maxBytes?: number;
}

export interface OutboundAnswer {
  /** Any status: redirects are returned, not followed. */
  readonly status: number;
  readonly contentType: string;
  /** Its Cache-Control. */
  readonly cacheControl: string;
  readonly body: Buffer;
}

export interface Outbound {
  /**
   * @param orgId whose URL it is; its calls share places, and wait for one at most as long as a call may take
   * @throws OutboundFailure
   */
  call(orgId: string, url: string, call?: OutboundCall): Promise<OutboundAnswer>;
}

/** Why there is no response; the message is for the operator's log. */
export class OutboundFailure extends Error {
  readonly code: "bad-address" | "forbidden-address" | "unreachable" | "timeout" | "too-large" | "busy";
  constructor(code: OutboundFailure["code"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "OutboundFailure";
    this.code = code;
  }
}

export interface OutboundOptions {
  /** From `SIGNET_OUTBOUND_ALLOW`. */
  readonly allow: readonly string[];
  readonly timeoutMs?: number;
  /** Default: a resolver that shares nothing with the service's own connections. */
  readonly resolve?: ResolveName;
}

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 64 * 1024;
/** Twice what the deliveries of one organisation take, so that its clients still authenticate while those hang. */
const PLACES = { all: 512, each: 24, waiting: 1_000 };
/** More than any honest name has. */
const MAX_ADDRESSES = 16;

export function outbound(options: OutboundOptions): Outbound {
  const { timeoutMs = TIMEOUT_MS, resolve = nameResolver() } = options;
  const rules = addressRules(options.allow);
  const places = fairPlaces(PLACES);
  const call = async (orgId: string, address: string, sent: OutboundCall): Promise<OutboundAnswer> => {
    const signal = AbortSignal.timeout(timeoutMs);
    let leave: (() => void) | undefined;
    try {
      const url = parseTarget(address);
      leave = await places.take(orgId, signal);
      const found = await beforeAbort(
        resolveHost(url, (host) => resolve(host, { orgId, signal })),
        signal,
      );
      requireAllowed(rules, url, found);
      // node:http closes an upgraded connection silently: the timeout still applies.
      return await beforeAbort(exchange(url, found.slice(0, MAX_ADDRESSES), sent, signal), signal);
    } catch (error) {
      throw asFailure(error, signal);
    } finally {
      leave?.();
    }
  };
  return { call: (orgId, address, sent = {}) => inSpan("outbound call", call, orgId, address, sent) };
}

/** The URL parser normalises decimal, octal, hexadecimal and short forms of IPv4 addresses. */
function parseTarget(address: string): URL {
  const url = URL.parse(address);
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:") || url.username || url.password)
    throw new OutboundFailure("bad-address", "the URL is not an https URL");
  return url;
}

const hostOf = ({ hostname }: URL) => hostname.replace(/^\[(.*)\]$/, "$1");

async function resolveHost(
  url: URL,
  resolve: (host: string) => Promise<readonly LookupAddress[]>,
): Promise<readonly LookupAddress[]> {
  const host = hostOf(url);
  const family = isIP(host);
  return family === 0 ? resolve(host) : [{ address: host, family }];
}

/** One forbidden address is enough: a legitimate name has none. */
function requireAllowed(rules: AddressRules, url: URL, found: readonly LookupAddress[]): void {
  const host = hostOf(url);
  if (found.length === 0) throw new OutboundFailure("unreachable", "the host name has no address");
  if (!found.every(({ address }) => rules.mayConnect(address, host)))
    throw new OutboundFailure("forbidden-address", "the host resolves to a forbidden address");
  if (url.protocol === "http:" && !found.every(({ address }) => rules.isLoopback(address)))
    throw new OutboundFailure("bad-address", "the URL is not an https URL");
}

async function exchange(
  url: URL,
  found: readonly LookupAddress[],
  call: OutboundCall,
  signal: AbortSignal,
): Promise<OutboundAnswer> {
  const start = url.protocol === "https:" ? httpsRequest : httpRequest;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = start(
      url,
      {
        method: call.method ?? "GET",
        headers: { "accept-encoding": "identity", "user-agent": "signet", ...call.headers },
        // No keep-alive: a pooled connection may have been checked for another call.
        agent: false,
        lookup: fixedLookup(found),
        maxHeaderSize: 16 * 1024,
        signal,
      },
      resolve,
    );
    request.on("error", reject);
    request.end(call.body);
  });
  return {
    status: response.statusCode ?? 0,
    contentType: response.headers["content-type"] ?? "",
    cacheControl: response.headers["cache-control"] ?? "",
    body: await readBody(response, call.maxBytes ?? MAX_BYTES),
  };
}

/**
 * A resolver that returns only the checked addresses. It answers late, as a real one does: a connection that fails immediately
 * (ENETUNREACH) reports it before node:http listens to the socket, and nobody could catch that.
 */
function fixedLookup(found: readonly LookupAddress[]): LookupFunction {
  return (_host, { all }, done) => {
    const [{ address, family } = { address: "", family: 0 }] = found;
    setImmediate(() => (all ? done(null, [...found]) : done(null, address, family)));
  };
}

async function readBody(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  if (maxBytes === 0) {
    response.destroy();
    return Buffer.alloc(0);
  }
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    // Leaving the loop destroys the connection.
    if (length > maxBytes)
      throw new OutboundFailure("too-large", `the response is larger than ${maxBytes / 1024} KiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function beforeAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

function asFailure(error: unknown, signal: AbortSignal): OutboundFailure {
  if (error instanceof OutboundFailure) return error;
  if (error instanceof NoPlaceLeft)
    return new OutboundFailure("busy", "too many calls of the organisation are waiting", { cause: error });
  if (signal.aborted)
    return new OutboundFailure("timeout", "the response was not complete in time", { cause: error });
  const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
  return new OutboundFailure("unreachable", `the host could not be reached${code}`, { cause: error });
}
