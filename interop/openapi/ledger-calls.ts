/** Reads of a ledger that has an entry. */
import { signingInputHash } from "../../packages/protocol/src/ledger/entry.ts";
import { tokenFor } from "../../packages/server/src/testing/fixtures/api-client.ts";
import { ledgerHarness } from "../../packages/server/src/testing/fixtures/ledger-harness.ts";
import type { TestOrganisation, TestService } from "../../packages/server/src/testing/test-service.ts";
import type { RealCalls } from "./real-calls.ts";

export function ledgerCalls(running: TestService, org: TestOrganisation): RealCalls {
  const ledger = ledgerHarness(running, org);
  const path = { org: org.organisation.id };
  const grown = async (): Promise<string> => {
    await ledger.set({ ledger: "public" });
    const token = await tokenFor(org, org.batch);
    await ledger.grow();
    return token;
  };
  const read = async () => {
    await grown();
    return { path };
  };
  return {
    "GET /ledger/{org}/checkpoint": read,
    "GET /ledger/{org}/key": read,
    "GET /ledger/{org}/tile/{rest}": async () => {
      await grown();
      const { size } = await ledger.checkpoint();
      return { path: { ...path, rest: size >= 256 ? "entries/000" : `entries/000.p/${size}` } };
    },
    "GET /ledger/{org}/proof": async () => {
      return { path, query: { sha256: signingInputHash(await grown()) } };
    },
  };
}
