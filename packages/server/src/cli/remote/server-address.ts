/** The address of `--server`: tokens are sent there, so it must be HTTPS, or this machine. */
import { UsageError } from "../command.ts";

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** @returns the base URL without a trailing slash. @throws UsageError */
export function readServerAddress(given: string): string {
  const url = URL.parse(given);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UsageError(`--server ${given}: must be a URL such as https://id.example.com`);
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw new UsageError("--server must be a plain URL, without a user name, query or fragment");
  if (url.protocol === "http:" && !LOOPBACK.has(url.hostname))
    throw new UsageError(`--server ${given}: must begin with https://, because a token is sent there`);
  return url.href.replace(/\/+$/, "");
}
