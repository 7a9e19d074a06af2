/** Programs of the system that some tests need beside what npm brings. */
import { spawnSync } from "node:child_process";

/** Debian has servers where only root looks. */
export const systemPath = (): string => `${process.env["PATH"]}:/usr/sbin:/usr/local/sbin`;

/** Why a test that needs it is skipped; false when it is there. @param tried parameters with which it ends at once and well */
export function missingProgram(name: string, tried: readonly string[]): string | false {
  const { status } = spawnSync(name, tried, {
    env: { PATH: systemPath() },
    stdio: "ignore",
    timeout: 60_000,
  });
  return status === 0 ? false : `${name} is not installed`;
}
