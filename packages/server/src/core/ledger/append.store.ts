/** Stores what is recorded, and the tree that it becomes. */
import { HASH_BYTES, TILE_WIDTH, type Tile, type TreeEdge } from "@signet/protocol/ledger/merkle";
import { sql } from "kysely";
import { affectsAny } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { LedgerLog } from "./ledger-log.ts";

export interface Batch {
  readonly orgId: string;
  readonly id: string;
  readonly entries: readonly string[];
}

type BatchValues = Readonly<Record<"orgId" | "id" | "entries", string>>;

const addBatch = prepared((db, value: Parameter<BatchValues>) =>
  db
    .insertInto("ledger_batch")
    .values({ org_id: value("orgId"), id: value("id"), entries: value("entries") }),
);

export async function insertBatch(db: Db, { orgId, id, entries }: Batch): Promise<void> {
  await addBatch(db, { orgId, id, entries: entries.join("\n") });
}

/** The first organisation, by id, with entries to append. @param after an organisation's id, or "" */
export async function nextOrganisationToAppend(db: Db, after: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("ledger_batch")
    .select("org_id")
    .where("org_id", ">", after)
    .orderBy("org_id")
    .limit(1)
    .executeTakeFirst();
  return row?.org_id;
}

/** Oldest first. */
export async function findBatches(tx: Db, orgId: string, limit: number): Promise<Batch[]> {
  const rows = await tx
    .selectFrom("ledger_batch")
    .select(["id", "entries"])
    .where("org_id", "=", orgId)
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(({ id, entries }) => ({ orgId, id, entries: entries.split("\n") }));
}

/** @returns whether all of them were there */
export async function deleteBatches(tx: Db, orgId: string, ids: readonly string[]): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom("ledger_batch")
    .where("org_id", "=", orgId)
    .where("id", "in", ids)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows) === ids.length;
}

export async function insertLog(tx: Db, log: LedgerLog): Promise<void> {
  await tx
    .insertInto("ledger_log")
    .values(toRow(log))
    .onConflict((conflict) => conflict.column("org_id").doNothing())
    .execute();
}

/** Locks it until the end of the transaction: who holds it is the one writer. */
export async function lockLog(tx: Db, orgId: string): Promise<LedgerLog | undefined> {
  const row = await tx
    .updateTable("ledger_log")
    .set((eb) => ({ size: eb.ref("size") }))
    .where("org_id", "=", orgId)
    .returningAll()
    .executeTakeFirst();
  return row && toRecord(row);
}

export async function findLog(db: Db, orgId: string): Promise<LedgerLog | undefined> {
  const row = await db.selectFrom("ledger_log").selectAll().where("org_id", "=", orgId).executeTakeFirst();
  return row && toRecord(row);
}

type LogChange = Partial<Omit<LedgerLog, "orgId" | "publicKey" | "privateKey" | "createdAt">>;

/** The caller has locked it. */
export const changeLog = (tx: Db, orgId: string, change: LogChange): Promise<boolean> =>
  affectsAny(tx.updateTable("ledger_log").set(toRow(change)).where("org_id", "=", orgId));

/** @throws when a tile is not what the size asks for */
export async function readEdge(tx: Db, { orgId, size }: LedgerLog): Promise<TreeEdge> {
  const partial: Buffer[] = [];
  for (let atLevel = size; atLevel > 0; atLevel = Math.floor(atLevel / TILE_WIDTH)) {
    const level = partial.length;
    const width = atLevel % TILE_WIDTH;
    const index = Math.floor(atLevel / TILE_WIDTH);
    partial.push(width === 0 ? Buffer.alloc(0) : await readPartial(tx, { orgId, level, index, width }));
  }
  return { size, partial };
}

async function readPartial(
  tx: Db,
  { width, ...tile }: { orgId: string; level: number; index: number; width: number },
): Promise<Buffer> {
  const hashes = await findTile(tx, tile);
  if (hashes?.length !== width * HASH_BYTES)
    throw new Error(
      `tile ${tile.level}/${tile.index} of the ledger of ${tile.orgId} is not what its size asks for`,
    );
  return hashes;
}

type TileValues = Readonly<{ orgId: string; level: number; index: number }>;

const selectTile = prepared((db, value: Parameter<TileValues>) =>
  db
    .selectFrom("ledger_tile")
    .select("hashes")
    .where("org_id", "=", value("orgId"))
    .where("level", "=", value("level"))
    .where("tile_index", "=", value("index")),
);

export async function findTile(db: Db, tile: TileValues): Promise<Buffer | undefined> {
  const [row] = await selectTile(db, tile);
  return row && Buffer.from(row.hashes, "base64");
}

export async function putTile(tx: Db, orgId: string, { level, index, hashes }: Tile): Promise<void> {
  await tx
    .insertInto("ledger_tile")
    .values({ org_id: orgId, level, tile_index: index, hashes: hashes.toString("base64") })
    .onConflict((conflict) =>
      conflict
        .columns(["org_id", "level", "tile_index"])
        .doUpdateSet((eb) => ({ hashes: eb.ref("excluded.hashes") })),
    )
    .execute();
}

export async function findBundle(db: Db, orgId: string, index: number): Promise<string[] | undefined> {
  const row = await db
    .selectFrom("ledger_bundle")
    .select("entries")
    .where((eb) => allOf(eb, { org_id: orgId, bundle_index: index }))
    .executeTakeFirst();
  return row?.entries.split("\n");
}

export async function putBundle(
  tx: Db,
  orgId: string,
  bundle: { readonly index: number; readonly entries: readonly string[] },
): Promise<void> {
  await tx
    .insertInto("ledger_bundle")
    .values({ org_id: orgId, bundle_index: bundle.index, entries: bundle.entries.join("\n") })
    .onConflict((conflict) =>
      conflict
        .columns(["org_id", "bundle_index"])
        .doUpdateSet((eb) => ({ entries: eb.ref("excluded.entries") })),
    )
    .execute();
}

/** A few sizes of statements, each prepared once. */
const INDEX_SIZES = [100, 10, 1];

/** The first entry of an input keeps its place. */
export async function addToIndex(
  tx: Db,
  orgId: string,
  places: ReadonlyArray<{ readonly inputHash: string; readonly leafIndex: number }>,
): Promise<void> {
  for (let at = 0; at < places.length; ) {
    const size = INDEX_SIZES.find((one) => one <= places.length - at) ?? 1;
    const values = places
      .slice(at, at + size)
      .map(({ inputHash, leafIndex }) => sql`(${orgId}, ${inputHash}, ${leafIndex})`);
    await sql`insert into ledger_index (org_id, input_hash, leaf_index) values ${sql.join(values)}
      on conflict (org_id, input_hash) do nothing`.execute(tx);
    at += size;
  }
}

export async function findPlace(db: Db, orgId: string, inputHash: string): Promise<number | undefined> {
  const row = await db
    .selectFrom("ledger_index")
    .select("leaf_index")
    .where((eb) => allOf(eb, { org_id: orgId, input_hash: inputHash }))
    .executeTakeFirst();
  return row && Number(row.leaf_index);
}
