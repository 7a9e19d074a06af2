/**
 * The id of a request, and the trace that it belongs to. Both are the words of whoever connects, so they are taken from trusted
 * proxies alone: anybody else could write another's reference into the log.
 */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { addressList } from "./listeners/connection-bounds.ts";

export interface RequestReferences {
  /** The proxy's `X-Request-Id`, or a new one. */
  idOf(request: IncomingMessage): string;
  /** The trace of the proxy's `traceparent` (W3C Trace Context §3.2); undefined without one. */
  traceOf(request: IncomingMessage): string | undefined;
  /** That header, if it is valid. */
  parentOf(request: IncomingMessage): string | undefined;
}

export const REQUEST_ID_HEADER = "X-Request-Id";

/** What needs no escaping in JSON, in HTML and in a search for it. Any other id is not taken over. */
const TAKEN_OVER = /^[\w.:/+=~-]{1,199}$/;

/** Version 00, and later ones, which begin in the same way; ids of zeros only are invalid. */
const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/;

/** @param trusted addresses and networks of proxies */
export function requestReferences(nodeName: string, trusted: readonly string[]): RequestReferences {
  const newId = requestIds(nodeName);
  if (trusted.length === 0)
    return { idOf: () => newId(), traceOf: () => undefined, parentOf: () => undefined };
  const isListed = addressList(trusted);
  const isFromProxy = ({ socket }: IncomingMessage): boolean => {
    const address = socket?.remoteAddress;
    return address !== undefined && isIP(address) !== 0 && isListed(address);
  };
  const parentOf = (request: IncomingMessage): string | undefined => {
    const { traceparent } = request.headers;
    const isValid = typeof traceparent === "string" && TRACE_PARENT.test(traceparent);
    return isValid && isFromProxy(request) ? traceparent : undefined;
  };
  return {
    parentOf,
    idOf: (request) => {
      const sent = request.headers["x-request-id"];
      const isTaken = typeof sent === "string" && TAKEN_OVER.test(sent) && isFromProxy(request);
      return isTaken ? sent : newId();
    },
    traceOf: (request) => traceIdIn(parentOf(request)),
  };
}

/** @param parent a valid `traceparent` */
export const traceIdIn = (parent: string | undefined): string | undefined => parent?.slice(3, 35);

/** Cheap and unique enough to find one request in the logs of several nodes. */
export function requestIds(nodeName: string): () => string {
  let count = 0;
  return () => `${nodeName}-${(count++).toString(36)}`;
}
