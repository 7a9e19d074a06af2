/**
 * The private listener for proxies that speak TLS in our place: it alone believes `Client-Cert` (RFC 9440 §4), and it hears
 * nobody but them, because whoever reaches it may be any device.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { BlockList, isIPv6 } from "node:net";
import { setCertificateSource } from "./client-certificate.ts";
import {
  type CertificateFormat,
  forwardedCertificate,
  MalformedCertificate,
} from "./forwarded-certificate.ts";
import { serverBounds } from "./server-bounds.ts";

export interface ProxyListenerOptions {
  readonly format: CertificateFormat;
  /** Addresses and networks. */
  readonly trusted: readonly string[];
  /** Of a stranger that was cut off, or a header that cannot be read: for operators, without a value of the request. */
  refused(cause: string): void;
  answer(request: IncomingMessage, response: ServerResponse): void;
}

export function proxyListener(options: ProxyListenerOptions): Server {
  const isTrusted = trustedAddresses(options.trusted);
  const server = createServer({ ...serverBounds }, (request, response) => {
    try {
      const der = forwardedCertificate(request.headersDistinct["client-cert"], options.format);
      if (der) setCertificateSource(request, () => der);
    } catch (error) {
      if (!(error instanceof MalformedCertificate)) throw error;
      options.refused(error.message);
      return refuse(response, error.message);
    }
    options.answer(request, response);
  });
  server.on("connection", (socket) => {
    if (isTrusted(socket.remoteAddress)) return;
    options.refused("a connection from an address that is no trusted proxy");
    socket.destroy();
  });
  return server;
}

/** A proxy that writes nonsense is wrongly set up: nothing that comes through it is answered as if it had none. */
function refuse(response: ServerResponse, description: string): void {
  response.writeHead(400, {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    connection: "close",
  });
  response.end(JSON.stringify({ error: "invalid_request", error_description: description }));
}

function trustedAddresses(entries: readonly string[]): (address: string | undefined) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", bits] = entry.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => address !== undefined && list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
