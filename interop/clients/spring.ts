/** Spring Boot with both printed files: its client in application.yml, its resource server in the other. */
import { existsSync, readFileSync } from "node:fs";
import { rename } from "node:fs/promises";
import path from "node:path";
import { missingProgram } from "../../e2e/support/programs.ts";
import { keptFolder } from "../kept-folder.ts";
import { type RunningProgram, startProgram } from "../program.ts";
import type { StackFiles } from "./stack-files.ts";

const program = path.join(keptFolder("maven"), "spring/target/spring.jar");
const files = ["pom.xml", "src/main/java/interop/Application.java"];

/** `.ci/run` keeps what it has built of. */
export const missingSpring = (): string | false =>
  missingProgram("java", ["--version"]) || (!isBuilt() && "the Spring Boot application is not built");

const isBuilt = (): boolean =>
  files.every((file) => {
    const built = path.join(keptFolder("maven"), "built", file);
    const source = path.join(import.meta.dirname, "spring", file);
    return existsSync(built) && readFileSync(built, "utf8") === readFileSync(source, "utf8");
  });

export async function startSpring({ folder, port }: StackFiles): Promise<RunningProgram> {
  await rename(
    path.join(folder, "application.yml of an API (resource server)"),
    path.join(folder, "api.yml"),
  );
  const command = [
    "java",
    "-XX:TieredStopAtLevel=1",
    "-jar",
    program,
    "--spring.config.additional-location=file:./api.yml",
  ] as const;
  return startProgram("Spring Boot", command, { port, folder, startsWithinMs: 120_000 });
}
