/** Programs in Go that their own go.mod is enough for. */
import { spawnSync } from "node:child_process";

/** Versions of go-oidc and x/oauth2 that the Go of Debian 12 builds: it fetches no newer toolchain by itself. */
const OLDEST_GO = 19;

export const missingGo = (oldest = OLDEST_GO): string | false => {
  const { stdout } = spawnSync("go", ["version"], { encoding: "utf8" });
  const [, minor = "0"] = /go1\.(\d+)/.exec(stdout ?? "") ?? [];
  return Number(minor) < oldest && `Go 1.${oldest} is not installed`;
};
