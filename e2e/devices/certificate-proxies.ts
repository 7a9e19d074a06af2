/** HAProxy and nginx as operators set them up before the listener for proxies: they ask for certificates and hand them on. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import os from "node:os";
import path from "node:path";
import { eventually } from "../../packages/server/src/testing/eventually.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { guardProcess } from "../support/process-guard.ts";
import { missingProgram, systemPath } from "../support/programs.ts";

export interface CertificateProxy {
  readonly url: string;
  /** What it has written. */
  output(): string;
  stop(): Promise<void>;
}

export interface ProxyInput {
  /** PEM: its own certificate and key. */
  readonly own: { readonly cert: string; readonly key: string };
  /** PEM: what it tells clients that it knows; whether a certificate is good is not its to say. */
  readonly authorities: string;
  /** Of the listener for proxies. */
  readonly port: number;
}

export type ProxyName = "haproxy" | "nginx";

/** Why it cannot be tried here; false when it can. */
export const missingProxy = (name: ProxyName): string | false => missingProgram(name, ["-v"]);

/** Listens on 127.0.0.1 with TLS. @throws with its own words when it does not */
export async function startProxy(name: ProxyName, input: ProxyInput): Promise<CertificateProxy> {
  const folder = await mkdtemp(path.join(os.tmpdir(), `signet-${name}-`));
  const port = await freePort();
  const at = (file: string) => path.join(folder, file);
  await writeFile(at("own.pem"), `${input.own.cert}${input.own.key}`, { mode: 0o600 });
  await writeFile(at("devices.pem"), input.authorities);
  const configuration = { haproxy: haproxyConfiguration, nginx: nginxConfiguration }[name];
  await writeFile(at("proxy.conf"), configuration({ folder, port, target: input.port }));
  await mkdir(at("temporary"));
  const parameters = {
    haproxy: ["-db", "-f", at("proxy.conf")],
    nginx: ["-p", folder, "-c", at("proxy.conf"), "-e", "stderr"],
  }[name];
  const child = spawn(name, parameters, { stdio: ["ignore", "pipe", "pipe"], env: { PATH: systemPath() } });
  guardProcess(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const stop = async () => {
    await end(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await listening(child, port);
  } catch {
    await stop();
    throw new Error(`${name} did not start: ${output}`);
  }
  return { url: `https://127.0.0.1:${port}`, output: () => output, stop };
}

interface Place {
  readonly folder: string;
  readonly port: number;
  readonly target: number;
}

/** As in docs/operations.md. */
const haproxyConfiguration = ({ folder, port, target }: Place): string => `
defaults
  mode http
  timeout client 30s
  timeout server 30s
  timeout connect 5s
frontend devices
  bind 127.0.0.1:${port} ssl crt ${folder}/own.pem verify optional ca-file ${folder}/devices.pem crt-ignore-err all ca-ignore-err all
  http-request del-header Client-Cert
  http-request set-header Client-Cert :%[ssl_c_der,base64]: if { ssl_c_used }
  http-request set-header X-Forwarded-For %[src]
  default_backend signet
backend signet
  server signet 127.0.0.1:${target}
`;

const nginxConfiguration = ({ folder, port, target }: Place): string => `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/temporary/body;
  proxy_temp_path ${folder}/temporary/proxy;
  fastcgi_temp_path ${folder}/temporary/fastcgi;
  uwsgi_temp_path ${folder}/temporary/uwsgi;
  scgi_temp_path ${folder}/temporary/scgi;
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${folder}/own.pem;
    ssl_certificate_key ${folder}/own.pem;
    ssl_verify_client optional_no_ca;
    location / {
      proxy_set_header Client-Cert $ssl_client_escaped_cert;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_pass http://127.0.0.1:${target};
    }
  }
}
`;

const START_TIMEOUT_MS = 60_000;

async function listening(child: ChildProcess, port: number): Promise<void> {
  const isListening = async () => {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error("the proxy ended");
    const socket = connect(port, "127.0.0.1");
    const isConnected = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    return isConnected;
  };
  await eventually(`port ${port} is open`, isListening, START_TIMEOUT_MS);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}
