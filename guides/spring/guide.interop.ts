import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { missingProgram } from "../../e2e/support/programs.ts";
import { keptFolder } from "../../interop/kept-folder.ts";
import { startProgram } from "../../interop/program.ts";
import { followGuide } from "../support/guide.ts";

/** `.ci/run` keeps what it has built of. */
function isBuilt(): boolean {
  const built = path.join(keptFolder("maven"), "built");
  const sources = readdirSync(path.join(import.meta.dirname, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(import.meta.dirname, path.join(entry.parentPath, entry.name)));
  try {
    return ["pom.xml", ...sources].every(
      (file) =>
        readFileSync(path.join(built, file), "utf8") ===
        readFileSync(path.join(import.meta.dirname, file), "utf8"),
    );
  } catch {
    return false;
  }
}

followGuide({
  name: "spring",
  missing:
    missingProgram("java", ["--version"]) || (!isBuilt() && "the Spring Boot application is not built"),
  start: ({ folder, port }) => {
    const jar = path.join(keptFolder("maven"), "spring/target/spring.jar");
    const command = ["java", "-XX:TieredStopAtLevel=1", "-jar", jar] as const;
    return startProgram("Spring Boot", command, { port, folder, startsWithinMs: 120_000 });
  },
  whileSignedIn: async ({ person, address }) => {
    const { status, body } = await person.open(`${address}/editors`);
    assert.equal(status, 200, body);
    assert.deepEqual((JSON.parse(body) as { roles: string[] }).roles, ["editor"]);
    assert.equal((await fetch(`${address}/api/me`)).status, 401);
  },
});
