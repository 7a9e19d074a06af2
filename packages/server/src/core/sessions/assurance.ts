/** Authentication levels: the supported acr values in ascending order. */
import { acrValues } from "./session.ts";

const ascending: readonly string[] = [acrValues.password, acrValues.multiFactor, acrValues.phishingResistant];

export const assurance = { none: 0, password: 1, multiFactor: 2, phishingResistant: 3 } as const;
export type Assurance = (typeof assurance)[keyof typeof assurance];

/** `none` for an unsupported acr. */
export const toAssurance = (acr: string): Assurance => (ascending.indexOf(acr) + 1) as Assurance;
