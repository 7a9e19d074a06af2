/** How strongly a sign-in proves who somebody is: the authentication context classes in their order. */
import { acrValues } from "./session.ts";

/** Each includes what the ones before it prove: a passkey is two factors in one. */
const ascending: readonly string[] = [acrValues.password, acrValues.multiFactor, acrValues.phishingResistant];

export const assurance = { none: 0, password: 1, multiFactor: 2, phishingResistant: 3 } as const;
export type Assurance = (typeof assurance)[keyof typeof assurance];

/** `none` for a class that is not ours. */
export const assuranceOf = (acr: string): Assurance => (ascending.indexOf(acr) + 1) as Assurance;

export const isAcr = (acr: string): boolean => ascending.includes(acr);
