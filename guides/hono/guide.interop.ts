import { missingNpmClients } from "../../interop/clients/node-program.ts";
import { followGuide, startSdkGuide } from "../support/guide.ts";

followGuide({ name: "hono", missing: missingNpmClients(), start: startSdkGuide });
