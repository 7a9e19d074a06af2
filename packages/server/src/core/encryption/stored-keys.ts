/** Tries the master key on what was sealed with it, and changes nothing. */

const PAGE = 200;

export interface TriedKeys {
  readonly opened: number;
  readonly failed: number;
}

/**
 * @param readPage in the order of the rows' key, from the one after `after`
 * @param open gives the key in clear, or throws
 */
export async function tryKeys<Row>(
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
 * A start with another master key than the one that the stored keys were sealed with must fail at once, and not at the
 * first signature. What one was sealed with is what all were sealed with.
 * @param row any; undefined when there is none yet
 * @throws when it does not open
 */
export function requireOpening<Row>(row: Row | undefined, open: (row: Row) => Buffer): void {
  if (row === undefined) return;
  try {
    open(row).fill(0);
  } catch (cause) {
    throw new Error("the master key is not the one that the database's keys were sealed with", { cause });
  }
}
