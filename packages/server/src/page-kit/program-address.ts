/** Where the libraries for applications and the programs for other machines are downloaded (features/downloads), and the line that installs one. */

export const programs = ["client-sdk", "nextjs", "react", "signing-agent", "device-client"] as const;
export type Program = (typeof programs)[number];

/** As npm names what it packs. @param version of the server: all packages of a release have the same */
export const programFileName = (program: Program, version: string): string =>
  `signet-${program}-${version}.tgz`;

export interface ProgramSource {
  readonly baseUrl: string;
  readonly version: string;
}

const OPTIONS: Readonly<Record<Program, readonly string[]>> = {
  "client-sdk": [],
  nextjs: [],
  react: [],
  "signing-agent": ["--global"],
  "device-client": ["--global"],
};

export const programAddress = (program: Program, { baseUrl, version }: ProgramSource): string =>
  `${baseUrl}/downloads/${programFileName(program, version)}`;

/** Libraries go into an application, also an empty folder; the programs are installed for their machine. */
export function installLine(program: Program, source: ProgramSource, others: readonly string[] = []): string {
  return ["npm install", ...OPTIONS[program], programAddress(program, source), ...others].join(" ");
}
