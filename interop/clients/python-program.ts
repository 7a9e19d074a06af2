/** Python programs that listen, with what `.ci/run` installs (requirements.txt), beside the printed files. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { keptFolder } from "../kept-folder.ts";
import { type RunningProgram, startProgram } from "../program.ts";
import type { StackFiles } from "./stack-files.ts";

export const python = path.join(keptFolder("python"), "bin/python");

export const missingPython = (module: string): string | false =>
  (!existsSync(python) || spawnSync(python, ["-c", `import ${module}`]).status !== 0) &&
  `${module} is not installed`;

/** A program of ours in the working folder of the printed files. */
export const startPythonProgram =
  (file: "django/allauth_project.py" | "pyoidc/app.py" | "social/project.py") =>
  ({ folder, port }: StackFiles): Promise<RunningProgram> =>
    startProgram(file, [python, "-B", path.join(import.meta.dirname, file), String(port)], { port, folder });
