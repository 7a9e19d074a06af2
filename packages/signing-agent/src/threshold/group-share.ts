/** This machine's share of a group key, as it is kept on disk and used. */
import { readdir } from "node:fs/promises";
import { ed25519_FROST } from "@noble/curves/ed25519.js";
import { type FrostGroup, frostIdentifier } from "@signet/protocol/threshold/group";
import type { AgentKey } from "../keys/key-source.ts";
import { ERASING, type SealedFolder } from "./sealed-folder.ts";

/** `confirmed`: by this machine's operator; it signs once all members have confirmed. */
export type ShareState = "unconfirmed" | "confirmed" | "active";

/** As the file has it; texts are base64url. */
export interface KeptShare {
  /** Of the group key. */
  readonly kid: string;
  readonly pool: string;
  /** That the share is from: after a resharing the key is the same, and the share another. */
  readonly ceremony: string;
  /** Before a resharing, the ceremony that the old shares are from. */
  readonly from?: string;
  readonly transcript: string;
  /** The kid of this machine's identity key. */
  readonly own: string;
  /** Of all members' identity keys, this one's among them. */
  readonly members: readonly string[];
  readonly min: number;
  readonly publicKey: string;
  readonly commitments: readonly string[];
  readonly verifyingShares: Readonly<Record<string, string>>;
  readonly signingShare: string;
  readonly state: ShareState;
}

export interface GroupShare {
  readonly kept: KeptShare;
  readonly secret: { readonly identifier: string; readonly signingShare: Uint8Array };
  readonly group: FrostGroup;
  /** What the policy's checks need of a key: it cannot sign alone. */
  readonly key: AgentKey;
}

const PREFIX = "share-";
/** Each in a file of its own, so that no program that keeps one can lose another. */
export const shareFile = ({ kid, ceremony, from }: Pick<KeptShare, "kid" | "ceremony" | "from">): string =>
  from === undefined ? `${PREFIX}${kid}` : `${PREFIX}${kid}.${ceremony}`;
const SHARE_FILE = /^share-[A-Za-z0-9_-]{43}(\.[0-9a-f-]{36})?$/;

export const keepShare = (sealed: SealedFolder, share: KeptShare): Promise<void> =>
  sealed.write(shareFile(share), share);

/** Oldest first. */
export async function readShares(sealed: SealedFolder): Promise<KeptShare[]> {
  const shares: KeptShare[] = [];
  for (const name of await readdir(sealed.folder)) {
    // A crash came between.
    if (name.startsWith(ERASING)) await sealed.erase(name);
    const share = SHARE_FILE.test(name) && ((await sealed.read(name)) as KeptShare | undefined);
    if (share) shares.push(share);
  }
  return shares.sort((one, other) => (one.ceremony < other.ceremony ? -1 : 1));
}

export const eraseShare = (sealed: SealedFolder, share: KeptShare): Promise<void> =>
  sealed.erase(shareFile(share));

/** The key's older shares, once a newer one signs; one that is being dealt from the newer one stays. */
export const supersededBy = (active: KeptShare, shares: readonly KeptShare[]): KeptShare[] =>
  shares.filter(
    (one) => one.kid === active.kid && one.ceremony !== active.ceremony && one.from !== active.ceremony,
  );

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64url"));

/** @throws Error when the share is not the one that the group's public data promises */
export function openShare(kept: KeptShare): GroupShare {
  const identifier = frostIdentifier(kept.own);
  const group: FrostGroup = {
    signers: { min: kept.min, max: kept.members.length },
    commitments: kept.commitments.map(bytes),
    verifyingShares: Object.fromEntries(
      Object.entries(kept.verifyingShares).map(([kid, point]) => [frostIdentifier(kid), bytes(point)]),
    ),
  };
  const secret = { identifier, signingShare: bytes(kept.signingShare) };
  ed25519_FROST.validateSecret(secret, group);
  return { kept, secret, group, key: keyOf(kept) };
}

const keyOf = ({ kid, publicKey }: KeptShare): AgentKey => ({
  kid,
  alg: "EdDSA",
  publicJwk: { kty: "OKP", crv: "Ed25519", x: publicKey },
  x5c: undefined,
  location: "threshold",
  sign: () => Promise.reject(new Error("no machine has this key")),
  close: async () => {},
});
