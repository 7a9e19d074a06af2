// A reporter for `node --test`: prints one line per test that did not run or may fail unnoticed (skipped, todo), and a last
// one when the run has come to its end.
import path from "node:path";
import { repositoryRoot } from "../source-files.ts";

type TestEvent = {
  type: string;
  data: { name?: string; file?: string; line?: number; skip?: string | boolean; todo?: string | boolean };
};

/** The last line. */
export const END_OF_RUN = "end of the run";

/** `file:line name`, and why when the test says so, of each such test. */
async function* skippedTests(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of source) {
    // Each file has a summary too.
    if (type === "test:summary" && data.file === undefined) yield `${END_OF_RUN}\n`;
    if (type !== "test:pass" && type !== "test:fail") continue;
    if (data.skip === undefined && data.todo === undefined) continue;
    const reason = [data.skip, data.todo].find((why) => typeof why === "string" && why !== "");
    const place = `${path.relative(repositoryRoot, data.file ?? "")}:${data.line}`;
    yield `${place} ${data.name}${reason === undefined ? "" : `: ${reason}`}\n`;
  }
}

// biome-ignore lint/style/noDefaultExport: Node takes a reporter from the module's default export
export default skippedTests;
