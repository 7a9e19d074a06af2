/**
 * A round: the same checks as a whole key's before this machine gives its share, by its own policy. The nonces are gone from the disk, and
 * the journal has the entry, before the share leaves (threshold-and-ledger.md §1).
 */
import { describeError } from "@signet/cli-runtime/redact";
import { signingInputHash } from "@signet/protocol/ledger/entry";
import type { NonceCommitment } from "@signet/protocol/threshold/group";
import { hasTwoPoints } from "@signet/protocol/threshold/shares";
import type { AgentDeps, Outcome } from "../agent/agent-deps.ts";
import { quoted, Refusal, unable } from "../agent/refusal.ts";
import type { SignedRecord } from "../journal/verify-journal.ts";
import { type CheckedRequest, type CheckedToken, checkRequest } from "../policy/check-tokens.ts";
import type { FrostSigner } from "./frost-signer.ts";
import type { GroupShare } from "./group-share.ts";
import type { NonceStock, Nonces } from "./nonces.ts";
import type { Part, Round } from "./threshold-service.ts";

export type RoundChecks = Pick<
  AgentDeps,
  "policy" | "limits" | "seen" | "journal" | "metrics" | "log" | "clock" | "ledger"
>;

export interface RoundDeps extends RoundChecks {
  readonly shares: () => readonly GroupShare[];
  readonly stock: Pick<NonceStock, "take">;
  readonly signer: Pick<FrostSigner, "signatureShare">;
}

interface Signed {
  readonly part: Part;
  readonly outcome: Outcome;
}

/** Several at once: their nonces are taken with one sync, and their entries are one write. Never rejects. */
export async function signRounds(rounds: readonly Round[], deps: RoundDeps): Promise<Signed[]> {
  const distrust = await ledgerRefusal(deps);
  const checked = rounds.map((round) => (distrust ? { round, refusal: distrust } : checkRound(round, deps)));
  const wanted = checked.flatMap((one) => ("wanted" in one ? one.wanted.map(({ own }) => own.hiding) : []));
  let taken: Awaited<ReturnType<NonceStock["take"]>> = new Map();
  try {
    taken = await deps.stock.take(wanted);
  } catch (error) {
    deps.log("error", "the nonces cannot be taken", { reason: describeError(error) });
  }
  return Promise.all(
    checked.map(async (one): Promise<Signed> => {
      if ("refusal" in one) return refuse(one.round, one.refusal, deps);
      try {
        return { part: await giveShares(one, taken, deps), outcome: "signed" };
      } catch (error) {
        const refusal = error instanceof Refusal ? error : unable("agent", "the agent failed", error);
        return refuse(one.round, refusal, deps);
      }
    }),
  );
}

async function ledgerRefusal({ ledger }: RoundChecks): Promise<Refusal | undefined> {
  try {
    await ledger?.require();
    return undefined;
  } catch (error) {
    return error instanceof Refusal ? error : unable("agent", "the agent failed", error);
  }
}

interface WantedShare {
  readonly token: CheckedToken;
  readonly commitments: readonly NonceCommitment[];
  readonly own: NonceCommitment;
}

interface CheckedRound {
  readonly round: Round;
  readonly share: GroupShare;
  readonly checked: CheckedRequest;
  readonly wanted: readonly WantedShare[];
}

type Checked = CheckedRound | { readonly round: Round; readonly refusal: Refusal };

function checkRound(round: Round, deps: RoundDeps): Checked {
  try {
    const shares = deps.shares();
    const { policy, clock } = deps;
    const keys = shares.map(({ key }) => key);
    const { context, tokens } = round;
    const checked = checkRequest({ context, tokens }, { policy: policy(), keys, now: clock() });
    if (checked.challenge) throw new Refusal("challenge", "a threshold pool's agents cannot challenge users");
    const share = shares.find(({ key }) => key === checked.tokens[0]?.key);
    if (!share || checked.tokens.some(({ key }) => key !== share.key))
      throw unable("key", "the tokens are for different keys");
    if (share.kept.ceremony !== round.ceremony)
      throw unable("key", "the round is for shares of another ceremony");
    const wanted = checked.tokens.map((token) => wantedShare(token, round, share));
    deps.limits.take(checked, policy().limits);
    deps.seen.take(checked.tokens);
    return { round, share, checked, wanted };
  } catch (error) {
    return { round, refusal: error instanceof Refusal ? error : unable("agent", "the agent failed", error) };
  }
}

/** @throws Refusal unless m different members sign, this machine among them */
function wantedShare(token: CheckedToken, round: Round, { kept }: GroupShare): WantedShare {
  const commitments = round.commitments[token.use] ?? [];
  const kids = new Set(commitments.map(({ kid }) => kid));
  const areMembers = [...kids].every((kid) => kept.members.includes(kid));
  const own = commitments.find(({ kid }) => kid === kept.own);
  if (!own || !areMembers || kids.size !== commitments.length || kids.size !== kept.min)
    throw unable("commitments", `the signers are not ${kept.min} members with one commitment each`);
  if (!commitments.every(hasTwoPoints)) throw unable("commitments", "a commitment is not well-formed");
  return { token, commitments, own };
}

async function giveShares(
  { round, share, checked, wanted }: CheckedRound,
  taken: ReadonlyMap<string, Nonces & { readonly published: { readonly binding: string } }>,
  { journal, metrics, signer }: RoundDeps,
): Promise<Part> {
  const { requestId, leaseToken } = round;
  const shares: Record<string, string> = {};
  for (const { token, commitments, own } of wanted) {
    const nonces = taken.get(own.hiding);
    if (!nonces)
      throw unable("nonce", `the nonce of commitment ${quoted(own.hiding)} is used, or of an earlier start`);
    // Swapped for another agent's, or for one that this machine never made.
    if (nonces.published.binding !== own.binding)
      throw unable("nonce", "the commitment is not the one that was published");
    const message = Buffer.from(token.signingInput);
    const secrets = { kid: share.kept.own, signingShare: share.secret.signingShare, nonces };
    const signing = { publicKey: share.kept.publicKey, message, commitments };
    shares[token.use] = signer.signatureShare(signing, secrets);
  }
  const { clientId, grant, scopes } = checked;
  const records = checked.tokens.map(
    ({ use, key, jti = null, sub = null, aud, exp = null, signingInput }): SignedRecord => {
      const signed = {
        use,
        kid: key.kid,
        jti,
        sub,
        aud,
        exp,
        inputSha256: signingInputHash(`${signingInput}.`),
      };
      const granted = use === "access_token" || use === "id_jag" ? { scopes } : {};
      return { event: "signed", requestId, clientId, grant, ...signed, ...granted, challenge: null };
    },
  );
  try {
    // Before the shares leave: a share without its entry could be denied later.
    await journal.append(records);
  } catch (error) {
    throw unable("journal", "the journal cannot be written", error);
  }
  metrics.journalEntries.set(journal.position.seq);
  return { requestId, leaseToken, shares };
}

async function refuse(round: Round, refusal: Refusal, deps: RoundDeps): Promise<Signed> {
  const { requestId, leaseToken, context } = round;
  const { reason, check, message: detail } = refusal;
  const { log, metrics, journal } = deps;
  const refused = { requestId, clientId: context.clientId, reason, check };
  metrics.refusals.inc({ reason, check });
  log("warn", "request refused", { ...refused, detail: describeError(refusal) });
  await journal.append([{ event: "refused", ...refused, detail }]).catch((error: unknown) => {
    log("error", "the journal cannot be written", { reason: describeError(error) });
  });
  metrics.journalEntries.set(journal.position.seq);
  const rejection = { reason, detail: detail.slice(0, 1_000) };
  return {
    part: { requestId, leaseToken, rejection },
    outcome: reason === "key_unavailable" ? "unable" : "refused",
  };
}
