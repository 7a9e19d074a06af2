import { missingGo } from "../../interop/clients/go-program.ts";
import { followCliGuide } from "../support/cli-guide.ts";

followCliGuide({ name: "go-cli", missing: missingGo(), build: "go build -o guide .", run: "./guide" });
