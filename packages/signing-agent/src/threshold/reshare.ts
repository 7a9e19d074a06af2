/**
 * Resharing, as a machine goes through it (threshold-and-ledger.md §1): new members join, `min` old ones deal once their operators have
 * agreed to who they are, and the new shares sign once every new member has confirmed. The key stays; old shares are erased.
 */
import { generateKeyPairSync } from "node:crypto";
import { ed25519, ed25519_FROST as frost } from "@noble/curves/ed25519.js";
import { frostIdentifier } from "@signet/protocol/threshold/group";
import {
  combineShares,
  DEAL_TYPE,
  identifierScalar,
  isConfirmedByAll,
  type PublicGroup,
  publicGroup,
  RESHARE_JOIN_TYPE,
  type Reshare,
  ReshareFault,
  type ReshareJoin,
  type ReshareOutcome,
  type ReshareSaid,
  type Roster,
  readRoster,
  reshareOutcome,
} from "@signet/protocol/threshold/reshare";
import { CeremonyFault } from "./ceremony-fault.ts";
import { decryptShare, encryptShare, isPromisedShare } from "./ceremony-secrets.ts";
import { type KeptShare, keepShare, openShare } from "./group-share.ts";
import { type CeremonyDeps, secretsFile, signed } from "./say.ts";
import type { CeremonyState, ThresholdService } from "./threshold-service.ts";

/** Between round 1 and the share. */
interface ReshareSecrets {
  /** X25519, PKCS #8. */
  readonly encryptionKey: string;
  /** As it was sent: sent again, it is the same. */
  readonly joinMessage: string;
}

export type ReshareProgress =
  | { readonly at: "waiting"; readonly state: string }
  /** All new members are there; `dealt`: this machine has dealt, or has no share to deal. */
  | { readonly at: "roster"; readonly roster: Roster; readonly canDeal: boolean }
  /** Of a machine that gets no new share. */
  | { readonly at: "leaving"; readonly outcome: ReshareOutcome }
  | { readonly at: "compare"; readonly share: KeptShare };

const dealFile = (ceremony: string): string => `deal-${ceremony}`;

export function reshareOf({ pool }: Pick<CeremonyDeps, "pool">, ceremony: CeremonyState): Reshare {
  const { ceremonyId, kid, min, max } = ceremony;
  return { pool, ceremony: ceremonyId, key: kid ?? "", min, max };
}

export function reshareSaid({ messages }: Pick<CeremonyState, "messages">): ReshareSaid {
  const of = (round: string) => messages.filter((one) => one.round === round).map(({ message }) => message);
  return { joins: of("join"), deals: of("deal") };
}

/** A fault of what was said, as this machine's own. @throws CeremonyFault */
function faulty<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ReshareFault) throw new CeremonyFault(error.code, error.message, error.about);
    throw error;
  }
}

/** The group of this machine's own share. */
export const ownGroup = ({ ceremony, members, commitments }: KeptShare): PublicGroup => ({
  ceremony,
  members,
  commitments,
});

interface At {
  readonly ceremony: CeremonyState;
  /** This machine's shares of all keys. */
  readonly kept: readonly KeptShare[];
  /** Whether it is to be a member, as the service says: only what this machine does depends on it. */
  readonly isMember: boolean;
}

/** Takes the next step that needs no operator; repeated, it does no harm. @throws CeremonyFault */
export async function advanceReshare(deps: CeremonyDeps, at: At): Promise<ReshareProgress> {
  const { service, sealed } = deps;
  const { ceremony, kept, isMember } = at;
  const { ceremonyId, state } = ceremony;
  const reshare = reshareOf(deps, ceremony);
  const own = kept.find((one) => isOld(one, ceremony));
  const secrets = (await sealed.read(secretsFile(ceremonyId))) as ReshareSecrets | undefined;
  const said = reshareSaid(ceremony);
  if (!secrets && state === "joining" && isMember) return join(deps, reshare);
  if (state === "joining") {
    if (secrets && !said.joins.includes(secrets.joinMessage))
      return { at: "waiting", state: await service.say(ceremonyId, secrets.joinMessage) };
    return { at: "waiting", state };
  }
  if (!secrets && !own) throw new CeremonyFault("not_joined", "this machine takes no part in the resharing");
  if (secrets) requireOwnJoin(secrets, said);
  if (state === "sharing") {
    const roster = faulty(() => readRoster(reshare, said.joins));
    return { at: "roster", roster, canDeal: own !== undefined && !(await sealed.read(dealFile(ceremonyId))) };
  }
  const outcome = faulty(() => reshareOutcome(reshare, said, own && ownGroup(own)));
  if (own) await requireOwnDeal(deps, ceremonyId, { deals: outcome.deals, own: own.own });
  if (!secrets) return { at: "leaving", outcome };
  const share = finish(deps, { secrets, reshare, outcome });
  await keepShare(sealed, share);
  await sealed.remove(secretsFile(ceremonyId));
  return { at: "compare", share };
}

/** The share that this ceremony replaces. */
export const isOld = (one: KeptShare, { kid, from }: Pick<CeremonyState, "kid" | "from">): boolean =>
  one.kid === kid && one.ceremony === from && one.state === "active";

async function join(deps: CeremonyDeps, reshare: Reshare): Promise<ReshareProgress> {
  const { identity, sealed, service } = deps;
  const { privateKey, publicKey } = generateKeyPairSync("x25519");
  const encryptionKey = String(publicKey.export({ format: "jwk" }).x);
  const { min, max, key, ceremony } = reshare;
  const jwk = { kty: "OKP", crv: "Ed25519", x: identity.publicJwk.x };
  const joinMessage = await signed(deps, RESHARE_JOIN_TYPE, ceremony, { min, max, key, jwk, encryptionKey });
  const der = privateKey.export({ type: "pkcs8", format: "der" }).toString("base64url");
  // On disk before it is said: without the key, nobody can read what is dealt to this machine.
  await sealed.write(secretsFile(ceremony), { encryptionKey: der, joinMessage });
  return { at: "waiting", state: await service.say(ceremony, joinMessage) };
}

function requireOwnJoin({ joinMessage }: ReshareSecrets, { joins }: ReshareSaid): void {
  if (!joins.includes(joinMessage))
    throw new CeremonyFault(
      "swapped_message",
      "this machine's own message of round 1 is missing or was changed",
    );
}

/** What this machine is said to have dealt is what it dealt. */
async function requireOwnDeal(
  { sealed }: CeremonyDeps,
  ceremony: string,
  { deals, own }: { readonly deals: ReshareOutcome["deals"]; readonly own: string },
): Promise<void> {
  const said = deals.find(({ kid }) => kid === own);
  if (!said) return;
  const kept = (await sealed.read(dealFile(ceremony))) as { readonly message: string } | undefined;
  if (kept?.message !== said.message)
    throw new CeremonyFault("swapped_message", "this machine's own deal was changed", own);
}

/**
 * Deals this machine's share to the new members. What they get is the key, once enough have dealt: so the operator has compared the roster
 * on each of the new machines, and only then.
 * @param spoken the roster as the operator read it there. @throws CeremonyFault
 */
export async function deal(
  deps: CeremonyDeps,
  { ceremony, kept }: Pick<At, "ceremony" | "kept">,
  spoken: string,
): Promise<{ readonly state: string }> {
  const { sealed, service } = deps;
  const { ceremonyId } = ceremony;
  const own = kept.find((one) => isOld(one, ceremony));
  if (!own) throw new CeremonyFault("not_joined", "this machine has no share that is to be dealt");
  const before = (await sealed.read(dealFile(ceremonyId))) as { readonly message: string } | undefined;
  if (before) return { state: await service.say(ceremonyId, before.message) };
  if (ceremony.state !== "sharing")
    throw new CeremonyFault("not_joined", `the resharing is ${ceremony.state}: nothing is to be dealt`);
  const reshare = reshareOf(deps, ceremony);
  const roster = faulty(() => readRoster(reshare, reshareSaid(ceremony).joins));
  if (hexOf(spoken) !== Buffer.from(roster.hash, "base64url").toString("hex"))
    throw new CeremonyFault(
      "wrong_roster",
      "the rosters differ: nothing was dealt. End the resharing with threshold abort",
    );
  if (reshare.min !== own.min || reshare.max !== own.members.length)
    throw new CeremonyFault("swapped_message", "the resharing is for another threshold");
  const message = await signed(deps, DEAL_TYPE, ceremonyId, await dealt(deps, { own, reshare, roster }));
  // The polynomial is gone with this call; said again, it is the same message.
  await sealed.write(dealFile(ceremonyId), { message });
  return { state: await service.say(ceremonyId, message) };
}

export const hexOf = (spoken: string): string => spoken.toLowerCase().replace(/[^0-9a-f]/g, "");

const { Fn } = ed25519.Point;

async function dealt(
  { identity }: CeremonyDeps,
  { own, reshare, roster }: { own: KeptShare; reshare: Reshare; roster: Roster },
) {
  const { secret } = openShare(own);
  const { min, max } = reshare;
  // A random polynomial whose value at zero is this machine's share.
  const made = frost.DKG.round1(frostIdentifier(own.own), { min, max }, secret.signingShare);
  const coefficients = made.secret.coefficients ?? [];
  const { privateKey, publicKey } = generateKeyPairSync("x25519");
  const der = privateKey.export({ type: "pkcs8", format: "der" }).toString("base64url");
  const seal = ({ kid, encryptionKey }: ReshareJoin) => {
    const share = Fn.toBytes(valueAt(coefficients, identifierScalar(kid)));
    const between = { privateKey: der, publicKey: encryptionKey, from: own.own, to: kid, joins: roster.hash };
    const sealed = encryptShare(share, between);
    share.fill(0);
    return [kid, sealed] as const;
  };
  const shares = Object.fromEntries(roster.joins.map(seal));
  frost.DKG.clean(made.secret);
  return {
    jwk: { kty: "OKP", crv: "Ed25519", x: identity.publicJwk.x },
    roster: roster.hash,
    before: ownGroup(own),
    encryptionKey: String(publicKey.export({ format: "jwk" }).x),
    commitment: made.public.commitment.map((point) => Buffer.from(point).toString("base64url")),
    shares,
  };
}

const valueAt = (coefficients: readonly bigint[], x: bigint): bigint =>
  coefficients.reduceRight((sum, coefficient) => Fn.add(Fn.mul(sum, x), coefficient), 0n);

interface Finishing {
  readonly secrets: ReshareSecrets;
  readonly reshare: Reshare;
  readonly outcome: ReshareOutcome;
}

/** @throws CeremonyFault that names the member whose share is wrong */
function finish({ identity }: CeremonyDeps, { secrets, reshare, outcome }: Finishing): KeptShare {
  const { deals, group, roster, before, transcript } = outcome;
  const own = identity.kid;
  const received: Record<string, Uint8Array> = {};
  for (const { kid, encryptionKey, commitment, shares } of deals) {
    const between = { privateKey: secrets.encryptionKey, publicKey: encryptionKey, from: kid, to: own };
    const share = decryptShare(shares[own] ?? "", { ...between, joins: roster.hash });
    if (!share || !isPromisedShare(own, { commitment, max: reshare.max }, share))
      throw new CeremonyFault("invalid_share", "a member's share is not the one that it committed to", kid);
    received[kid] = share;
  }
  const { commitments, members } = publicGroup(group, reshare.ceremony);
  const kept: KeptShare = {
    ...{ kid: reshare.key, pool: reshare.pool, ceremony: reshare.ceremony, from: before.ceremony },
    ...{ transcript, own, members, min: reshare.min, publicKey: group.publicJwk.x, commitments },
    verifyingShares: Object.fromEntries(
      members.map((kid) => [
        kid,
        Buffer.from(group.frost.verifyingShares[frostIdentifier(kid)] ?? []).toString("base64url"),
      ]),
    ),
    signingShare: Buffer.from(combineShares(outcome, received)).toString("base64url"),
    state: "unconfirmed",
  };
  openShare(kept);
  return kept;
}

/** What a ceremony that is over leaves behind. */
export async function forgetCeremony({ sealed }: Pick<CeremonyDeps, "sealed">, ceremony: string) {
  await sealed.remove(secretsFile(ceremony));
  await sealed.remove(dealFile(ceremony));
}

/** Resharings that an agent that was away for long catches up with. */
const MAX_CHAIN = 100;

/**
 * Whether the key of a share has been dealt to other members, who all have confirmed, by everybody's signatures: then the share is of no
 * use but to a thief. Every step from its ceremony to the latest is verified; what the service says counts for nothing.
 * @param latest the ceremony that the pool's members have their shares from
 */
export async function isSuperseded(
  service: Pick<ThresholdService, "pool">,
  share: KeptShare,
  latest: string,
): Promise<boolean> {
  const chain: CeremonyState[] = [];
  for (let id = latest; id !== share.ceremony; id = chain[0]?.from ?? "") {
    const { ceremony } = chain.length < MAX_CHAIN && id !== "" ? await service.pool(id) : { ceremony: null };
    if (ceremony?.ceremonyId !== id || ceremony.kind !== "reshare") return false;
    chain.unshift(ceremony);
  }
  let known = ownGroup(share);
  const { pool, kid, min } = share;
  const max = share.members.length;
  for (const ceremony of chain) {
    const reshare = { pool, ceremony: ceremony.ceremonyId, key: kid, min, max };
    try {
      const outcome = reshareOutcome(reshare, reshareSaid(ceremony), known);
      const messages = ceremony.messages.map(({ message }) => message);
      if (!isConfirmedByAll(reshare, outcome, messages)) return false;
      known = publicGroup(outcome.group, ceremony.ceremonyId);
    } catch (error) {
      if (error instanceof ReshareFault) return false;
      throw error;
    }
  }
  return chain.length > 0;
}
