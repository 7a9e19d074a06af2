/**
 * The client certificate of a request, proven by TLS at whichever listener it came through. Only listeners set it: no
 * header can (device-identity.md §4).
 */
import type { IncomingMessage } from "node:http";

/** Read lazily: requests that need no certificate don't pay for it. */
export interface CertificateSource {
  /** DER, of a key that the client has proven. */
  leaf(): Buffer | undefined;
  /** DER of what the client sent with it, at most `MAX_CHAIN`: nothing proves these but their signatures. */
  chain(): readonly Buffer[];
}

/** Beside the leaf; a longer path is not accepted anyway. */
export const MAX_CHAIN = 4;

const source = Symbol("client certificate");

type WithSource = IncomingMessage & { [source]?: CertificateSource };

/** A request of the framework, or a call. */
export interface Arrived {
  readonly raw: IncomingMessage;
}

/** For listeners only, before routing. */
export function setCertificateSource(request: IncomingMessage, read: CertificateSource): void {
  (request as WithSource)[source] = read;
}

/**
 * @returns DER; undefined without a certificate. `presentedDevice` of core/devices decides whose it is and whether it
 * is valid
 */
export const clientCertificate = ({ raw }: Arrived): Buffer | undefined =>
  (raw as WithSource)[source]?.leaf();

/** What came with it: certificates between it and an authority, in any order. */
export const clientCertificateChain = ({ raw }: Arrived): readonly Buffer[] =>
  (raw as WithSource)[source]?.chain() ?? [];
