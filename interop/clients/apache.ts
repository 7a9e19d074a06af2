/** Debian's Apache with mod_auth_openidc, as anybody, in front of an application that answers the headers that it receives. */
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { missingProgram } from "../../e2e/support/programs.ts";
import { startProgram } from "../program.ts";
import type { StackFiles } from "./stack-files.ts";
import { startUpstream } from "./upstream.ts";

const MODULES = "/usr/lib/apache2/modules";
const modules = "mpm_event authn_core authz_core authz_user headers proxy proxy_http auth_openidc".split(" ");

export const missingApache = (): string | false =>
  missingProgram("apache2", ["-v"]) ||
  (!existsSync(`${MODULES}/mod_auth_openidc.so`) && "mod_auth_openidc is not installed");

/** A configuration that needs no rights and includes the printed file. www-data counts where root runs the tests. */
const configuration = ({ folder, port }: StackFiles, upstream: number): string => `ServerRoot "${folder}"
ServerName localhost
Listen 127.0.0.1:${port}
PidFile httpd.pid
DefaultRuntimeDir .
ErrorLog error.log
User www-data
Group www-data
${modules.map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`).join("\n")}
Include auth_openidc.conf
RequestHeader set X-Remote-User expr=%{REMOTE_USER}
ProxyPass "/" "http://127.0.0.1:${upstream}/"
`;

export async function startApache(files: StackFiles) {
  const { port: upstream, close } = await startUpstream();
  const file = path.join(files.folder, "httpd.conf");
  await writeFile(file, configuration(files, upstream));
  try {
    // One process alone.
    const command = ["apache2", "-X", "-d", files.folder, "-f", file] as const;
    const options = { port: files.port, folder: files.folder, signal: "SIGTERM" } as const;
    const { output, stop } = await startProgram("Apache", command, options);
    const log = path.join(files.folder, "error.log");
    const told = () => `${output()}${existsSync(log) ? readFileSync(log, "utf8") : ""}`;
    return { output: told, stop: () => stop().finally(close) };
  } catch (error) {
    close();
    throw error;
  }
}
