/** Authenticator apps: TOTP (RFC 6238) with six digits and thirty seconds; one step of clock drift, single use. */
import { sha256Base64url } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../../db/open.ts";
import type { Encryption } from "../../encryption/encryption.ts";
import { sealedColumn } from "../../encryption/sealed-columns.ts";
import type { FactorOwner } from "../second-factor.ts";
import { consumeTotpStep, findTotp, putTotp } from "../second-factors.store.ts";

const STEP_SECONDS = 30;
/** RFC 6238 §5.2 recommends one step of clock drift. */
const TOLERANCE_SECONDS = STEP_SECONDS;

export interface TotpDeps {
  readonly encryption: Encryption;
}

const encryptionContext = ({ homeOrgId, userId }: FactorOwner, id: string) =>
  `totp|${homeOrgId}|${userId}|${id}`;

export const sealedTotpSecrets = sealedColumn({
  table: "totp_credential",
  column: "secret",
  key: ["org_id", "user_id", "id"],
  more: 1,
  rowName: ({ org_id, user_id, id }) =>
    encryptionContext({ homeOrgId: String(org_id), userId: String(user_id) }, String(id)),
});

/** Loaded with the first code, to save memory. */
const otplib = () => import("otplib");

/** 160 bits in base32 (RFC 4226 §4, R6). */
export async function newTotpSecret(): Promise<string> {
  return (await otplib()).generateSecret({ length: 20 });
}

export async function totpUri(names: { issuer: string; label: string; secret: string }): Promise<string> {
  return (await otplib()).generateURI(names);
}

/** Accepts digits in groups. Undefined for anything else. */
export function readTotpCode(input: string): string | undefined {
  const digits = input.replaceAll(/[\s-]/g, "");
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

/** @param added.step of the code that proved the enrolment: it is consumed */
export async function addTotp(
  deps: TotpDeps,
  tx: Db,
  owner: FactorOwner,
  added: { secret: string; step: number; now: number },
): Promise<void> {
  const id = newUuid();
  await putTotp(tx, owner, {
    id,
    secret: deps.encryption.seal(Buffer.from(added.secret), encryptionContext(owner, id)),
    lastStep: added.step,
    createdAt: added.now,
  });
}

/** @returns consumes the code, in the transaction of the sign-in: false if it was used meanwhile */
export async function checkTotp(
  deps: TotpDeps,
  db: Db,
  owner: FactorOwner,
  input: { code: string; now: number },
): Promise<((tx: Db) => Promise<boolean>) | undefined> {
  const row = await findTotp(db, owner);
  if (!row) return undefined;
  const secret = deps.encryption.open(row.secret, encryptionContext(owner, row.id)).toString();
  const step = await matchingStep(secret, input.code, input.now);
  if (step === undefined || step <= row.lastStep) return undefined;
  return (tx) => consumeTotpStep(tx, owner, { id: row.id, step });
}

const ENROLMENT_MS = 30 * 60_000;

/** The enrolment form carries the new secret, sealed for one user and browser; a code proves that the app has it. */
export interface EnrolmentBinding {
  readonly owner: FactorOwner;
  /** The browser's token. */
  readonly browser: string;
  readonly now: number;
}

const sealContext = ({ owner, browser }: EnrolmentBinding) =>
  `totp-enrolment|${owner.homeOrgId}|${owner.userId}|${sha256Base64url(browser)}`;

/** @returns the secret in base32, and sealed for the form */
export async function beginTotpEnrolment(
  seals: Encryption,
  binding: EnrolmentBinding,
): Promise<{ secret: string; sealed: string }> {
  const secret = await newTotpSecret();
  const content = JSON.stringify([secret, binding.now + ENROLMENT_MS]);
  return { secret, sealed: seals.seal(Buffer.from(content), sealContext(binding)) };
}

/** Seals the secret for another browser with the same expiry: for a form that waits for reauthentication. */
export function rebindTotpEnrolment(
  seals: Encryption,
  sealed: string | undefined,
  binding: EnrolmentBinding,
  browser: string,
): string | undefined {
  const content = openContent(seals, sealed, binding);
  return content && seals.seal(content, sealContext({ ...binding, browser }));
}

/** Undefined if it has expired or belongs to another user or browser. */
export function openTotpEnrolment(
  seals: Encryption,
  sealed: string | undefined,
  binding: EnrolmentBinding,
): { secret: string; sealed: string } | undefined {
  const content = openContent(seals, sealed, binding);
  if (!content || sealed === undefined) return undefined;
  const [secret] = JSON.parse(content.toString()) as [string, number];
  return { secret, sealed };
}

function openContent(
  seals: Encryption,
  sealed: string | undefined,
  binding: EnrolmentBinding,
): Buffer | undefined {
  if (sealed === undefined) return undefined;
  try {
    const content = seals.open(sealed, sealContext(binding));
    const [, expiresAt] = JSON.parse(content.toString()) as [string, number];
    return expiresAt > binding.now ? content : undefined;
  } catch {
    return undefined;
  }
}
