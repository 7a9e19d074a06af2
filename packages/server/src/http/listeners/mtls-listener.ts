/**
 * The listener that speaks TLS itself and asks every client for a certificate (RFC 8705 §2). It trusts no authority: which
 * organisation's CA counts is known only when a request has named the organisation, so that TLS proves no more than that the
 * client has the certificate's key, and an empty list of authorities is right for any number of organisations.
 */
import { constants } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import { createSecureContext, type SecureContextOptions, TLSSocket } from "node:tls";
import { setCertificateSource } from "./client-certificate.ts";
import { serverBounds } from "./server-bounds.ts";

export interface MtlsFiles {
  /** PEM: the server's own certificate and those between it and a public root. */
  readonly certificateFile: string;
  readonly keyFile: string;
}

export interface MtlsListener {
  readonly server: Server;
  /**
   * Takes up a renewed certificate; connections that are open stay as they are. What cannot be used changes nothing.
   * @returns false when the files are as they were. @throws what is wrong with them
   */
  reload(): Promise<boolean>;
}

const HANDSHAKE_MS = 10_000;

/** @throws when the files cannot be used */
export async function mtlsListener(files: MtlsFiles): Promise<MtlsListener> {
  let known = await stateOf(files);
  const server = createServer({
    ...(await contextOf(files)),
    ...serverBounds,
    requestCert: true,
    // No certificate is refused here: most requests need none, and whose it is only the request's path tells.
    rejectUnauthorized: false,
    handshakeTimeout: HANDSHAKE_MS,
    ALPNProtocols: ["http/1.1"],
  });
  server.prependListener("request", (request) =>
    setCertificateSource(request, () =>
      request.socket instanceof TLSSocket ? request.socket.getPeerX509Certificate()?.raw : undefined,
    ),
  );
  const reload = async () => {
    const state = await stateOf(files);
    if (state === known) return false;
    server.setSecureContext(await contextOf(files));
    known = state;
    return true;
  };
  return { server, reload };
}

/** Alone it knows whether certificate and key belong together. */
async function contextOf({ certificateFile, keyFile }: MtlsFiles): Promise<SecureContextOptions> {
  const [cert, key] = await Promise.all([readFile(certificateFile), readFile(keyFile)]);
  const options: SecureContextOptions = {
    cert,
    key,
    minVersion: "TLSv1.2",
    // A certificate is shown when the connection begins, and is the same for all of its requests. A session taken up again by
    // its ticket would show it without the key: every connection proves the key anew.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_TICKET,
  };
  createSecureContext(options);
  return options;
}

/** Changes with the files; a link that points elsewhere now is another file. */
async function stateOf({ certificateFile, keyFile }: MtlsFiles): Promise<string> {
  const states = await Promise.all([certificateFile, keyFile].map((file) => stat(file)));
  return states.map(({ ino, size, mtimeMs }) => `${ino}/${size}/${mtimeMs}`).join(" ");
}
