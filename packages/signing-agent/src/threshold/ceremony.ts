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
import { type ReshareJoin, readReshareJoin } from "@signet/protocol/threshold/reshare";
import { CeremonyFault } from "./ceremony-fault.ts";
import {
  type CeremonySecrets,
  dealShares,
  decryptShare,
  encryptShare,
  finishCeremony,
  isPromisedShare,
  newSecrets,
} from "./ceremony-secrets.ts";
import {
  eraseShare,
  type KeptShare,
  keepShare,
  readShares as readKeptShares,
  supersededBy,
} from "./group-share.ts";
import { advanceReshare, forgetCeremony, hexOf, type ReshareProgress } from "./reshare.ts";
import { type CeremonyDeps, secretsFile, signed } from "./say.ts";
import { type CeremonyState, type PoolState, ServiceRefusal } from "./threshold-service.ts";

export type Progress =
  | ReshareProgress
  | { readonly at: "compare" | "confirmed" | "active"; readonly share: KeptShare };

/** Takes the next step that can be taken now; repeated, it does no harm. @throws CeremonyFault */
export async function advance(deps: CeremonyDeps): Promise<Progress> {
  const found = await deps.service.pool();
  const { ceremony } = found;
  if (!ceremony)
    throw new CeremonyFault("not_joined", "the pool has no key ceremony: begin one with threshold create");
  const all = await readKeptShares(deps.sealed);
  const kept = all.find((one) => one.ceremony === ceremony.ceremonyId);
  if (ceremony.state === "aborted") return endAborted(deps, ceremony, kept);
  if (kept) return resume(deps, kept, ceremony);
  try {
    if (ceremony.kind === "reshare") {
      const isMember = ceremony.members.includes(found.agentId);
      return await advanceReshare(deps, { ceremony, kept: all, isMember });
    }
    const secrets = (await deps.sealed.read(secretsFile(ceremony.ceremonyId))) as CeremonySecrets | undefined;
    return secrets ? await answer(deps, secrets, ceremony) : await join(deps, found, ceremony);
  } catch (error) {
    // It may be over already; what is wrong with it is to be seen here in any case.
    if (error instanceof CeremonyFault && error.code !== "not_joined")
      await abort(deps, ceremony.ceremonyId, error).catch(ignoreRefusal);
    throw error;
  }
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof ServiceRefusal)) throw error;
}

/** A share that this machine has not confirmed can never sign. @throws CeremonyFault */
async function endAborted(
  deps: CeremonyDeps,
  { ceremonyId, endReason }: CeremonyState,
  kept: KeptShare | undefined,
): Promise<never> {
  if (kept?.state === "unconfirmed") await eraseShare(deps.sealed, kept);
  await forgetCeremony(deps, ceremonyId);
  throw new CeremonyFault("aborted", `the ceremony was aborted: ${endReason ?? ""}`);
}

/** After a crash: what was not deleted, and what was not said. */
async function resume(deps: CeremonyDeps, kept: KeptShare, ceremony: CeremonyState): Promise<Progress> {
  await deps.sealed.remove(secretsFile(kept.ceremony));
  if (kept.state !== "confirmed") return activate(deps, kept, ceremony);
  const message = await confirmationOf(deps, kept);
  if (ceremony.messages.some((one) => one.message === message)) return activate(deps, kept, ceremony);
  await deps.service.say(kept.ceremony, message);
  const { ceremony: now } = await deps.service.pool(kept.ceremony);
  return now ? activate(deps, kept, now) : { at: "confirmed", share: kept };
}

const confirmationOf = (deps: CeremonyDeps, { ceremony, transcript, publicKey }: KeptShare) =>
  signed(deps, CONFIRMATION_TYPE, ceremony, { transcript, publicKey });

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
  if (hexOf(spoken) !== Buffer.from(kept.transcript, "base64url").toString("hex")) {
    const fault = new CeremonyFault("wrong_transcript", "the transcripts differ: somebody changed a message");
    await abort(deps, kept.ceremony, fault);
    throw fault;
  }
  const confirmed: KeptShare = kept.state === "unconfirmed" ? { ...kept, state: "confirmed" } : kept;
  if (confirmed !== kept) await keepShare(deps.sealed, confirmed);
  return resume(deps, confirmed, ceremony);
}

/**
 * A share signs once every member has confirmed the same transcript and key, by its own signature. Then the shares that it replaces are
 * erased: whoever found enough of them would have the key.
 */
export async function activate(
  { sealed }: Pick<CeremonyDeps, "sealed">,
  share: KeptShare,
  { messages }: Pick<CeremonyState, "messages">,
): Promise<Progress> {
  if (share.state === "unconfirmed") return { at: "compare", share };
  if (share.state === "confirmed" && !isConfirmed(share, messages)) return { at: "confirmed", share };
  const active: KeptShare = { ...share, state: "active" };
  if (share.state === "confirmed") await keepShare(sealed, active);
  await eraseSuperseded(sealed, active);
  return { at: "active", share: active };
}

/** Again at every start, should a crash have come between. */
export async function eraseSuperseded(sealed: CeremonyDeps["sealed"], active: KeptShare): Promise<void> {
  if (active.from === undefined) return;
  for (const old of supersededBy(active, await readKeptShares(sealed))) await eraseShare(sealed, old);
  await forgetCeremony({ sealed }, active.ceremony);
}

function isConfirmed(share: KeptShare, messages: CeremonyState["messages"]): boolean {
  const { pool, ceremony, kid: key, min, members } = share;
  const ref = { pool, ceremony };
  const reshare = { ...ref, key, min, max: members.length };
  const jwks = messages.flatMap(({ round, message }): IdentityJwk[] => {
    if (round !== "join") return [];
    const read: Join | ReshareJoin | undefined =
      share.from === undefined ? readJoin(message, ref) : readReshareJoin(message, reshare);
    return read ? [read.jwk] : [];
  });
  const confirmed = jwks.flatMap((jwk) =>
    messages.flatMap(({ message }) => readConfirmation(message, jwk, ref) ?? []),
  );
  return members.every((kid) =>
    confirmed.some(
      (one) => one.kid === kid && one.transcript === share.transcript && one.publicKey === share.publicKey,
    ),
  );
}

/** Ends the ceremony for everybody, with the reason. */
export async function abort(
  deps: CeremonyDeps,
  ceremony: string,
  { message, about }: { readonly message: string; readonly about?: string | undefined },
): Promise<void> {
  const said = { reason: message, ...(about === undefined ? {} : { about }) };
  await deps.service.say(ceremony, await signed(deps, ABORT_TYPE, ceremony, said));
  await forgetCeremony(deps, ceremony);
}
