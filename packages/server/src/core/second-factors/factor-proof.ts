/** A second factor that was shown rightly: what it adds to a sign-in, and its single use. */
import type { Db } from "../../db/open.ts";
import { assuranceOf } from "../sessions/assurance.ts";
import { acrValues, type Session } from "../sessions/session.ts";
import type { PasskeyUse } from "./passkeys/passkey.ts";

export interface FactorProof {
  readonly method: "passkey" | "totp" | "recovery";
  /** RFC 8176 names to add to the sign-in's. */
  readonly amr: readonly string[];
  readonly acr: string;
  /**
   * The single use, in the transaction of the session that rests on it.
   * @returns undefined when somebody was first, else recovery codes to show, most often none
   */
  use(tx: Db): Promise<readonly string[] | undefined>;
  /** Called when the sign-in is complete. */
  accepted(): Promise<void>;
}

/** RFC 8176: possession of a key in hardware or software, and a person who was there. */
export const passkeyAmr = ({ isDeviceBound }: PasskeyUse): string[] => [
  isDeviceBound ? "hwk" : "swk",
  "user",
  "mfa",
];

/** A code from an app is a one-time password; for a recovery code RFC 8176 has no name. */
export const codeAmr = { totp: ["otp", "mfa"], recovery: ["mfa"] } as const;

export const acrOfMethod = {
  passkey: acrValues.phishingResistant,
  totp: acrValues.multiFactor,
  recovery: acrValues.multiFactor,
} as const;

/** What a sign-in says of itself with one more proof. */
export function raised(
  session: Pick<Session, "amr" | "acr">,
  proof: Pick<FactorProof, "amr" | "acr">,
): Pick<Session, "amr" | "acr"> {
  return {
    amr: [...new Set([...session.amr, ...proof.amr])],
    acr: assuranceOf(proof.acr) > assuranceOf(session.acr) ? proof.acr : session.acr,
  };
}
