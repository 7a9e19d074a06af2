import { missingGo } from "../../interop/clients/go-program.ts";
import { startProgram } from "../../interop/program.ts";
import { followGuide } from "../support/guide.ts";

followGuide({
  name: "go",
  missing: missingGo(),
  // A program of Go runs a child that outlives it when it is killed: the built one is started by itself.
  start: ({ folder, port }) =>
    startProgram("the Go program", ["sh", "-c", "set -a; . ./.env; go build -o guide . && exec ./guide"], {
      port,
      folder,
    }),
});
