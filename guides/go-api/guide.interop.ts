import { missingGo } from "../../interop/clients/go-program.ts";
import { startProgram } from "../../interop/program.ts";
import { followApiGuide } from "../support/api-guide.ts";

followApiGuide({
  name: "go-api",
  missing: missingGo(),
  start: ({ folder, port }) => {
    const script = "set -a; . ./.env; go build -o guide . && exec ./guide";
    return startProgram("the API", ["sh", "-c", script], { port, folder });
  },
});
