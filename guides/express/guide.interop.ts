import { followGuide, startSdkGuide } from "../support/guide.ts";

followGuide({ name: "express", missing: false, start: startSdkGuide });
