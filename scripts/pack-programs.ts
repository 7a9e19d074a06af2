/** Packs the packages that the service offers to download: the client SDK, those for Next.js and React, the signing agent and the device client. */
import { mkdir } from "node:fs/promises";
import { runCommand } from "./run-command.ts";

export const offeredPackages = [
  ...["@signet/client-sdk", "@signet/nextjs", "@signet/react"],
  ...["@signet/signing-agent", "@signet/device-client"],
];

/**
 * One `.tgz` each, with what it needs of this repository inside. npm leaves out times and users: the same build gives the same bytes.
 * @param built folders by package name
 */
export async function packPrograms(built: ReadonlyMap<string, string>, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const dists = offeredPackages.flatMap((name) => built.get(name) ?? []);
  const { exitCode, stderr } = await runCommand("npm", [
    "pack",
    ...dists,
    "--pack-destination",
    folder,
    "--offline",
    "--ignore-scripts",
    "--silent",
  ]);
  if (exitCode !== 0) throw new Error(`npm can't pack: ${stderr}`);
}
