/**
 * The client's network address. `X-Forwarded-For` counts as far as trusted proxies have written it: each has added the address
 * that it was called from, so the list is read from its end.
 */
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { addressList } from "./connection-bounds.ts";

export type AddressReader = (request: IncomingMessage) => string;

const reader = Symbol("reader of the client's address");

type Arrived = IncomingMessage & { [reader]?: AddressReader };

/** A client that has hung up has none: such requests count as one address. */
const connectedAddress = ({ socket }: IncomingMessage): string => socket?.remoteAddress ?? "unknown";

/** @param trusted addresses and networks of proxies */
export function clientAddresses(trusted: readonly string[]): AddressReader {
  if (trusted.length === 0) return connectedAddress;
  const isListed = addressList(trusted);
  const isTrusted = (address: string) => isIP(address) !== 0 && isListed(address);
  return (request) => {
    let address = connectedAddress(request);
    const forwarded = request.headers["x-forwarded-for"];
    if (typeof forwarded !== "string") return address;
    for (const next of forwarded.split(",").reverse()) {
      if (!isTrusted(address)) return address;
      address = next.trim() || address;
    }
    return address;
  };
}

/** For the server below every route, before routing. */
export function setAddressReader(request: IncomingMessage, read: AddressReader): void {
  (request as Arrived)[reader] = read;
}

export function addressOf({ raw }: { readonly raw: IncomingMessage }): string {
  return ((raw as Arrived)[reader] ?? connectedAddress)(raw);
}
