import { followGuide, startNodeGuide } from "../support/guide.ts";

followGuide({
  name: "react",
  missing: false,
  start: (at) => startNodeGuide(at, "serve.js"),
  isInBrowser: true,
});
