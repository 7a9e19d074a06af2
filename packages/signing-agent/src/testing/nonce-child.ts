/**
 * An agent's stock of nonces in a process that is killed: it makes some, then takes whatever it is asked for, as a service that asks twice
 * would ask. Written at once, so that what was given is known however it dies.
 */
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { frostIdentifier } from "@signet/protocol/threshold/group";
import { openFrostSigner } from "../threshold/frost-signer.ts";
import { countBoot, nonceStock } from "../threshold/nonces.ts";
import { openSealedFolder } from "../threshold/sealed-folder.ts";

const [folder = "", sealingKeyFile = ""] = process.argv.slice(2);
const secret = { identifier: frostIdentifier("a"), signingShare: new Uint8Array(32).fill(1) };
const say = (line: string) => writeSync(1, `${line}\n`);

const sealed = await openSealedFolder({ folder, sealingKeyFile });
const stock = nonceStock(sealed, await countBoot(sealed), await openFrostSigner());
for (const { hiding } of await stock.make(secret, 4)) say(`made ${hiding}`);
say("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const taken = await stock.take(line.split(" "));
  for (const hiding of taken.keys()) say(`gave ${hiding}`);
  for (const { hiding } of await stock.make(secret, 1)) say(`made ${hiding}`);
}
