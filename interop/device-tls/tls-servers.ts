/** TLS 1.3 servers of others that require a client certificate: OpenSSL, GnuTLS, BoringSSL and Go's crypto/tls. */
import { type ChildProcessWithoutNullStreams, execFileSync } from "node:child_process";
import path from "node:path";
import type { Readable } from "node:stream";
import type { TLSSocket } from "node:tls";
import { fileURLToPath } from "node:url";
import { missingProgram } from "../../e2e/support/programs.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { startProgram } from "../program.ts";

/** PEM files. */
export interface ServerFiles {
  readonly folder: string;
  readonly key: string;
  readonly certificate: string;
  /** The authority of client certificates. */
  readonly clientCa: string;
}

export interface ForeignServer {
  readonly port: number;
  /** What it printed so far: the subjects of the certificates that it accepted among it. */
  output(): string;
  /** Sends a line each way. @returns what the client received */
  exchange(client: TLSSocket, line: string): Promise<string>;
  stop(): Promise<void>;
}

interface ServerKind {
  readonly name: string;
  /** Why it can't be tested here; false when it can. */
  readonly missing: string | false;
  /** Options that the same handshake is repeated with, by what they bring about. */
  readonly variants: Readonly<Record<string, readonly string[]>>;
  /** Program and parameters. */
  command(files: ServerFiles, port: number): readonly [string, ...string[]];
  exchange(server: ChildProcessWithoutNullStreams, client: TLSSocket, line: string): Promise<string>;
  /** BoringSSL's tool accepts a certificate of any authority. */
  readonly verifiesChain: boolean;
}

const echo: ServerKind["exchange"] = (_, client, line) => {
  const received = nextLine(client);
  client.write(`${line}\n`);
  return received;
};

const SECOND_HELLO = "a curve that takes a second hello";

export const serverKinds: readonly ServerKind[] = [
  {
    name: "OpenSSL",
    missing: missingProgram("openssl", ["version"]),
    variants: {
      "AES-128": ["-ciphersuites", "TLS_AES_128_GCM_SHA256"],
      "AES-256": ["-ciphersuites", "TLS_AES_256_GCM_SHA384"],
      ChaCha20: ["-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256"],
      [SECOND_HELLO]: ["-groups", "P-521"],
    },
    command: ({ key, certificate, clientCa }, port) => [
      "openssl",
      ...["s_server", "-accept", `127.0.0.1:${port}`, "-tls1_3", "-rev", "-key", key, "-cert", certificate],
      ...["-CAfile", clientCa, "-Verify", "1", "-verify_return_error"],
    ],
    exchange: async (server, client, line) => [...(await echo(server, client, line))].reverse().join(""),
    verifiesChain: true,
  },
  {
    name: "GnuTLS",
    missing: missingProgram("gnutls-serv", ["--version"]),
    variants: {
      "AES-128": gnutlsPriority("-CIPHER-ALL:+AES-128-GCM"),
      "AES-256": gnutlsPriority("-CIPHER-ALL:+AES-256-GCM"),
      ChaCha20: gnutlsPriority("-CIPHER-ALL:+CHACHA20-POLY1305"),
      [SECOND_HELLO]: gnutlsPriority("-GROUP-ALL:+GROUP-SECP521R1"),
    },
    command: ({ key, certificate, clientCa }, port) => [
      "gnutls-serv",
      ...["--echo", "--port", String(port), "--x509keyfile", key, "--x509certfile", certificate],
      ...["--x509cafile", clientCa, "--require-client-cert", "--verify-client-cert"],
    ],
    exchange: echo,
    verifiesChain: true,
  },
  {
    name: "BoringSSL",
    missing: missingProgram("bssl-tool", ["rand", "-hex", "1"]),
    variants: { "its own choice": [], [SECOND_HELLO]: ["-curves", "P-521"] },
    command: ({ key, certificate }, port) => [
      "bssl-tool",
      ...["server", "-accept", String(port), "-min-version", "tls1.3", "-key", key, "-cert", certificate],
      "-require-any-client-cert",
    ],
    // It hands on what comes from its own terminal.
    exchange: async (server, client, line) => {
      const received = nextLine(server.stdout);
      client.write(`${line}\n`);
      const text = await received;
      const answer = nextLine(client);
      server.stdin.write(`${text}\n`);
      return answer;
    },
    verifiesChain: false,
  },
  {
    name: "Go",
    missing: missingProgram("go", ["version"]),
    variants: { "its own choice": [], [SECOND_HELLO]: ["-p521"] },
    command: ({ folder, key, certificate, clientCa }, port) => [
      buildGoServer(folder),
      ...["-address", `127.0.0.1:${port}`, "-key", key, "-cert", certificate, "-ca", clientCa],
    ],
    exchange: echo,
    verifiesChain: true,
  },
];

function gnutlsPriority(changes: string): string[] {
  return ["--priority", `NORMAL:-VERS-ALL:+VERS-TLS1.3:${changes}`];
}

/** Needs the standard library alone. */
function buildGoServer(folder: string): string {
  const program = path.join(folder, "tls-server");
  const source = fileURLToPath(new URL("tls-server.go", import.meta.url));
  execFileSync("go", ["build", "-o", program, source], {
    env: { ...process.env, GOTOOLCHAIN: "local", GO111MODULE: "off" },
    timeout: 120_000,
  });
  return program;
}

/** @throws Error with the server's own words when it does not listen within 15 seconds */
export async function startForeignServer(
  kind: ServerKind,
  files: ServerFiles,
  variant: readonly string[],
): Promise<ForeignServer> {
  const port = await freePort();
  const [program, ...parameters] = kind.command(files, port);
  const server = await startProgram(kind.name, [program, ...parameters, ...variant], { port });
  return {
    port,
    output: server.output,
    exchange: (client, line) => kind.exchange(server.child, client, line),
    stop: server.stop,
  };
}

/** @throws Error when the stream ends first */
function nextLine(stream: Readable): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let text = "";
  const read = (bytes: Buffer) => {
    text += bytes.toString("latin1");
    if (text.includes("\n")) resolve(text.trimEnd());
  };
  const fail = () => reject(new Error(`closed after ${text.length} characters`));
  stream.on("data", read).once("close", fail);
  return promise.finally(() => stream.off("data", read).off("close", fail));
}
