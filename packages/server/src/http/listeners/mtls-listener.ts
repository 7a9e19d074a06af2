/**
 * The mTLS listener: requests a certificate from every client (RFC 8705 §2). It trusts no CA: which organisation's CA
 * counts is known only from the request, so TLS proves possession of the key alone, and an empty list of CAs suits
 * any number of organisations.
 */

import type { X509Certificate } from "node:crypto";
import { constants } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import { createSecureContext, type SecureContextOptions, TLSSocket } from "node:tls";
import { MAX_CHAIN, setCertificateSource } from "./client-certificate.ts";
import { serverBounds } from "./server-bounds.ts";

export interface MtlsFiles {
  /** PEM: the server's certificate and its intermediates. */
  readonly certificateFile: string;
  readonly keyFile: string;
}

export interface MtlsListener {
  readonly server: Server;
  /**
   * Loads a renewed certificate; open connections keep theirs, and an unusable one changes nothing.
   * @returns false when the files are unchanged.
   * @throws when the files can't be used
   */
  reload(): Promise<boolean>;
}

const HANDSHAKE_MS = 10_000;

/** @throws when the files can't be used */
export async function mtlsListener(files: MtlsFiles): Promise<MtlsListener> {
  let loaded = await stateOf(files);
  const server = createServer({
    ...(await contextOf(files)),
    ...serverBounds,
    requestCert: true,
    // Not verified here: most requests need no certificate, and only the path tells which CA applies.
    rejectUnauthorized: false,
    handshakeTimeout: HANDSHAKE_MS,
    ALPNProtocols: ["http/1.1"],
  });
  server.prependListener("request", (request) => {
    const peer = () =>
      request.socket instanceof TLSSocket ? request.socket.getPeerX509Certificate() : undefined;
    setCertificateSource(request, { leaf: () => peer()?.raw, chain: () => issuersOf(peer()) });
  });
  const reload = async () => {
    const state = await stateOf(files);
    if (state === loaded) return false;
    server.setSecureContext(await contextOf(files));
    loaded = state;
    return true;
  };
  return { server, reload };
}

/** As the client sent them, each after the one that it issued. */
function issuersOf(leaf: X509Certificate | undefined): Buffer[] {
  const issuers: Buffer[] = [];
  for (let one = leaf?.issuerCertificate; one && issuers.length < MAX_CHAIN; one = one.issuerCertificate)
    issuers.push(one.raw);
  return issuers;
}

/** Throws when certificate and key don't match. */
async function contextOf({ certificateFile, keyFile }: MtlsFiles): Promise<SecureContextOptions> {
  const [cert, key] = await Promise.all([readFile(certificateFile), readFile(keyFile)]);
  const options: SecureContextOptions = {
    cert,
    key,
    minVersion: "TLSv1.2",
    // The certificate belongs to the connection and counts for all of its requests. A session resumed by ticket would
    // present it without the key: every connection proves the key.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_TICKET,
  };
  createSecureContext(options);
  return options;
}

/** Changes with the files; a symbolic link that is repointed counts as a change. */
async function stateOf({ certificateFile, keyFile }: MtlsFiles): Promise<string> {
  const states = await Promise.all([certificateFile, keyFile].map((file) => stat(file)));
  return states.map(({ ino, size, mtimeMs }) => `${ino}/${size}/${mtimeMs}`).join(" ");
}
