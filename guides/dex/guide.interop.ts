import { dexCommand, missingGoProgram } from "../../interop/clients/go-programs.ts";
import { missingNpmClients } from "../../interop/clients/node-program.ts";
import { startProgram } from "../../interop/program.ts";
import { followGuide, startNodeGuide } from "../support/guide.ts";
import { stopWith } from "../support/programs.ts";

// With its storage in memory this dex waits forever at the second renewal (dexidp/dex#5017): the test renews once.
followGuide({
  name: "dex",
  missing: missingGoProgram("dex") || missingNpmClients(),
  broker: "127.0.0.1:5556",
  start: async (at) => {
    const dex = await startProgram("dex", dexCommand, { port: at.brokerPort, folder: at.folder });
    return stopWith(dex, () => startNodeGuide(at));
  },
});
