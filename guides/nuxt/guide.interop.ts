import { missingNpmClients } from "../../interop/clients/node-program.ts";
import { followGuide } from "../support/guide.ts";
import { startNuxtGuide } from "../support/nuxt-guide.ts";

followGuide({ name: "nuxt", missing: missingNpmClients(), start: startNuxtGuide });
