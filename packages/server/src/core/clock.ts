/** Milliseconds since the epoch. Passed as an argument so that a test decides what time it is. */
export type Clock = () => number;

export const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1000);
