/** This machine's share of a group key, as it is kept on disk and used. */
import { ed25519_FROST } from "@noble/curves/ed25519.js";
import { type FrostGroup, frostIdentifier } from "@signet/protocol/threshold/group";
import type { AgentKey } from "../keys/key-source.ts";
import type { SealedFolder } from "./sealed-folder.ts";

/** `confirmed`: by this machine's operator; it signs once all members have confirmed. */
export type ShareState = "unconfirmed" | "confirmed" | "active";

/** As the file has it; texts are base64url. */
export interface KeptShare {
  /** Of the group key. */
  readonly kid: string;
  readonly pool: string;
  readonly ceremony: string;
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
export const shareFile = (kid: string): string => `${PREFIX}${kid}`;
/** The group keys that this machine has shares of. */
const LIST = "shares";

export async function keepShare(sealed: SealedFolder, share: KeptShare): Promise<void> {
  await sealed.write(shareFile(share.kid), share);
  const kids = await listShares(sealed);
  if (!kids.includes(share.kid)) await sealed.write(LIST, [...kids, share.kid]);
}

export const listShares = async (sealed: SealedFolder): Promise<string[]> =>
  ((await sealed.read(LIST)) as string[] | undefined) ?? [];

export async function readShares(sealed: SealedFolder): Promise<KeptShare[]> {
  const shares: KeptShare[] = [];
  for (const kid of await listShares(sealed)) {
    const share = (await sealed.read(shareFile(kid))) as KeptShare | undefined;
    if (share) shares.push(share);
  }
  return shares;
}

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
