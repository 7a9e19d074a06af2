/** `witness.yaml`: who this witness is, where it listens, and the logs that it witnesses. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { isKeyName, parseVerifierKey, type VerifierKey } from "@signet/protocol/ledger/note";
import { type Static, Type } from "typebox";
import { closedObject, InvalidFile, parseYaml } from "../configuration/yaml-file.ts";

const text = (description: string) => Type.String({ minLength: 1, maxLength: 4_096, description });
const port = Type.Integer({ minimum: 0, maximum: 65_535, description: "a port" });
const address = closedObject({ host: Type.Optional(text("an IP address")), port });

const MAX_LOGS = 10_000;

const witnessSchema = closedObject({
  name: text("the witness's name, e.g. witness.example/w1"),
  keyFile: text("the path of an Ed25519 private key in PEM"),
  stateFile: text("the path of what this witness has cosigned"),
  listen: address,
  /** Keys of one name are keys of one log: its origin is their name. */
  logs: Type.Array(Type.String({ maxLength: 512, description: "a log's key: <origin>+<id>+<base64>" }), {
    maxItems: MAX_LOGS,
  }),
  metrics: Type.Optional(address),
});

export type WitnessConfiguration = Static<typeof witnessSchema>;

/** Relative paths start at the file's own folder. @throws InvalidFile */
export async function readWitnessConfiguration(file: string): Promise<WitnessConfiguration> {
  const configuration = parseYaml(witnessSchema, await readFile(file, "utf8"), file);
  const faults: string[] = [];
  if (!isKeyName(configuration.name))
    faults.push("name must be at most 255 characters without spaces and without +");
  for (const [index, log] of configuration.logs.entries())
    if (parseVerifierKey(log)?.type !== 1) faults.push(`logs.${index} must be a log's key, of type 1`);
  if (faults.length > 0)
    throw new InvalidFile(
      file,
      faults.map((message) => ({ line: undefined, message })),
    );
  const folder = path.dirname(path.resolve(file));
  return {
    ...configuration,
    keyFile: path.resolve(folder, configuration.keyFile),
    stateFile: path.resolve(folder, configuration.stateFile),
  };
}

export type LogKeys = ReadonlyMap<string, readonly VerifierKey[]>;

/** By origin. */
export function logKeys({ logs }: WitnessConfiguration): LogKeys {
  const keys = new Map<string, VerifierKey[]>();
  for (const log of logs) {
    const key = parseVerifierKey(log);
    if (key) keys.set(key.name, [...(keys.get(key.name) ?? []), key]);
  }
  return keys;
}
