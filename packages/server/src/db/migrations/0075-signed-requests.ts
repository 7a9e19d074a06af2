/** Whether the authorization request of a token family was signed (RFC 9101): agents are told at each refresh. */
import type { Migration } from "./migration.ts";

export const signedRequests: Migration = {
  name: "0075-signed-requests",
  // Null where that is not known: families of older versions, and those that no authorization request began.
  statements: ["alter table token_family add column request_signed bigint"],
};
