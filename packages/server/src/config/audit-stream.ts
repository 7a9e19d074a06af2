/** Where audit events are sent: `stdout`, `file:<path>` or `https://…`. The address may have credentials, so it is never shown. */
import { isAbsolute } from "node:path";
import type { StreamTarget } from "../core/audit/stream/destination.ts";
import { type Env, text } from "./config-values.ts";

const NAME = "SIGNET_AUDIT_STREAM";

export function auditStream(env: Env, faults: string[]): StreamTarget | undefined {
  const value = text(env, NAME);
  if (value === undefined) return undefined;
  if (value === "stdout") return { kind: "stdout" };
  if (value.startsWith("file:")) {
    const path = value.slice("file:".length).replace(/^\/\/(?=\/)/, "");
    if (isAbsolute(path)) return { kind: "file", path };
    faults.push(`${NAME} needs an absolute path after file:`);
    return undefined;
  }
  return receiver(value, faults);
}

function receiver(value: string, faults: string[]): StreamTarget | undefined {
  const url = URL.parse(value);
  const isLoopback = url && ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (!url || (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback))) {
    faults.push(`${NAME} must be stdout, file:/path or https://… (http only on loopback)`);
    return undefined;
  }
  const { username, password } = url;
  Object.assign(url, { username: "", password: "", hash: "" });
  if (username === "" && password === "") return { kind: "https", url: url.href };
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`;
  return { kind: "https", url: url.href, authorization };
}
