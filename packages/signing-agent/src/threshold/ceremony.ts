/**
 * The key ceremony as one member goes through it (threshold-and-ledger.md §1). The service is only the messenger: every message is verified
 * with its sender's identity key, and all of them are in the transcript, which operators compare on two machines before they confirm.
 */
import { groupOf } from "@signet/protocol/threshold/group";
import {
  ABORT_TYPE,
  CONFIRMATION_TYPE,
  type IdentityJwk,
  JOIN_TYPE,
  type Join,
  joinsHash,
  type KeptMessage,
  readConfirmation,
  readJoin,
  readShares,
  SHARES_TYPE,
  transcriptHash,
} from "@signet/protocol/threshold/messages";
import type { AgentKey } from "../keys/key-source.ts";
import {
  type CeremonySecrets,
  dealShares,
  decryptShare,
  encryptShare,
  finishCeremony,
  isPromisedShare,
  newSecrets,
} from "./ceremony-secrets.ts";
import { type KeptShare, keepShare, readShares as readKeptShares } from "./group-share.ts";
import type { SealedFolder } from "./sealed-folder.ts";
import type { CeremonyState, PoolState, ThresholdService } from "./threshold-service.ts";

/** Something is wrong with the ceremony: it is aborted, or must not go on. */
export class CeremonyFault extends Error {
  override name = "CeremonyFault";
  readonly code:
    | "swapped_message"
    | "invalid_share"
    | "invalid_proof"
    | "aborted"
    | "wrong_transcript"
    | "not_joined";
  /** The kid of the member at fault. */
  readonly about: string | undefined;
  constructor(code: CeremonyFault["code"], message: string, about?: string) {
    super(message);
    this.code = code;
    this.about = about;
  }
}

export interface CeremonyDeps {
  readonly service: Pick<ThresholdService, "pool" | "say">;
  readonly sealed: SealedFolder;
  readonly identity: AgentKey;
  /** The pool's URL, as this machine is configured. */
  readonly pool: string;
}

export type Progress =
  | { readonly at: "waiting"; readonly state: string }
  | { readonly at: "compare" | "confirmed" | "active"; readonly share: KeptShare };

const secretsFile = (ceremony: string): string => `ceremony-${ceremony}`;

/** Takes the next step that can be taken now; repeated, it does no harm. @throws CeremonyFault */
export async function advance(deps: CeremonyDeps): Promise<Progress> {
  const found = await deps.service.pool();
  const { ceremony } = found;
  if (!ceremony)
    throw new CeremonyFault("not_joined", "the pool has no key ceremony: begin one with threshold create");
  const kept = (await readKeptShares(deps.sealed)).find((one) => one.ceremony === ceremony.ceremonyId);
  if (kept) return activate(deps, kept, ceremony);
  if (ceremony.state === "aborted")
    throw new CeremonyFault("aborted", `the ceremony was aborted: ${ceremony.endReason ?? ""}`);
  const secrets = (await deps.sealed.read(secretsFile(ceremony.ceremonyId))) as CeremonySecrets | undefined;
  if (!secrets) return join(deps, found, ceremony);
  try {
    return await answer(deps, secrets, ceremony);
  } catch (error) {
    if (error instanceof CeremonyFault) await abort(deps, ceremony.ceremonyId, error);
    throw error;
  }
}

async function join(deps: CeremonyDeps, found: PoolState, ceremony: CeremonyState): Promise<Progress> {
  const { identity, sealed, service, pool } = deps;
  if (ceremony.state !== "joining")
    throw new CeremonyFault(
      "not_joined",
      `the ceremony is ${ceremony.state}, and this machine is not a member`,
    );
  const { min, max } = found.threshold;
  const { publicEncryptionKey, ...made } = newSecrets(identity.kid, { min, max });
  const { commitment, proof } = made;
  const jwk = { kty: "OKP", crv: "Ed25519", x: identity.publicJwk.x };
  const said = { min, max, jwk, encryptionKey: publicEncryptionKey, commitment, proof };
  const joinMessage = await signed(deps, JOIN_TYPE, ceremony.ceremonyId, said);
  const secrets = { ceremony: ceremony.ceremonyId, pool, own: identity.kid, min, max, ...made, joinMessage };
  // On disk before it is said: a message without its secret would spoil the ceremony.
  await sealed.write(secretsFile(ceremony.ceremonyId), secrets);
  return { at: "waiting", state: await service.say(ceremony.ceremonyId, joinMessage) };
}

async function answer(
  deps: CeremonyDeps,
  secrets: CeremonySecrets,
  ceremony: CeremonyState,
): Promise<Progress> {
  const { service, sealed } = deps;
  const { ceremonyId, state } = ceremony;
  if (!ceremony.messages.some(({ message }) => message === secrets.joinMessage) && state === "joining")
    return { at: "waiting", state: await service.say(ceremonyId, secrets.joinMessage) };
  if (state === "joining") return { at: "waiting", state };
  const joins = readAllJoins(deps, secrets, ceremony);
  if (secrets.sharesMessage === undefined) {
    const sharesMessage = await dealMessage(deps, secrets, joins);
    await sealed.write(secretsFile(ceremonyId), { ...secrets, sharesMessage });
    return { at: "waiting", state: await service.say(ceremonyId, sharesMessage) };
  }
  if (state === "sharing") {
    const isSaid = ceremony.messages.some(({ message }) => message === secrets.sharesMessage);
    return { at: "waiting", state: isSaid ? state : await service.say(ceremonyId, secrets.sharesMessage) };
  }
  const share = finish(secrets, joins, ceremony);
  await keepShare(sealed, share);
  await sealed.remove(secretsFile(ceremonyId));
  return { at: "compare", share };
}

type KeptJoin = Join & KeptMessage;

/** All members' first messages, this machine's own among them, as it sent it. @throws CeremonyFault */
function readAllJoins(
  { pool }: CeremonyDeps,
  secrets: CeremonySecrets,
  { ceremonyId, messages }: CeremonyState,
): KeptJoin[] {
  const ref = { pool, ceremony: ceremonyId };
  const joins = messages
    .filter(({ round }) => round === "join")
    .map(({ message }) => {
      const read = readJoin(message, ref);
      if (!read)
        throw new CeremonyFault("swapped_message", "a message of round 1 is not signed by its sender");
      return { ...read, message };
    });
  const kids = new Set(joins.map(({ kid }) => kid));
  const isWhole = joins.length === secrets.max && kids.size === secrets.max;
  const isAgreed = joins.every(({ min, max }) => min === secrets.min && max === secrets.max);
  if (!isWhole || !isAgreed)
    throw new CeremonyFault("swapped_message", "round 1 does not have one message of each member");
  if (!joins.some(({ kid, message }) => kid === secrets.own && message === secrets.joinMessage))
    throw new CeremonyFault(
      "swapped_message",
      "this machine's own message of round 1 is missing or was changed",
    );
  return joins;
}

async function dealMessage(
  deps: CeremonyDeps,
  secrets: CeremonySecrets,
  joins: readonly KeptJoin[],
): Promise<string> {
  const others = joins.filter(({ kid }) => kid !== secrets.own);
  let dealt: Record<string, Uint8Array>;
  try {
    dealt = dealShares(secrets, others);
  } catch {
    throw new CeremonyFault("invalid_proof", "a member has not proven that it knows what it committed to");
  }
  const hash = joinsHash(joins);
  const shares = Object.fromEntries(
    others.map(({ kid, encryptionKey }) => [
      kid,
      encryptShare(dealt[kid] ?? new Uint8Array(), {
        privateKey: secrets.encryptionKey,
        publicKey: encryptionKey,
        ...{ from: secrets.own, to: kid, joins: hash },
      }),
    ]),
  );
  return signed(deps, SHARES_TYPE, secrets.ceremony, { joins: hash, shares });
}

/** @throws CeremonyFault that names the member whose share is wrong */
function finish(
  secrets: CeremonySecrets,
  joins: readonly KeptJoin[],
  { messages }: CeremonyState,
): KeptShare {
  const hash = joinsHash(joins);
  const ref = { pool: secrets.pool, ceremony: secrets.ceremony };
  const said = messages.filter(({ round }) => round === "shares");
  const received: Record<string, Uint8Array> = {};
  const kept: KeptMessage[] = [];
  for (const join of joins) {
    const found = said.flatMap(({ message }) => {
      const read = readShares(message, join.jwk, ref);
      return read ? [{ ...read, message }] : [];
    });
    const [shares] = found;
    if (!shares || found.length > 1 || shares.joins !== hash)
      throw new CeremonyFault(
        "swapped_message",
        "a member answered other messages of round 1 than this machine has",
        join.kid,
      );
    kept.push({ kid: join.kid, message: shares.message });
    if (join.kid === secrets.own) {
      if (shares.message !== secrets.sharesMessage)
        throw new CeremonyFault("swapped_message", "this machine's own message of round 2 was changed");
      continue;
    }
    const between = {
      privateKey: secrets.encryptionKey,
      publicKey: join.encryptionKey,
      from: join.kid,
      to: secrets.own,
    };
    const share = decryptShare(shares.shares[secrets.own] ?? "", { ...between, joins: hash });
    if (!share || !isPromisedShare(secrets.own, join, share))
      throw new CeremonyFault(
        "invalid_share",
        "a member's share is not the one that it committed to",
        join.kid,
      );
    received[join.kid] = share;
  }
  return shareOf(secrets, joins, { received, said: kept });
}

/** @throws CeremonyFault */
function shareOf(
  secrets: CeremonySecrets,
  joins: readonly KeptJoin[],
  { received, said }: { received: Readonly<Record<string, Uint8Array>>; said: readonly KeptMessage[] },
): KeptShare {
  const ref = { pool: secrets.pool, ceremony: secrets.ceremony };
  const others = joins.filter(({ kid }) => kid !== secrets.own);
  const { min, max } = secrets;
  const group = groupOf(joins, { min, max });
  const key = finishCeremony(secrets, others, received);
  if (!group) throw new CeremonyFault("invalid_proof", "the members' commitments make no key");
  const identifiers = Object.entries(group.frost.verifyingShares);
  const toText = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url");
  return {
    ...{ kid: group.kid, pool: secrets.pool, ceremony: secrets.ceremony },
    transcript: transcriptHash(ref, { min, max }, { joins, shares: said }),
    ...{ own: secrets.own, members: group.members, min, publicKey: group.publicJwk.x },
    commitments: group.frost.commitments.map(toText),
    verifyingShares: Object.fromEntries(
      identifiers.map(([, point], index) => [group.members[index] ?? "", toText(point)]),
    ),
    signingShare: toText(key.secret.signingShare),
    state: "unconfirmed",
  };
}

/** @param spoken the transcript as the operator read it on another machine. @throws CeremonyFault */
export async function confirm(deps: CeremonyDeps, spoken: string): Promise<Progress> {
  const { ceremony } = await deps.service.pool();
  const kept = (await readKeptShares(deps.sealed)).find((one) => one.ceremony === ceremony?.ceremonyId);
  if (!ceremony || !kept)
    throw new CeremonyFault("not_joined", "there is nothing to confirm yet: run threshold join");
  const hex = Buffer.from(kept.transcript, "base64url").toString("hex");
  if (spoken.toLowerCase().replace(/[^0-9a-f]/g, "") !== hex) {
    const fault = new CeremonyFault("wrong_transcript", "the transcripts differ: somebody changed a message");
    await abort(deps, kept.ceremony, fault);
    throw fault;
  }
  const { transcript, publicKey } = kept;
  const message = await signed(deps, CONFIRMATION_TYPE, kept.ceremony, { transcript, publicKey });
  const confirmed: KeptShare = kept.state === "unconfirmed" ? { ...kept, state: "confirmed" } : kept;
  await keepShare(deps.sealed, confirmed);
  await deps.service.say(kept.ceremony, message);
  const { ceremony: now } = await deps.service.pool(kept.ceremony);
  return now ? activate(deps, confirmed, now) : { at: "confirmed", share: confirmed };
}

/** A share signs once every member has confirmed the same transcript and key, by its own signature. */
export async function activate(
  { sealed }: Pick<CeremonyDeps, "sealed">,
  share: KeptShare,
  { messages }: Pick<CeremonyState, "messages">,
): Promise<Progress> {
  if (share.state !== "confirmed") return { at: share.state === "active" ? "active" : "compare", share };
  const ref = { pool: share.pool, ceremony: share.ceremony };
  const jwks = messages.flatMap(({ round, message }): IdentityJwk[] => {
    const read = round === "join" ? readJoin(message, ref) : undefined;
    return read ? [read.jwk] : [];
  });
  const confirmed = jwks.flatMap((jwk) =>
    messages.flatMap(({ message }) => readConfirmation(message, jwk, ref) ?? []),
  );
  const isConfirmed = (kid: string) =>
    confirmed.some(
      (one) => one.kid === kid && one.transcript === share.transcript && one.publicKey === share.publicKey,
    );
  if (!share.members.every(isConfirmed)) return { at: "confirmed", share };
  const active: KeptShare = { ...share, state: "active" };
  await keepShare(sealed, active);
  return { at: "active", share: active };
}

/** Ends the ceremony for everybody, with the reason. */
export async function abort(
  deps: CeremonyDeps,
  ceremony: string,
  { message, about }: { readonly message: string; readonly about?: string | undefined },
): Promise<void> {
  const said = { reason: message, ...(about === undefined ? {} : { about }) };
  await deps.service.say(ceremony, await signed(deps, ABORT_TYPE, ceremony, said));
  await deps.sealed.remove(secretsFile(ceremony));
}

async function signed(
  { identity, pool }: CeremonyDeps,
  typ: string,
  ceremony: string,
  said: object,
): Promise<string> {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const header = encode({ alg: "EdDSA", typ, kid: identity.kid });
  const input = `${header}.${encode({ aud: pool, ceremony, ...said })}`;
  return `${input}.${await identity.sign(input)}`;
}
