/** Checks that the master key decrypts the stored keys, without changing anything. */

const PAGE = 200;

export interface TriedKeys {
  readonly opened: number;
  readonly failed: number;
}

/** @param readPage in primary key order, after `after` @param open returns the key in clear, or throws */
export async function verifyStoredKeys<Row>(
  readPage: (page: { after?: Row; limit: number }) => Promise<readonly Row[]>,
  open: (row: Row) => Buffer,
): Promise<TriedKeys> {
  const tried = { opened: 0, failed: 0 };
  let page: readonly Row[] = [];
  do {
    const after = page.at(-1);
    page = await readPage({ limit: PAGE, ...(after === undefined ? {} : { after }) });
    for (const row of page) tried[isOpenable(open, row) ? "opened" : "failed"]++;
  } while (page.length === PAGE);
  return tried;
}

function isOpenable<Row>(open: (row: Row) => Buffer, row: Row): boolean {
  try {
    open(row).fill(0);
    return true;
  } catch {
    return false;
  }
}

/**
 * Fails a start with the wrong master key immediately, not at the first signature. All keys are encrypted under the
 * same one.
 * @param row any; undefined when there is none yet
 * @throws when it doesn't decrypt
 */
export function requireOpening<Row>(row: Row | undefined, open: (row: Row) => Buffer): void {
  if (row === undefined) return;
  try {
    open(row).fill(0);
  } catch (cause) {
    throw new Error("the master key is not the one that the keys in the database were encrypted with", {
      cause,
    });
  }
}
