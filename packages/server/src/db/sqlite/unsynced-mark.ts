/** How a statement says that it need not be waited for until it is on disk (db/unsynced.ts). */
export const UNSYNCED_MARK = "/* unsynced */";

export const isUnsynced = (text: string): boolean => text.includes(UNSYNCED_MARK);
