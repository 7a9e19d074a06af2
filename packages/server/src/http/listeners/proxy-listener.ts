/**
 * The private listener for TLS-terminating proxies: only here is `Client-Cert` trusted (RFC 9440 §4), and only
 * trusted addresses may connect, because whoever reaches it can claim to be any device.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { MAX_CHAIN, setCertificateSource } from "./client-certificate.ts";
import { addressList } from "./connection-bounds.ts";
import {
  type CertificateFormat,
  forwardedCertificate,
  forwardedChain,
  MalformedCertificate,
} from "./forwarded-certificate.ts";
import { serverBounds } from "./server-bounds.ts";

export interface ProxyListenerOptions {
  readonly format: CertificateFormat;
  /** Addresses and networks. */
  readonly trusted: readonly string[];
  /** Logs a rejected connection or header, without a value of the request. */
  refused(cause: string): void;
  answer(request: IncomingMessage, response: ServerResponse): void;
}

export function proxyListener(options: ProxyListenerOptions): Server {
  const isTrusted = addressList(options.trusted);
  const server = createServer({ ...serverBounds }, (request, response) => {
    try {
      const der = forwardedCertificate(request.headersDistinct["client-cert"], options.format);
      if (der) {
        const chain = forwardedChain(request.headersDistinct["client-cert-chain"], MAX_CHAIN);
        setCertificateSource(request, { leaf: () => der, chain: () => chain });
      }
    } catch (error) {
      if (!(error instanceof MalformedCertificate)) throw error;
      options.refused(error.message);
      return refuse(response, error.message);
    }
    options.answer(request, response);
  });
  server.on("connection", (socket) => {
    if (socket.remoteAddress !== undefined && isTrusted(socket.remoteAddress)) return;
    options.refused("a connection from an untrusted address");
    socket.destroy();
  });
  return server;
}

/** A malformed header means a misconfigured proxy: the request is rejected, not treated as one without a certificate. */
function refuse(response: ServerResponse, description: string): void {
  response.writeHead(400, {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    connection: "close",
  });
  response.end(JSON.stringify({ error: "invalid_request", error_description: description }));
}
