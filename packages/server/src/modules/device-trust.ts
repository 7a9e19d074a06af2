/** Device identity's rules about trusted TPMs, as API v1 is given them. */
import { sha256Base64url } from "@signet/protocol/hash";
import type { DeviceTrust } from "../features/api-v1/devices/device-trust.ts";
import {
  addAllowedEks,
  ekHashOf,
  importRoots,
  removeAllowedEk,
  removeRoot,
} from "../features/device-identity/ek-trust/roots.ts";
import {
  InvalidTrustFile,
  readTrustFile,
  type TrustBlock,
} from "../features/device-identity/ek-trust/trust-file.ts";

/** @throws InvalidTrustFile unless there is one certificate or key in it */
function readOne(what: string, text: string): { name: string; blocks: [TrustBlock] } {
  const { blocks } = readTrustFile(what, Buffer.from(text));
  const [block, ...others] = blocks;
  if (!block || others.length > 0) throw new InvalidTrustFile(`${what} must be one alone`);
  return { name: what, blocks: [block] };
}

export const deviceTrust: DeviceTrust = {
  addRoot: async (deps, by, certificate) => {
    const file = readOne("the certificate", certificate);
    const added = await importRoots(deps, by, [file]);
    return { id: sha256Base64url(file.blocks[0].der), isKnown: added.length === 0 };
  },
  addEk: async (deps, by, { key, label }) => {
    const file = readOne("the key", key);
    const added = await addAllowedEks(deps, { ...by, files: [file], label });
    return { id: ekHashOf(file.blocks[0], "the key"), isKnown: added.length === 0 };
  },
  removeRoot: (deps, by, fingerprint) => removeRoot(deps, { ...by, fingerprint }),
  removeEk: (deps, by, ekHash) => removeAllowedEk(deps, { ...by, ekHash }),
  faultOf: (error) => (error instanceof InvalidTrustFile ? error.message : undefined),
};
