import assert from "node:assert/strict";
import { missingGoProgram, oauth2ProxyCommand } from "../../interop/clients/go-programs.ts";
import { startProgram } from "../../interop/program.ts";
import { followGuide } from "../support/guide.ts";
import { SESSION_MS, startBehind, waitUntilOld } from "../support/programs.ts";

followGuide({
  name: "oauth2-proxy",
  missing: missingGoProgram("oauth2-proxy"),
  start: (at) =>
    startBehind(at, async (appPort) => {
      const where = [`--upstream=http://127.0.0.1:${appPort}`, `--cookie-refresh=${SESSION_MS}ms`];
      // One of the person's: whoever is not in it is not let in.
      const command = oauth2ProxyCommand(...where, "--allowed-group=staff");
      const server = await startProgram("oauth2-proxy", command, at);
      return { ...server, expireToken: waitUntilOld };
    }),
  whileSignedIn: async ({ address }) => {
    assert.equal((await fetch(`${address}/secure/`)).status, 403, "nobody is let in without a session");
  },
});
