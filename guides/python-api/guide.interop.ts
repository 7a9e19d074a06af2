import { missingPython, python } from "../../interop/clients/python-program.ts";
import { startProgram } from "../../interop/program.ts";
import { followApiGuide } from "../support/api-guide.ts";

followApiGuide({
  name: "python-api",
  missing: missingPython("fastapi, uvicorn, httpx, jwt"),
  start: ({ folder, port }) => {
    const command = ["-Bm", "uvicorn", "main:app", "--port", String(port), "--env-file", ".env"];
    return startProgram("the API", [python, ...command], { port, folder });
  },
});
