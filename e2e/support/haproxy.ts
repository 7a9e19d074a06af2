/** HAProxy before a test's servers, as docs/operations.md has it. */
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type RunningProgram, startProgram } from "../../interop/program.ts";

export interface ProxyOptions {
  readonly folder: string;
  readonly port: number;
  readonly mode: "tcp" | "http";
  /** Of the `listen` section: how servers are asked, and which there are. */
  readonly lines: readonly string[];
}

/** @returns a proxy that listens, and is told where its sockets are by `lines` alone */
export async function startHaproxy({ folder, port, mode, lines }: ProxyOptions): Promise<RunningProgram> {
  const config = path.join(folder, `haproxy-${port}.cfg`);
  const times = ["timeout connect 5s", "timeout client 10m", "timeout server 10m"];
  const all = ["defaults", `  mode ${mode}`, ...times.map((line) => `  ${line}`)];
  all.push("listen servers", `  bind 127.0.0.1:${port}`, ...lines.map((line) => `  ${line}`));
  await writeFile(config, `${all.join("\n")}\n`);
  return startProgram("haproxy", ["haproxy", "-db", "-f", config], { port });
}
