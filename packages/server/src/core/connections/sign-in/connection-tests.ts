/**
 * Test sign-ins (connections.md §1): what a provider claims, how it maps, and what would become of it. A test makes nothing but its
 * own record, which is sealed and kept for an hour.
 */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { newUuid } from "@signet/protocol/uuid";
import { type Act, auditFields, recordAuditEvent } from "../../audit/audit.store.ts";
import type { CoreDeps } from "../../core-deps.ts";
import type { Encryption } from "../../encryption/encryption.ts";
import { sealedColumn } from "../../encryption/sealed-columns.ts";
import type { ConnectionKey } from "../connection.ts";
import {
  type ConnectionTest,
  finishConnectionTest,
  insertConnectionTest,
  TEST_STEP_MS,
} from "./connection-tests.store.ts";
import type { Foreseen } from "./decide-account.ts";
import type { FailureReason } from "./failure.ts";
import type { UpstreamIdentity } from "./link-identity.ts";
import type { Claims } from "./mapping.ts";

const KEPT_MS = 60 * 60_000;
/** Characters of JSON in all. */
const MAX_CLAIMS = 32_768;
const MAX_NAMES = 100;
const MAX_NAME = 255;

const STATE = "sgn_ct_";

/** No sign-in's `state` is one, and no test's that of a sign-in. */
export const newTestState = (): string => randomSecret(STATE);
export const isTestState = (state: string): boolean => state.startsWith(STATE);

export interface TestResult {
  readonly claims: Claims;
  /** Names of claims that were too large to keep. */
  readonly claimsLeftOut: readonly string[];
  readonly mapped: UpstreamIdentity["user"] & { readonly groups: readonly string[] };
  readonly account: Pick<Foreseen, "action" | "proof">;
}

const rowName = ({ orgId, id }: ConnectionKey) => `connection-test|${orgId}|${id}`;

export const sealedTestResults = sealedColumn({
  table: "connection_test",
  column: "result",
  key: ["org_id", "id"],
  rowName: ({ org_id, id }) => rowName({ orgId: String(org_id), id: String(id) }),
});

/** @returns the test, and the secret of its link */
export async function createConnectionTest(
  { database, clock }: Pick<CoreDeps, "database" | "clock">,
  { orgId, actor, connectionId }: Pick<Act, "orgId" | "actor"> & { readonly connectionId: string },
): Promise<{ readonly test: ConnectionTest; readonly link: string }> {
  const [link, now] = [randomSecret("sgn_tl_"), clock()];
  const test: ConnectionTest = {
    ...{ orgId, id: newUuid(), connectionId, actor, linkHash: sha256Base64url(link) },
    ...{ openedAt: null, stateHash: null, browserHash: null },
    ...{ outcome: "pending", reason: null, result: null },
    ...{ createdAt: now, expiresAt: now + KEPT_MS },
  };
  await insertConnectionTest(database.query, test);
  return { test, link };
}

export const testLinkExpiry = ({ createdAt }: ConnectionTest): number => createdAt + TEST_STEP_MS;

/** @param ended a failure; or a result, of which an account that would be refused has a reason too */
export async function endConnectionTest(
  deps: Pick<CoreDeps, "database" | "clock"> & { readonly encryption: Encryption },
  test: ConnectionTest,
  ended: {
    readonly reason: FailureReason | null;
    readonly result?: TestResult;
    readonly address: string;
  },
): Promise<void> {
  const { orgId, actor, connectionId: target } = test;
  const { reason, result, address } = ended;
  const now = deps.clock();
  const outcome = result ? "succeeded" : "failed";
  const sealed = result && deps.encryption.seal(Buffer.from(JSON.stringify(result)), rowName(test));
  await deps.database.transaction(async (tx) => {
    const values = { outcome, reason, result: sealed ?? null, expiresAt: now + KEPT_MS };
    if (!(await finishConnectionTest(tx, test, values))) return;
    const details = { outcome, ...(reason === null ? {} : { reason }) };
    const act = auditFields({ orgId, actor, address }, now);
    await recordAuditEvent(tx, { ...act, action: "connection.tested", target, details });
  });
}

/** @returns undefined before it has succeeded, or when its master key is gone */
export function openTestResult(encryption: Encryption, test: ConnectionTest): TestResult | undefined {
  if (test.result === null) return undefined;
  try {
    return JSON.parse(encryption.open(test.result, rowName(test)).toString()) as TestResult;
  } catch {
    return undefined;
  }
}

/** As they arrived, as far as they fit. */
export function boundedClaims(claims: Claims): Pick<TestResult, "claims" | "claimsLeftOut"> {
  let left = MAX_CLAIMS;
  const kept: Array<readonly [string, unknown]> = [];
  const leftOut: string[] = [];
  for (const [name, value] of Object.entries(claims)) {
    const size = JSON.stringify([name, value]).length;
    if (size <= left) {
      left -= size;
      kept.push([name, value]);
    } else if (leftOut.length < MAX_NAMES) leftOut.push(name.slice(0, MAX_NAME));
  }
  return { claims: Object.fromEntries(kept), claimsLeftOut: leftOut };
}
