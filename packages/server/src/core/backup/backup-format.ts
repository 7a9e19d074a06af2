/**
 * A backup: gzip, in age's encryption if wanted, of JSON lines. First the header, then a line for each row of every table, then the
 * trailer. Both databases write and read the same, so that a backup also moves an installation from one to the other.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { deriveKeys, type KeyRing } from "../encryption/key-ring.ts";

export const BACKUP_FORMAT = 1;

export interface BackupHeader {
  readonly signet: "backup";
  readonly format: number;
  /** Of the program that wrote it. */
  readonly version: string;
  /** The migrations of its schema, oldest first. */
  readonly schema: readonly string[];
  /** ISO 8601. */
  readonly createdAt: string;
  /** Sealed under the master key: whoever restores must be able to open it. */
  readonly key: string;
}

/** The last line: what is missing or was changed doesn't fit it. */
export interface BackupTrailer {
  readonly rows: number;
  /** HMAC-SHA-256 of all lines before, base64url. */
  readonly mac: string;
}

export type Row = Readonly<Record<string, unknown>>;
export type RowLine = readonly [table: string, row: Row];

/** As the header's `key` is sealed for. */
export const keyRowName = (createdAt: string): string => `backup|${createdAt}`;

/** Proves the lines under the master keys, as they come. */
export function lineMacs(masterKeys: KeyRing): {
  add(line: string): void;
  /** Under the master key in use. */
  own(): string;
  isOwn(mac: string): boolean;
} {
  const keys = deriveKeys(masterKeys, "backup");
  const all = keys.all().map((key) => createHmac("sha256", key));
  return {
    add: (line) => {
      for (const mac of all) mac.update(`${line}\n`);
    },
    own: () => (all[0] as (typeof all)[number]).digest("base64url"),
    isOwn: (mac) => {
      const given = Buffer.from(mac, "base64url");
      const right = all.map((one) => one.digest());
      return right.some((one) => one.length === given.length && timingSafeEqual(one, given));
    },
  };
}
