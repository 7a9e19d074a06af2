/** `signet-device attest`: the device vouches for the key of an application on it (draft-ietf-oauth-attestation-based-client-auth). */
import { createPublicKey, type KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { optionalText, requiredText, textOption, UsageError, type Values } from "@signet/cli-runtime/command";
import { bothNumbers } from "@signet/protocol/certificates/certificate-signature";
import { exitCodes } from "../exit-codes.ts";
import type { DeviceKey } from "../keys/open-device-key.ts";
import { identityOf, readEnrolledDevice } from "../state/enrolled-device.ts";
import { commonOptions, type DeviceCommand, readSettings } from "./settings.ts";

const DEFAULT_SECONDS = 3_600;
/** The service accepts none that lasts longer. */
const MAX_SECONDS = 86_400;

export const attestCommand: DeviceCommand = {
  name: "attest",
  summary: "vouch for an application's key with the device's own (attest_jwt_client_auth)",
  usage: "--client-id ID --public-key FILE [--lifetime SECONDS]",
  options: {
    "client-id": textOption("ID", "the application that the key belongs to", { required: true }),
    "public-key": textOption("FILE", "its public key (P-256, RSA or Ed25519): PEM, or a JWK", {
      required: true,
    }),
    lifetime: textOption("SECONDS", `at most ${MAX_SECONDS} (default: ${DEFAULT_SECONDS})`),
    ...commonOptions,
  },
  run: async ({ values, io }) => {
    const clientId = requiredText(values, "client-id");
    const lifetime = readLifetime(values);
    const jwk = (await readPublicKey(requiredText(values, "public-key"))).export({ format: "jwk" });
    const { key, chain } = await identityOf(await readEnrolledDevice((await readSettings(values, io)).state));
    const now = Math.floor(io.clock() / 1000);
    const header = {
      alg: "ES256",
      typ: "oauth-client-attestation+jwt",
      x5c: chain.map((der) => der.toString("base64")),
    };
    const claims = { sub: clientId, iat: now, exp: now + lifetime, cnf: { jwk } };
    io.print(await signed(key, header, claims));
    return exitCodes.done;
  },
};

/** @throws UsageError */
function readLifetime(values: Values): number {
  const text = optionalText(values, "lifetime") ?? String(DEFAULT_SECONDS);
  const seconds = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(seconds <= MAX_SECONDS)) throw new UsageError(`--lifetime must be 1 to ${MAX_SECONDS} seconds`);
  return seconds;
}

/** @throws UsageError also for a private key: it would be in every attestation's command line history next */
async function readPublicKey(file: string): Promise<KeyObject> {
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new UsageError(`--public-key: ${error.message}`);
  });
  if (text.includes("PRIVATE KEY") || /"d"\s*:/.test(text))
    throw new UsageError(`${file} holds a private key: give the public one`);
  try {
    const key = text.trimStart().startsWith("{") ? { key: JSON.parse(text), format: "jwk" as const } : text;
    return createPublicKey(key);
  } catch {
    throw new UsageError(`${file} holds no public key in PEM or as a JWK`);
  }
}

/** The device's key is P-256, wherever it is. */
async function signed(key: DeviceKey, header: object, claims: object): Promise<string> {
  const input = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const der = await key.sign(Buffer.from(input));
  const signature = bothNumbers(new Uint8Array(der), "P-256");
  return `${input}.${Buffer.from(signature).toString("base64url")}`;
}
