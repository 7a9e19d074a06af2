/** Debian's Rails with omniauth_openid_connect and the printed files in their places. */
import { spawnSync } from "node:child_process";
import { mkdir, rename } from "node:fs/promises";
import path from "node:path";
import { systemPath } from "../../e2e/support/programs.ts";
import { type RunningProgram, startProgram } from "../program.ts";
import type { StackFiles } from "./stack-files.ts";

const gems = ["rails", "omniauth_openid_connect", "omniauth/rails_csrf_protection", "rack/handler/puma"];

const printed = [
  "config/initializers/omniauth.rb",
  "config/routes.rb",
  "app/controllers/sessions_controller.rb",
];

export const missingRails = (): string | false => {
  const env = { ...process.env, PATH: systemPath() };
  const { status } = spawnSync("ruby", [...gems.map((gem) => `-r${gem}`), "-e", ""], { env });
  return status !== 0 && "Rails with omniauth_openid_connect is not installed";
};

export async function startRails({ folder, port }: StackFiles): Promise<RunningProgram> {
  for (const file of printed) {
    await mkdir(path.join(folder, path.dirname(file)), { recursive: true });
    await rename(path.join(folder, path.basename(file)), path.join(folder, file));
  }
  const command = ["ruby", path.join(import.meta.dirname, "rails/app.rb"), String(port)] as const;
  return startProgram("Rails", command, { port, folder, signal: "SIGTERM", startsWithinMs: 90_000 });
}
