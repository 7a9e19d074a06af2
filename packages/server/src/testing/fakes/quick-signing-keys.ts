/**
 * Signing keys of tests: an RSA key costs 60 milliseconds of processor time, and hundreds of organisations want one. No two
 * keys of one database are the same, but another database of this process has the same ones.
 */
import type { KeyObject } from "node:crypto";
import type { TokenAlg } from "@signet/protocol/jose/jws";
import { generatePrivateKey } from "../../core/signing-keys/signing-keys.ts";

const made = new Map<TokenAlg, Promise<KeyObject>[]>();
const given = new Map<string, number>();

/** @param database address of the database that the keys are for: every node of one test has the same */
export const quickSigningKeys =
  (database: string) =>
  (alg: TokenAlg): Promise<KeyObject> => {
    const name = `${alg} ${database}`;
    const index = given.get(name) ?? 0;
    given.set(name, index + 1);
    const keys = made.get(alg) ?? [];
    made.set(alg, keys);
    keys[index] ??= generatePrivateKey(alg);
    return keys[index];
  };
