import { followGuide, startSdkGuide } from "../support/guide.ts";

followGuide({ name: "fastify", missing: false, start: startSdkGuide });
