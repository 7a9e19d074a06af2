/**
 * Authenticator apps: time-based one-time passwords (RFC 6238) of six digits and thirty seconds, which is what every app
 * knows. A code is good for its own step and one to either side, and for one use.
 */
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../../db/open.ts";
import type { Encryption } from "../../encryption/encryption.ts";
import type { FactorOwner } from "../second-factor.ts";
import { findTotp, putTotp, takeTotpStep } from "./totp.store.ts";

const STEP_SECONDS = 30;
/** RFC 6238 §5.2 recommends one step for clocks that differ. */
const TOLERANCE_SECONDS = STEP_SECONDS;

export interface TotpDeps {
  readonly encryption: Encryption;
}

const rowName = ({ homeOrgId, userId }: FactorOwner, id: string) => `totp|${homeOrgId}|${userId}|${id}`;

/** Loaded at the first code: a process that sees none does not carry the library. */
const otplib = () => import("otplib");

/** 160 bits in base32, as apps take it (RFC 4226 §4, R6). */
export async function newTotpSecret(): Promise<string> {
  return (await otplib()).generateSecret({ length: 20 });
}

/** The address that the QR code holds. */
export async function totpUri(names: { issuer: string; label: string; secret: string }): Promise<string> {
  return (await otplib()).generateURI(names);
}

/** What people type: digits, perhaps in groups. Undefined for anything else. */
export function readTotpCode(typed: string): string | undefined {
  const digits = typed.replaceAll(/[\s-]/g, "");
  return /^\d{6}$/.test(digits) ? digits : undefined;
}

/** The time step that the code belongs to. @param now milliseconds */
export async function matchingStep(secret: string, code: string, now: number): Promise<number | undefined> {
  const { verifySync } = await otplib();
  const result = verifySync({
    strategy: "totp",
    secret,
    token: code,
    epoch: Math.floor(now / 1000),
    epochTolerance: TOLERANCE_SECONDS,
  });
  return result.valid && "timeStep" in result ? result.timeStep : undefined;
}

/** The proof that the app has the secret: the code's step is used by it. */
export async function addTotp(
  deps: TotpDeps,
  tx: Db,
  owner: FactorOwner,
  added: { secret: string; step: number; now: number },
): Promise<void> {
  const id = newUuid();
  await putTotp(tx, owner, {
    id,
    sealedSecret: deps.encryption.seal(Buffer.from(added.secret), rowName(owner, id)),
    lastStep: added.step,
    createdAt: added.now,
  });
}

/**
 * Looks at a code without using it.
 * @returns its single use, to be made in the transaction that rests on it: false when somebody was first
 */
export async function checkTotp(
  deps: TotpDeps,
  db: Db,
  owner: FactorOwner,
  shown: { code: string; now: number },
): Promise<((tx: Db) => Promise<boolean>) | undefined> {
  const row = await findTotp(db, owner);
  if (!row) return undefined;
  const secret = deps.encryption.open(row.sealedSecret, rowName(owner, row.id)).toString();
  const step = await matchingStep(secret, shown.code, shown.now);
  if (step === undefined || step <= row.lastStep) return undefined;
  return (tx) => takeTotpStep(tx, owner, { id: row.id, step });
}
