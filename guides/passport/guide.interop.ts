import { missingNpmClients } from "../../interop/clients/node-program.ts";
import { followGuide, startNodeGuide } from "../support/guide.ts";

followGuide({ name: "passport", missing: missingNpmClients(), start: (at) => startNodeGuide(at) });
