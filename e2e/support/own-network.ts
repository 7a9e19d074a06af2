/** A network of a test's own: a loopback in which packets can be dropped, and nobody else's. It ends with its last process. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { systemPath } from "./programs.ts";

const INSIDE = "SIGNET_IN_OWN_NETWORK";

/** Who is not root is root in a namespace of users, where the system allows that. */
const unshare = ["--net", ...(process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"])];

export const isInOwnNetwork = process.env[INSIDE] === "1";

/** Why there can be none; false when there can. */
export function missingNetwork(): string | false {
  const tried = "ip link set lo up && iptables -L -n";
  const { status } = spawnSync("unshare", [...unshare, "sh", "-c", tried], {
    env: { PATH: systemPath() },
    stdio: "ignore",
  });
  return status === 0 ? false : "a network of its own needs unshare, ip, iptables and the right to use them";
}

/** Runs a file's tests once more, in there. @returns what they said, and whether all went well */
export async function runInOwnNetwork(file: string): Promise<{ output: string; code: number | null }> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const node = ["exec", '"$@"'].join(" ");
  const start = ["sh", "-c", `ip link set lo up && ${node}`, "own-network"];
  const tests = [process.execPath, "--test", "--test-reporter=spec", file];
  const child = spawn("unshare", [...unshare, "--kill-child", ...["--fork", ...start], ...tests], {
    env: { ...env, PATH: systemPath(), [INSIDE]: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const [code] = (await once(child, "close")) as [number | null];
  return { output, code };
}

/** @param rule of the chain INPUT. @returns what takes it back */
export function addRule(...rule: readonly string[]): () => void {
  const change = (how: "-A" | "-D") => {
    const { status, stderr } = spawnSync("iptables", ["-w", how, "INPUT", ...rule], {
      env: { PATH: systemPath() },
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`iptables: ${stderr}`);
  };
  change("-A");
  return () => change("-D");
}
