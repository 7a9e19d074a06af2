/** The place that a request has or will take, found by its response: for handlers that wait, or whose bodies came late. */
import type { ServerResponse } from "node:http";

/** Logged as a counted line, never once for each request. */
export class Overloaded extends Error {
  constructor() {
    super("more requests at once than this process answers");
    this.name = "Overloaded";
  }
}

export interface Place {
  leave(): void;
  /** @returns as `latePlace` does */
  takeLate(): Promise<void> | undefined;
}

/**
 * A named member of the response. A weak map of all of them, or a symbol (which turns an object of so many members into a table),
 * costs a request more than the rest of the admission.
 */
export type Placed = ServerResponse & { signetPlace?: Place };

/** For calls that are held until something happens: they no longer count as being worked on. */
export const leavePlace = (response: Placed): void => response.signetPlace?.leave();

/**
 * To be called when the body has come. A sender decides how long that takes, so that bodies under way hold no places.
 * @returns undefined for a request that has its place; rejected with Overloaded when there is none in time
 */
export const latePlace = (response: Placed): Promise<void> | undefined => response.signetPlace?.takeLate();
