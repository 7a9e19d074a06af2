/**
 * The certificate that a client has proven to have the key of, whatever listener the request came by. Listeners say so at
 * the request itself; where none has, there is no certificate, and no header makes one (device-identity.md §4).
 */
import type { IncomingMessage } from "node:http";
import type { FastifyRequest } from "fastify";

/** Of one request. Asked only where a certificate matters: what takes none pays for none. */
export type CertificateSource = () => Buffer | undefined;

const source = Symbol("client certificate");

type Arrived = IncomingMessage & { [source]?: CertificateSource };

/** For listeners alone, before the request is routed. */
export function setCertificateSource(request: IncomingMessage, read: CertificateSource): void {
  (request as Arrived)[source] = read;
}

/**
 * @returns DER; undefined when the client has shown none. Whose it is, and whether it is good, is another question:
 * `presentedDevice` of core/devices
 */
export const clientCertificateOf = (request: FastifyRequest): Buffer | undefined =>
  (request.raw as Arrived)[source]?.();
