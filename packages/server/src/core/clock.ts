/** Milliseconds since the epoch. Injected, so that tests control the time. */
export type Clock = () => number;

export const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1000);
