/** Software TPMs for tests: swtpm with endorsement certificates of a throw-away vendor CA (Debian's swtpm, swtpm-tools). */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";
import { promisify } from "node:util";
import { eventually } from "@signet/server/testing/eventually";

const run = promisify(execFile);

/** Why tests with swtpm are skipped; false when they run. */
export async function swtpmMissing(): Promise<string | false> {
  try {
    await run("sh", ["-c", "command -v swtpm && command -v swtpm_setup && command -v swtpm_localca"]);
    return false;
  } catch {
    return "swtpm is not installed: Debian's packages swtpm and swtpm-tools";
  }
}

export interface SoftwareTpm {
  /** As in `--tpm`. */
  readonly location: string;
  /** PEM files: the vendor's root and issuing CA. */
  readonly vendorFiles: readonly string[];
  /** Ends the process; its state stays in its folder. */
  stop(): Promise<void>;
}

export interface SoftwareTpmOptions {
  /** Created, for state and socket; must be a short path. */
  readonly folder: string;
  /** The vendor's certificates and keys: TPMs that share this folder share a vendor. */
  readonly vendorFolder: string;
  /** A port on loopback instead of a socket in the folder. */
  readonly port?: number;
  /** Opens a control channel on the next port, as tpm2-tools needs it. */
  readonly hasControl?: boolean;
}

export async function startSwtpm(options: SoftwareTpmOptions): Promise<SoftwareTpm> {
  const { folder, vendorFolder, port } = options;
  const state = path.join(folder, "state");
  await mkdir(state, { recursive: true });
  await mkdir(vendorFolder, { recursive: true });
  await provision(options, state);
  const socket = path.join(folder, "tpm.sock");
  const where =
    port === undefined ? `type=unixio,path=${socket}` : `type=tcp,port=${port},bindaddr=127.0.0.1`;
  const control =
    port !== undefined && options.hasControl
      ? ["--ctrl", `type=tcp,port=${port + 1},bindaddr=127.0.0.1`]
      : [];
  const flags = ["--flags", "not-need-init,startup-clear", "--server", where, ...control];
  const child = spawn("swtpm", ["socket", "--tpm2", "--tpmstate", `dir=${state}`, ...flags], {
    stdio: "ignore",
  });
  await listening(child, port === undefined ? { path: socket } : { host: "127.0.0.1", port });
  const files = ["swtpm-localca-rootca-cert.pem", "issuercert.pem"];
  return {
    location: port === undefined ? `unix:${socket}` : `tcp:127.0.0.1:${port}`,
    vendorFiles: files.map((file) => path.join(vendorFolder, file)),
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** RSA-2048 and P-384 endorsement keys at persistent handles, with certificates in NV memory. */
async function provision({ folder, vendorFolder }: SoftwareTpmOptions, state: string): Promise<void> {
  const file = (name: string) => path.join(folder, name);
  const inVendor = (name: string) => path.join(vendorFolder, name);
  const authority = {
    statedir: vendorFolder,
    signingkey: inVendor("signkey.pem"),
    issuercert: inVendor("issuercert.pem"),
    certserial: inVendor("certserial"),
  };
  const setup = {
    create_certs_tool: (await run("sh", ["-c", "command -v swtpm_localca"])).stdout.trim(),
    create_certs_tool_config: file("localca.conf"),
    create_certs_tool_options: file("localca.options"),
    active_pcr_banks: "sha256",
  };
  const lines = (values: object) =>
    Object.entries(values)
      .map(([name, value]) => `${name} = ${value}\n`)
      .join("");
  await writeFile(file("localca.conf"), lines(authority));
  await writeFile(file("localca.options"), "");
  await writeFile(file("setup.conf"), lines(setup));
  const what = ["--create-ek-cert", "--lock-nvram", "--overwrite"];
  const options = ["--tpm2", "--tpm-state", state, "--config", file("setup.conf"), ...what];
  await run("swtpm_setup", [...options, "--vmid", path.basename(folder)], { timeout: 60_000 });
}

async function listening(
  child: ChildProcess,
  place: { path: string } | { host: string; port: number },
): Promise<void> {
  const isListening = async () => {
    if (child.exitCode !== null) throw new Error(`swtpm ended with ${child.exitCode}`);
    const socket = connect(place);
    const isConnected = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    return isConnected;
  };
  await eventually("swtpm listens", isListening, 60_000);
}
