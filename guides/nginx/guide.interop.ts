import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { missingProgram } from "../../e2e/support/programs.ts";
import { missingGoProgram, oauth2ProxyCommand } from "../../interop/clients/go-programs.ts";
import { startProgram } from "../../interop/program.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { followGuide } from "../support/guide.ts";
import { SESSION_MS, startBehind, stopWith, waitUntilOld } from "../support/programs.ts";

followGuide({
  name: "nginx",
  missing: missingProgram("nginx", ["-v"]) || missingGoProgram("oauth2-proxy"),
  start: (at) =>
    startBehind(at, async (appPort) => {
      const proxyPort = await freePort();
      // The ports of the README may be taken here.
      const file = path.join(at.folder, "nginx.conf");
      const written = await readFile(file, "utf8");
      const ports: Readonly<Record<string, number>> = { "3000": at.port, "4180": proxyPort, "8000": appPort };
      await writeFile(
        file,
        written.replaceAll(/(?<=127\.0\.0\.1:)\d+/g, (port) => String(ports[port])),
      );
      const where = [`--http-address=127.0.0.1:${proxyPort}`, `--cookie-refresh=${SESSION_MS}ms`];
      const proxy = await startProgram("oauth2-proxy", oauth2ProxyCommand(...where), {
        ...{ folder: at.folder, port: proxyPort },
      });
      return stopWith(proxy, async () => {
        const command = ["nginx", "-p", at.folder, "-e", "stderr", "-c", file] as const;
        const nginx = await startProgram("nginx", command, { ...at, signal: "SIGTERM" });
        return { ...nginx, expireToken: waitUntilOld };
      });
    }),
  whileSignedIn: async ({ address }) => {
    const { status, headers } = await fetch(`${address}/secure/`, { redirect: "manual" });
    assert.equal(status, 302, "nobody is let in without a session");
    assert.match(headers.get("location") ?? "", /\/authorize\?/);
    assert.equal((await fetch(`${address}/oauth2/auth`)).status, 404, "its answer has tokens");
  },
});
