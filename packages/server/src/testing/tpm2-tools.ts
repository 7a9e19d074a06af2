/** Enrolment as an administrator would script it with tpm2-tools (Debian's tpm2-tools) against a TPM on loopback. */
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { makeCsr } from "@signet/protocol/csr/make-csr";
import { publicKeyOf, readSizedPublic } from "@signet/protocol/tpm/public-area";
import { nodeEnvironment } from "./node-environment.ts";

const run = promisify(execFile);

/** Why the tools cannot be tried here; false when they can, and where they must be: with CI=true their absence is a failure. */
export async function tpm2ToolsMissing(): Promise<string | false> {
  try {
    await run("tpm2_certifycreation", ["--version"]);
    return false;
  } catch {
    return "tpm2-tools are not installed: Debian's package tpm2-tools";
  }
}

/** An endorsement key as the vendor left it in the TPM: its handle, and where its certificate is. */
export interface ToolsEk {
  readonly handle: string;
  readonly certificate: string;
  /** Its template's policy asks for the endorsement hierarchy's authorization (low range, L-1). */
  readonly hasPolicy: boolean;
}

export const rsaEk: ToolsEk = { handle: "0x81010001", certificate: "0x1c00002", hasPolicy: true };
export const p384Ek: ToolsEk = { handle: "0x81010016", certificate: "0x1c00016", hasPolicy: false };

export interface Tpm2Tools {
  /** As the TPM's memory has it. */
  ekCertificate(ek: ToolsEk): Promise<Buffer>;
  /** Makes an attestation key under the EK. @returns TPM2B_PUBLIC */
  makeAk(ek: ToolsEk): Promise<Buffer>;
  /** @returns the secret. @throws as the TPM refuses */
  activate(ek: ToolsEk, credentialBlob: Buffer, encryptedSecret: Buffer): Promise<Buffer>;
  /** Makes the device's key. @returns TPM2B_PUBLIC */
  makeKey(): Promise<Buffer>;
  /** @returns DER, signed in the TPM */
  csr(): Promise<Buffer>;
  certifyCreation(qualifyingData: Buffer): Promise<{ attest: Buffer; signature: Buffer }>;
}

/** @param folder where its files go. @param port of a swtpm whose control channel is at the next one */
export function tpm2Tools(folder: string, port: number): Tpm2Tools {
  const file = (name: string) => path.join(folder, name);
  const env = { ...nodeEnvironment(), TPM2TOOLS_TCTI: `swtpm:host=127.0.0.1,port=${port}` };
  const tool = async (name: string, ...parameters: string[]) => {
    await run(`tpm2_${name}`, parameters, { env, cwd: folder, timeout: 60_000 });
    // There is no resource manager: what a tool loaded stays until the TPM has no room for another.
    await run("tpm2_flushcontext", ["-t"], { env, cwd: folder, timeout: 60_000 });
  };
  const read = (name: string) => readFile(file(name));
  return {
    async ekCertificate({ certificate }) {
      await tool("nvread", certificate, "-C", "o", "-o", "ek.der");
      return read("ek.der");
    },
    async makeAk({ handle }) {
      const kind = ["-G", "ecc", "-g", "sha256", "-s", "ecdsa"];
      await tool("createak", "-Q", "-C", handle, "-c", "ak.ctx", ...kind, "-u", "ak.pub", "-f", "tss");
      return read("ak.pub");
    },
    async activate({ handle, hasPolicy }, credentialBlob, encryptedSecret) {
      // The file of tpm2_makecredential: a magic number, a version, and the two.
      const header = Buffer.from("badcc0de00000001", "hex");
      await writeFile(file("credential"), Buffer.concat([header, credentialBlob, encryptedSecret]));
      const what = ["-Q", "-c", "ak.ctx", "-C", handle, "-i", "credential", "-o", "secret"];
      if (!hasPolicy) await tool("activatecredential", ...what);
      else {
        await tool("startauthsession", "-Q", "--policy-session", "-S", "session");
        await tool("policysecret", "-Q", "-S", "session", "-c", "e");
        await tool("activatecredential", ...what, "-P", "session:session");
        await tool("flushcontext", "session");
      }
      return read("secret");
    },
    async makeKey() {
      const attributes = "fixedtpm|fixedparent|sensitivedataorigin|userwithauth|sign";
      await tool("createprimary", "-Q", "-C", "o", "-G", "ecc256", "-c", "parent.ctx");
      const made = ["-u", "key.pub", "-r", "key.priv", "-d", "creation.hash", "-t", "creation.ticket"];
      await tool("create", "-Q", "-C", "parent.ctx", "-G", "ecc256:ecdsa-sha256", "-a", attributes, ...made);
      await tool("load", "-Q", "-C", "parent.ctx", "-u", "key.pub", "-r", "key.priv", "-c", "key.ctx");
      return read("key.pub");
    },
    async csr() {
      const spki = publicKeyOf(readSizedPublic(await read("key.pub"))).export({
        format: "der",
        type: "spki",
      });
      return makeCsr({
        spki,
        algorithm: "ecdsa-sha256",
        sign: async (bytes) => {
          await writeFile(file("request"), bytes);
          const how = ["-g", "sha256", "-s", "ecdsa", "-f", "plain"];
          await tool("sign", "-Q", "-c", "key.ctx", ...how, "-o", "request.sig", "request");
          return read("request.sig");
        },
      });
    },
    async certifyCreation(qualifyingData) {
      const what = ["-C", "ak.ctx", "-c", "key.ctx", "-d", "creation.hash", "-t", "creation.ticket"];
      const answer = ["-q", qualifyingData.toString("hex"), "-o", "attest.sig", "--attestation", "attest"];
      await tool("certifycreation", "-Q", ...what, "-g", "sha256", ...answer, "-f", "tss");
      return { attest: await read("attest"), signature: await read("attest.sig") };
    },
  };
}
