/** The key or certificate that codes and token families are bound to (RFC 9449, RFC 8705). */
import type { Migration } from "./migration.ts";

export const boundGrants: Migration = {
  name: "0049-bound-grants",
  statements: [
    "alter table authorization_code add column dpop_jkt text",
    "alter table token_family add column dpop_jkt text",
    "alter table token_family add column certificate_thumbprint text",
  ],
};
