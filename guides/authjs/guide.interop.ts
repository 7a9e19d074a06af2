import { missingNpmClients } from "../../interop/clients/node-program.ts";
import { followGuide } from "../support/guide.ts";
import { startNextGuide } from "../support/next-guide.ts";

followGuide({ name: "authjs", missing: missingNpmClients(), start: (at) => startNextGuide(at, false) });
