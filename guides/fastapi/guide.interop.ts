import { missingPython, python } from "../../interop/clients/python-program.ts";
import { startProgram } from "../../interop/program.ts";
import { followGuide } from "../support/guide.ts";

followGuide({
  name: "fastapi",
  missing: missingPython("fastapi, uvicorn, itsdangerous"),
  start: ({ folder, port }) => {
    const command = ["-Bm", "uvicorn", "main:app", "--port", String(port), "--env-file", ".env"];
    return startProgram("FastAPI", [python, ...command], { port, folder });
  },
});
