import { missingNpmClients } from "../../interop/clients/node-program.ts";
import { followGuide } from "../support/guide.ts";
import { startNextGuide } from "../support/next-guide.ts";

followGuide({ name: "nextjs", missing: missingNpmClients(), start: startNextGuide });
