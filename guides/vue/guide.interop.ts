import { missingNpmClients } from "../../interop/clients/node-program.ts";
import { followGuide, startNodeGuide } from "../support/guide.ts";

followGuide({
  name: "vue",
  missing: missingNpmClients(),
  start: (at) => startNodeGuide(at, "serve.js"),
  isInBrowser: true,
});
